"""Source code: definitions, and the statements that a long one may be cut at.

The text is the source itself. What no definition holds is ``code``: imports, statements of the
file, and in a class with methods what stands between them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from merestone.extraction.blocks import BlockTree
from merestone.extraction.encoding import Decoded, decode
from merestone.extraction.media_types import LANGUAGES
from merestone.extraction.plain import code_blocks
from merestone.extraction.source_code_languages import BY_MEDIA_TYPE, Language, language_of
from merestone.extraction.source_code_outline import Outline, Symbol, read_outline
from merestone.extraction.source_code_parsing import load_grammar, parse
from merestone.extraction.source_text import text_document
from merestone.text.code_points import code_points
from merestone.text.lines import line_starts
from merestone.types import (
    Block,
    Document,
    DocumentWarning,
    ExtractionError,
    ExtractionSettings,
    RawDocument,
)

_LONGEST_TITLE = 100
_LONGEST_LINES = 1_000
"""Mean length above which lines are a machine's: nothing of note begins one."""
_LARGEST_SOURCE = 4_000_000
"""Bytes. A tree takes up to 250 bytes for each byte of source, where every sign is a node."""


class SourceCodeExtractor:
    """Reads the programming languages that a grammar is installed for."""

    name = "source_code"
    revision = 1
    media_types = frozenset(BY_MEDIA_TYPE)
    # The parser is written in C and can ask for much memory where a text is none of its language.
    isolated = True

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        media_type = raw.media_type or "text/plain"
        label = LANGUAGES.get(media_type, "")
        language = language_of(media_type, raw.id, decoded.text)
        if language is None:
            return text_document(raw, decoded, code_blocks(decoded.text, label))
        outline = _outline(decoded.text, language)
        if isinstance(outline, DocumentWarning):
            return _plain_document(raw, decoded, label, outline)
        return text_document(
            raw,
            decoded,
            _blocks(decoded.text, outline, label),
            title=_title(decoded.text, outline),
        )

    def extract_plainly(
        self, raw: RawDocument, settings: ExtractionSettings, problem: ExtractionError
    ) -> Document:
        """The source without its definitions, for what brought the parser down."""
        decoded = decode(raw.data, default=settings.default_encoding)
        label = LANGUAGES.get(raw.media_type or "", "")
        warning = DocumentWarning(
            "code-not-parsed",
            f"The parser did not survive the text ({problem.message}) so it was read without its "
            "definitions.",
        )
        return _plain_document(raw, decoded, label, warning)


def _outline(text: str, language: Language) -> Outline | DocumentWarning:
    try:
        load_grammar(language)
    except (ImportError, OSError, AttributeError, ValueError) as error:
        return DocumentWarning(
            "grammar-unavailable",
            f"The grammar {language.module} cannot be loaded ({error}), so the file was read "
            "without its definitions.",
        )
    starts = line_starts(text)
    if len(text) > _LONGEST_LINES * len(starts):
        return Outline()
    source = text.encode("utf-8")
    tree = parse(source, language) if len(source) <= _LARGEST_SOURCE else None
    if tree is None:
        return DocumentWarning(
            "code-not-parsed",
            f"The text is too large (over {_LARGEST_SOURCE:,} bytes) or too irregular for the "
            "grammar of its language, so it was read without its definitions.",
        )
    return read_outline(tree, text, code_points(source), starts, language)


def _plain_document(
    raw: RawDocument, decoded: Decoded, label: str, warning: DocumentWarning
) -> Document:
    document = text_document(raw, decoded, code_blocks(decoded.text, label))
    return replace(document, warnings=(*document.warnings, warning))


@dataclass(frozen=True, slots=True)
class _Opened:
    """A symbol whose block is being written."""

    symbol: Symbol
    handle: int
    is_parent: bool


def _blocks(text: str, outline: Outline, label: str) -> tuple[Block, ...]:
    tree = BlockTree()
    opened: list[_Opened] = []
    breaks = _breaks(text, outline)
    free = 0

    def add_code(until: int) -> None:
        """The text up to ``until`` that no symbol holds, parted at the top."""
        inner = () if opened else breaks[bisect_left(breaks, free) : bisect_left(breaks, until)]
        for start, end in zip((free, *inner), (*inner, until), strict=True):
            tree.add("code", start, end, attributes={"language": label})

    def close_until(place: int) -> None:
        nonlocal free
        while opened and opened[-1].symbol.end <= place:
            last = opened[-1]
            if last.is_parent:
                add_code(last.symbol.end)
            opened.pop()
            tree.close(last.handle, last.symbol.end)
            free = last.symbol.end

    symbols = outline.symbols
    for symbol, following in zip_longest(symbols, symbols[1:]):
        close_until(symbol.start)
        add_code(max(free, symbol.start))
        handle = tree.open("symbol", symbol.start, attributes=_attributes(symbol, label))
        is_parent = following is not None and following.start < symbol.end
        opened.append(_Opened(symbol, handle, is_parent))
        free = max(free, symbol.start)
    close_until(len(text))
    add_code(len(text))
    return _with_statements(tree.blocks(text), outline.statements)


def _attributes(symbol: Symbol, label: str) -> dict[str, object]:
    return {
        "name": symbol.name,
        "symbol_kind": symbol.kind,
        "signature": list(symbol.signature),
        "language": label,
    }


def _breaks(text: str, outline: Outline) -> list[int]:
    """Where a statement of the file begins behind a blank line."""
    found = []
    for offset, depth in outline.statements:
        if depth == 0:
            before = offset
            while before > 0 and text[before - 1] in " \t":
                before -= 1
            if _follows_blank_line(text, before):
                found.append(before)
    return found


def _follows_blank_line(text: str, start: int) -> bool:
    """True if two line ends, with nothing but white space between, stand before ``start``."""
    ends = 0
    while start > 0 and text[start - 1].isspace():
        start -= 1
        ends += text[start] == "\n" or (text[start] == "\r" and text[start + 1 : start + 2] != "\n")
        if ends == 2:
            return True
    return False


def _with_statements(
    blocks: Sequence[Block], statements: Sequence[tuple[int, int]]
) -> tuple[Block, ...]:
    """``blocks`` with the statements of each leaf, depths counted from the outermost of them."""
    parents = {block.parent for block in blocks}
    found: list[Block] = []
    for index, block in enumerate(blocks):
        if index not in parents:
            first = bisect_left(statements, (block.start, -1))
            inner = statements[first : bisect_left(statements, (block.end, -1))]
            least = min((depth for _, depth in inner), default=0)
            listed = [[offset, depth - least] for offset, depth in inner]
            block = replace(block, attributes={**block.attributes, "statements": listed})
        found.append(block)
    return tuple(found)


def _title(text: str, outline: Outline) -> str | None:
    """The first line of the file's docstring, if it is short."""
    if outline.docstring is None:
        return None
    start, end = outline.docstring
    words = text[start : min(end, start + 4 * _LONGEST_TITLE)].lstrip("rRuUbB").strip("\"' \t\r\n")
    line = words.splitlines()[0].strip() if words else ""
    return line if 0 < len(line) <= _LONGEST_TITLE else None


EXTRACTOR = SourceCodeExtractor()
