"""A document: one text, and all that is known about its parts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from merestone.types.segments import Segments

_UTF8_STEP = 4096

JSON = Any
"""A value that :mod:`json` can write: None, bool, int, float, str, list or dict of such."""

BlockKind = Literal[
    "heading",
    "paragraph",
    "list",
    "list_item",
    "table",
    "table_row",
    "code",
    "quote",
    "caption",
    "figure",
    "formula",
    "definition",
    "footnote",
    "front_matter",
    "record",
    "cell_output",
    "symbol",
    "rule",
]
Layer = Literal["body", "furniture", "boilerplate", "note", "comment", "hidden", "metadata"]


class Status(StrEnum):
    """What became of a document's bytes."""

    OK = "ok"
    PARTIAL = "partial"
    EMPTY = "empty"
    NEEDS_OCR = "needs_ocr"
    ENCRYPTED = "encrypted"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASHED = "crashed"
    UNREADABLE = "unreadable"

    @property
    def has_text(self) -> bool:
        """True if a document of this status can hold text."""
        return self in (Status.OK, Status.PARTIAL)


@dataclass(frozen=True, slots=True)
class DocumentWarning:
    """Something about a document that a careful reader should know; nothing was lost silently."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document: ``text[start:end]``.

    Blocks form a tree in document order: a parent comes before its children and encloses them.
    """

    kind: BlockKind
    start: int
    end: int
    level: int | None = None
    """Heading level from 1; nesting depth from 1 of a list item; else ``None``."""
    parent: int | None = None
    """Index of the enclosing block in ``Document.blocks``."""
    layer: Layer = "body"
    attributes: Mapping[str, JSON] = field(default_factory=dict)
    """By kind. Spans are ``[start, end]`` lists in code points of the text.

    heading: ``content``, span of the heading's own words, without marks and closing marks.
    list: ``ordered`` (bool), ``lead_in`` (span of the sentence that introduces it, if any).
    list_item: ``marker`` (str).
    table: ``header`` (span of the header row or rows with the delimiter row, if any), ``columns``
    (int). table_row: ``header`` (bool), ``cells`` (list of spans).
    table, code: ``lead_in`` as for a list. code: ``language`` (str); code and symbol:
    ``statements``, ``[offset, depth]`` of each line at which a statement begins. quote: ``alert``
    or ``directive`` (str). record, table_row: ``key``, ``speaker``, ``time`` (str). definition:
    ``term`` (span). figure, table, code: ``caption`` (span). footnote: ``label`` (str). symbol:
    ``name``, ``symbol_kind``, ``signature`` (span), ``language``.
    """


class Word(NamedTuple):
    """A run of characters of a page and the box around it.

    ``start`` and ``end`` are code points of the document's text. Boxes are in points, origin at
    the top left of the page as it is shown (after rotation and cropping). ``line`` numbers the
    visual lines of the page from 0.
    """

    start: int
    end: int
    line: int
    x0: float
    y0: float
    x1: float
    y1: float


class Box(NamedTuple):
    """A rectangle on a page, in points from the page's top left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a paged document."""

    number: int
    """From 1."""
    label: str | None
    """What is printed on it or what the file calls it, such as ``"iv"``."""
    width: float
    height: float
    rotation: int
    chars: int
    """Characters found on it, furniture included."""
    needs_ocr: bool = False
    words: tuple[Word, ...] = ()
    """In order of ``start``."""


@dataclass(frozen=True)
class Document:
    """One document as read. ``text`` never changes; everything else points into it.

    Offsets are code points. For formats that are text the text is the decoded source itself,
    without a byte order mark; for others it is written by appending: the body first, in reading
    order, then the other layers.
    """

    id: str
    """Path inside the source or key of the record, with ``/`` on every system."""
    text: str
    blocks: tuple[Block, ...] = ()
    segments: Segments = field(default_factory=lambda: Segments(()))
    pages: tuple[Page, ...] = ()
    line_starts: tuple[int, ...] = ()
    """Offsets in the *source* at which its lines begin (LF, CRLF and lone CR end a line); empty
    for formats without lines."""
    version: str = ""
    """Hash of text, blocks and metadata."""
    source_hash: str = ""
    """Hash of the bytes."""
    uri: str = ""
    title: str | None = None
    media_type: str = "text/plain"
    encoding: str | None = None
    language: str | None = None
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    status: Status = Status.OK
    warnings: tuple[DocumentWarning, ...] = ()

    def lines_of(self, start: int, end: int) -> tuple[int, int] | None:
        """First and last source line (from 1) of ``text[start:end]``, of the character behind it
        if it is empty; ``None`` without lines."""
        if not self.line_starts:
            return None
        ranges = list(self.segments.source_pieces((start, max(end, start + 1))))
        if not ranges:
            return None
        first = min(r.start for r in ranges)
        last = max(max(r.start, r.end - 1) for r in ranges)
        return bisect_right(self.line_starts, first), bisect_right(self.line_starts, last)

    def bytes_of(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` lies in the UTF-8 encoding of the text, in bytes (a lone
        surrogate counts three)."""
        if self.text.isascii():
            return start, end
        first = self._utf8_before(start)
        return first, first + len(self.text[start:end].encode("utf-8", "surrogatepass"))

    def _utf8_before(self, offset: int) -> int:
        block, rest = divmod(offset, _UTF8_STEP)
        inside = self.text[block * _UTF8_STEP : block * _UTF8_STEP + rest]
        return self._utf8_sums[block] + len(inside.encode("utf-8", "surrogatepass"))

    @cached_property
    def _utf8_sums(self) -> list[int]:
        """Bytes before each ``_UTF8_STEP`` code points."""
        parts = range(0, len(self.text), _UTF8_STEP)
        pieces = (self.text[at : at + _UTF8_STEP] for at in parts)
        return [0, *accumulate(len(piece.encode("utf-8", "surrogatepass")) for piece in pieces)]

    def pages_of(self, start: int, end: int) -> tuple[int, ...]:
        """Numbers of the pages that hold characters of ``text[start:end]``, ascending; of the
        character behind it if it is empty."""
        if not self.pages:
            return ()
        ranges = self.segments.source_pieces((start, max(end, start + 1)))
        return tuple(sorted({r.page for r in ranges if r.page is not None}))

    def boxes_of(self, start: int, end: int) -> tuple[Box, ...]:
        """Boxes around the words of ``text[start:end]``, one a line, in page order."""
        found: list[Box] = []
        for page, first_start, last_end in self._worded_pages:
            if last_end <= start or first_start >= end:
                continue
            words = page.words
            first, last = bisect_left(words, (start,)), bisect_left(words, (end,))
            if first > 0 and words[first - 1].end > start:
                first -= 1
            lines: dict[int, list[float]] = {}
            for word in words[first:last]:
                box = lines.setdefault(word.line, [word.x0, word.y0, word.x1, word.y1])
                box[0], box[1] = min(box[0], word.x0), min(box[1], word.y0)
                box[2], box[3] = max(box[2], word.x1), max(box[3], word.y1)
            found.extend(Box(page.number, *box) for box in lines.values())
        return tuple(found)

    @cached_property
    def _worded_pages(self) -> list[tuple[Page, int, int]]:
        """Pages with words, each with the start of its first word and the end of its last."""
        return [
            (page, page.words[0].start, page.words[-1].end) for page in self.pages if page.words
        ]

    @property
    def body_end(self) -> int:
        """Where the body ends and the other layers begin."""
        end = max((block.end for block in self.blocks if block.layer == "body"), default=0)
        behind = [b.start for b in self.blocks if b.layer != "body" and b.start >= end]
        limit = min(behind, default=len(self.text))
        # What no block holds belongs to the body: nothing is lost for want of a block.
        return limit if self.text[end:limit].strip() else end
