"""What a text is made of, as seen by parsers that no chunker here uses.

Markdown's blocks come from markdown-it-py, graphemes from the module ``regex``. Everything is said
in *solid* offsets: of the text without its white space, so that it makes no difference which
white space around a cut a tool keeps.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import regex
from markdown_it import MarkdownIt
from markdown_it.token import Token

from peers.samples import Sample, front_matter_end
from peers.units import Unit

_KINDS = {
    "fence": "fence",
    "table_open": "table",
    "tr_open": "row",
    "list_item_open": "item",
    "paragraph_open": "paragraph",
    "heading_open": "heading",
}
_BLANKS = np.array([c for c in range(0x3001) if chr(c).isspace()], dtype=np.uint32)


@dataclass(frozen=True)
class Part:
    """A block of the text, in solid offsets."""

    kind: str
    start: int
    end: int
    text: str
    fits: dict[str, bool] = field(default_factory=dict)
    """By unit: whether it would fit in a chunk by itself, special tokens included."""


@dataclass(frozen=True)
class Table:
    """A table, in solid offsets, and its header row without white space."""

    header_end: int
    end: int
    header: str


@dataclass(frozen=True)
class Outline:
    """What one text is made of."""

    solid: str
    """The text without white space."""
    places: np.ndarray
    """For each offset of the text, its end included, how many characters before it are solid."""
    joined: array[int]
    """Solid offsets at which no reader's character begins, ascending."""
    parts: tuple[Part, ...] = ()
    headings: frozenset[int] = frozenset()
    """Solid ends of the headings that have something below them."""
    tables: tuple[Table, ...] = ()

    def is_inside_grapheme(self, offset: int) -> bool:
        at = bisect_left(self.joined, offset)
        return at < len(self.joined) and self.joined[at] == offset


def solid(text: str) -> str:
    """``text`` without white space."""
    return "".join(text.split())


def outlines(sample: Sample, units: list[Unit]) -> list[Outline]:
    """One a text."""
    found = [_outline(text, sample.suffix == ".md") for text in sample.texts]
    parts = [part for outline in found for part in outline.parts]
    texts = [part.text for part in parts]
    for unit in units:
        for part, size in zip(parts, unit.counts(texts), strict=True):
            part.fits[unit.name] = size + unit.special <= unit.limit
    return found


def _outline(text: str, markdown: bool) -> Outline:
    places = _solid_places(text)
    joined = array("i", (int(places[at]) for at in _inside_graphemes(text)))
    if not markdown:
        return Outline(solid(text), places, joined)
    tokens, line_starts = _parsed(text)
    return Outline(
        solid(text),
        places,
        joined,
        tuple(_parts(text, tokens, line_starts, places)),
        frozenset(_headings(text, tokens, line_starts, places)),
        tuple(_tables(text, tokens, line_starts, places)),
    )


def _solid_places(text: str) -> np.ndarray:
    """See :attr:`Outline.places`."""
    data = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.concatenate(([0], np.cumsum(~np.isin(data, _BLANKS), dtype=np.int32)))


def _inside_graphemes(text: str) -> list[int]:
    """Offsets inside graphemes with a solid character on both sides."""
    found: list[int] = []
    for cluster in regex.finditer(r"\X", text):
        start, end = cluster.span()
        if end - start > 1 and not cluster.group().isspace():
            found.extend(range(start + 1, end))
    return found


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _parsed(text: str) -> tuple[list[Token], list[int]]:
    """Tokens of the text, and the offset at which each of its lines begins, and its end.

    A front matter is blanked out: CommonMark would take it for a rule and a heading.
    """
    end = front_matter_end(text)
    body = regex.sub(r"[^\n]", " ", text[:end]) + text[end:]
    starts = [0, *(found.end() for found in regex.finditer(r"\r\n?|\n", text))]
    if starts[-1] < len(text):
        starts.append(len(text))
    return _parser().parse(body), starts


def _span(token: Token, line_starts: list[int]) -> tuple[int, int]:
    assert token.map is not None
    last = len(line_starts) - 1
    return line_starts[min(token.map[0], last)], line_starts[min(token.map[1], last)]


def _parts(
    text: str, tokens: list[Token], line_starts: list[int], places: np.ndarray
) -> list[Part]:
    found = []
    for token in tokens:
        kind = _KINDS.get(token.type)
        # The paragraph of a tight list's item is hidden: the item stands for it.
        if kind is None or token.map is None or (kind == "paragraph" and token.hidden):
            continue
        start, end = _span(token, line_starts)
        if places[start] < places[end]:
            own = text[start:end].strip()
            found.append(Part(kind, int(places[start]), int(places[end]), own))
    return found


def _headings(
    text: str, tokens: list[Token], line_starts: list[int], places: np.ndarray
) -> list[int]:
    """Solid ends of headings that are not followed by one of their rank or above, or by nothing."""
    found: list[tuple[int, int, int]] = []
    for token in tokens:
        if token.type == "heading_open":
            start, end = _span(token, line_starts)
            if places[start] < places[end]:
                found.append((int(places[start]), int(places[end]), int(token.tag[1:])))
    ranks = {start: rank for start, _, rank in found}
    last = int(places[len(text)])
    return [end for _, end, rank in found if end < last and ranks.get(end, 7) > rank]


def _tables(
    text: str, tokens: list[Token], line_starts: list[int], places: np.ndarray
) -> list[Table]:
    """Tables with rows below a header that says something."""
    found: list[Table] = []
    for index, token in enumerate(tokens):
        if token.type != "table_open":
            continue
        head = next(item for item in tokens[index:] if item.type == "thead_open")
        _, end = _span(token, line_starts)
        start, header_end = _span(head, line_starts)
        header = solid(text[start:header_end].splitlines()[0].strip(" >"))
        # The row of dashes below the header belongs to it.
        body = min(line_starts[-1], _line_end(text, header_end))
        if any(map(str.isalnum, header)) and places[body] < places[end]:
            found.append(Table(int(places[body]), int(places[end]), header))
    return found


def _line_end(text: str, offset: int) -> int:
    """Behind the row of dashes that begins at ``offset``, or ``offset`` if there is none."""
    end = text.find("\n", offset) + 1 or len(text)
    return end if regex.fullmatch(r"[\s|:>+-]+", text[offset:end]) else offset
