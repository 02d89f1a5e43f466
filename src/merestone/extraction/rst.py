"""reStructuredText, as docutils and Sphinx read it. The text is the source itself, so everything is
offsets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from merestone.extraction.blocks import BlockTree, with_lead_ins, with_leftovers
from merestone.extraction.encoding import decode
from merestone.extraction.rst_directives import OPTION
from merestone.extraction.rst_lines import Lines
from merestone.extraction.rst_reader import RstReader
from merestone.extraction.source_text import text_document
from merestone.types import JSON, Block, Document, ExtractionSettings, RawDocument

_HEADER_FIELD = re.compile(r"(?P<name>[A-Z][A-Za-z-]*):(?:\s+|$)")


class RstExtractor:
    """Reads reStructuredText."""

    name = "rst"
    revision = 1
    media_types = frozenset({"text/x-rst"})
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        text = decoded.text
        lines = Lines(text)
        tree = BlockTree()
        metadata: dict[str, JSON] = {}
        first = _read_proposal_header(lines, tree, metadata)
        reader = RstReader(text, first, lines, tree)
        blocks = with_lead_ins(text, with_leftovers(text, reader.read()))
        metadata.update(_fields(text, blocks))
        title = _title(text, blocks, metadata)
        return text_document(raw, decoded, blocks, title=title, metadata=metadata)


def _read_proposal_header(lines: Lines, tree: BlockTree, metadata: dict[str, JSON]) -> int:
    """Read the header that Python enhancement proposals begin with, in the form of an e-mail's;
    returns the number of the line behind it, 0 if there is none."""
    if not len(lines) or not lines.words[0].startswith("PEP:"):
        return 0
    last = lines.blank_from(0, len(lines))
    name = ""
    for index in range(last):
        match = _HEADER_FIELD.match(lines.words[index])
        if lines.indents[index] == 0 and match is not None:
            name = match["name"].lower()
            metadata[name] = lines.words[index][match.end() :]
        elif name:
            metadata[name] = f"{metadata[name]} {lines.words[index]}".strip()
    tree.add("front_matter", 0, lines.ends[last - 1])
    return last


def _fields(text: str, blocks: Sequence[Block]) -> dict[str, JSON]:
    """What the document says about itself: the fields before its text, and in directives."""
    found: dict[str, JSON] = {}
    before_text = True
    for block in blocks:
        if block.parent is not None:
            continue
        directive = block.attributes.get("directive")
        if directive in ("meta", "title"):
            found.update(_directed_fields(str(directive), text[block.start : block.end]))
        elif block.kind == "definition" and directive is None and text[block.start] == ":":
            if before_text:
                start, end = block.attributes["term"]
                value = " ".join(text[end + 1 : block.end].split())
                found.setdefault(text[start:end].strip().lower(), value or True)
        elif block.kind != "heading" and not (block.kind == "paragraph" and block.attributes):
            before_text = False
    return found


def _directed_fields(directive: str, text: str) -> dict[str, JSON]:
    if directive == "title":
        words = text.partition("::")[2].split()
        return {"title": " ".join(words)} if words else {}
    found: dict[str, JSON] = {}
    name = ""
    for line in re.split(r"\r\n|\n|\r", text)[1:]:
        match = OPTION.match(line.strip())
        if match is not None:
            name = match["name"].strip().lower()
            found[name] = line.strip()[match.end() :]
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _title(text: str, blocks: Sequence[Block], metadata: dict[str, JSON]) -> str | None:
    """The first heading, or what the document's fields call it."""
    heading = next((block for block in blocks if block.kind == "heading"), None)
    title = metadata.get("title")
    if heading is None or "pep" in metadata:
        return title if isinstance(title, str) and title else None
    start, end = heading.attributes["content"]
    return " ".join(text[start:end].split()) or None


EXTRACTOR = RstExtractor()
