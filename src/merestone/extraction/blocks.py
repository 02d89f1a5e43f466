"""Writing down the blocks of a document while it is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from merestone.text.block_tree import SPAN_ATTRIBUTES
from merestone.text.white_space import stripped
from merestone.types import JSON, Block, BlockKind, Layer, Span

MAX_DEPTH = 100
"""Blocks nested deeper are left out; their text is part of the block around them."""

_INTRODUCED = ("list", "code", "table")
_SHORT = 300
"""Code points of a paragraph that goes along whole."""
_INTRODUCES = re.compile(r"\b(following|follows|below|these)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+|[。！？]\s*")
_BLANK_LINES = re.compile(r"(?:[ \t\f\v]*(?:\r\n|\n|\r))+")
_PARAGRAPH = re.compile(r"\S(?:(?!(?:\r\n|\n|\r)[ \t\f\v]*(?:\r\n|\n|\r)).)*", re.DOTALL)


@dataclass(slots=True)
class Draft:
    """A block that is being written."""

    kind: BlockKind
    start: int
    end: int | None = None
    level: int | None = None
    parent: int | None = None
    layer: Layer = "body"
    attributes: dict[str, JSON] = field(default_factory=dict)


class BlockTree:
    """Collects blocks in document order.

    A block that is opened while another is open lies inside it. Ends and starts may include white
    space and may stick out by mistake: :meth:`blocks` puts them right.
    """

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self._open: list[int] = []
        self._depth = 0

    def open(
        self,
        kind: BlockKind,
        start: int,
        *,
        level: int | None = None,
        layer: Layer = "body",
        attributes: Mapping[str, JSON] | None = None,
    ) -> int:
        """Begin a block inside the innermost open one; returns its handle, -1 beyond
        ``MAX_DEPTH``."""
        if len(self._open) >= MAX_DEPTH:
            return -1
        parent = self._open[-1] if self._open else None
        draft = Draft(kind, start, None, level, parent, layer, dict(attributes or {}))
        self.drafts.append(draft)
        self._open.append(len(self.drafts) - 1)
        return self._open[-1]

    def close(self, handle: int, end: int) -> None:
        """End a block and every block still open inside it. Closing again does nothing."""
        if handle < 0 or self.drafts[handle].end is not None:
            return
        while self.drafts[handle].end is None:
            self.drafts[self._open.pop()].end = end

    def add(
        self,
        kind: BlockKind,
        start: int,
        end: int,
        *,
        level: int | None = None,
        layer: Layer = "body",
        attributes: Mapping[str, JSON] | None = None,
    ) -> int:
        """Write down a block that holds no others."""
        handle = self.open(kind, start, level=level, layer=layer, attributes=attributes)
        self.close(handle, end)
        return handle

    def draft(self, handle: int) -> Draft | None:
        """The block of a handle, to be completed; ``None`` if it was nested too deeply."""
        return self.drafts[handle] if handle >= 0 else None

    def blocks(self, text: str) -> tuple[Block, ...]:
        """The blocks, without white space at their ends, nested or disjoint, blank ones left out.

        Code keeps the indentation of its first line.
        """
        found: list[Block] = []
        places: list[int | None] = []
        free: list[int] = [0]
        """By place in ``found``, shifted by one: where the next child may begin."""
        for draft in self.drafts:
            parent = draft.parent
            place = places[parent] if parent is not None else None
            limit = found[place].end if place is not None else len(text)
            lowest = free[0 if place is None else place + 1]
            start, end = max(draft.start, lowest), limit
            if draft.end is not None:
                end = min(draft.end, limit)
            span = trimmed(text, start, end, keep_indent=draft.kind == "code")
            if span.start >= span.end:
                places.append(place)
                continue
            attributes = _tidy(text, draft.attributes)
            found.append(Block(draft.kind, *span, draft.level, place, draft.layer, attributes))
            free[0 if place is None else place + 1] = span.end
            free.append(span.start)
            places.append(len(found) - 1)
        return tuple(found)


def trimmed(text: str, start: int, end: int, *, keep_indent: bool = False) -> Span:
    """``text[start:end]`` without white space at its ends; ``keep_indent`` leaves that of the
    first line that is not blank."""
    end = max(start, end)
    first, end = stripped(text, start, end)
    if keep_indent:
        match = _BLANK_LINES.match(text, start, end)
        first = match.end() if match else start
    return Span(first, end)


def _tidy(text: str, attributes: dict[str, JSON]) -> dict[str, JSON]:
    for name in SPAN_ATTRIBUTES:
        if isinstance(attributes.get(name), list):
            attributes[name] = list(trimmed(text, *attributes[name]))
    if "cells" in attributes:
        attributes["cells"] = [list(trimmed(text, *cell)) for cell in attributes["cells"]]
    return attributes


def paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    """The parts of ``text[start:end]`` that blank lines divide, without white space around."""
    for match in _PARAGRAPH.finditer(text, start, end):
        yield trimmed(text, match.start(), match.end())


def with_leftovers(text: str, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """``blocks`` with a paragraph for all text that no block holds, in document order."""
    found: list[Block] = []
    places: list[int] = []
    free = 0

    def fill(until: int) -> None:
        found.extend(Block("paragraph", *span) for span in paragraphs(text, free, until))

    for block in blocks:
        if block.parent is None:
            fill(block.start)
            free = block.end
            found.append(block)
        elif places[block.parent] == block.parent:
            found.append(block)
        else:
            found.append(replace(block, parent=places[block.parent]))
        places.append(len(found) - 1)
    fill(len(text))
    return tuple(found)


def with_lead_ins(text: str, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """``blocks`` with ``lead_in`` on each list, code block and table that a sentence introduces.

    That is the last sentence of the paragraph just before it, if it ends with a colon, says that
    something follows, or (for a list) no blank line parts the two. Code is introduced by any
    paragraph before it. So is an ordered list, for what stands before a procedure is often what
    it presupposes; of a short paragraph it takes all.
    """
    found: list[Block] = []
    previous: dict[int | None, Block] = {}
    for block in blocks:
        before = previous.get(block.parent)
        previous[block.parent] = block
        if block.kind in _INTRODUCED and before is not None and before.kind == "paragraph":
            lead_in = _lead_in(text, before, block)
            if lead_in is not None:
                attributes = {**block.attributes, "lead_in": list(lead_in)}
                block = replace(block, attributes=attributes)
        found.append(block)
    return tuple(found)


def _lead_in(text: str, paragraph: Block, block: Block) -> Span | None:
    if paragraph.layer != block.layer or paragraph.attributes.get("html"):
        return None
    procedure = block.kind == "list" and bool(block.attributes.get("ordered"))
    if procedure and paragraph.end - paragraph.start <= _SHORT:
        return Span(paragraph.start, paragraph.end)
    start = paragraph.start
    for match in _SENTENCE_END.finditer(text, paragraph.start, paragraph.end - 1):
        start = match.end()
    last = text[start : paragraph.end]
    tight = block.kind == "list" and len(_lines_between(text, paragraph.end, block.start)) <= 1
    announced = last.endswith((":", "：")) or tight or _INTRODUCES.search(last)
    if announced or procedure or block.kind == "code":
        return Span(start, paragraph.end)
    return None


def _lines_between(text: str, start: int, end: int) -> list[str]:
    return re.findall(r"\r\n|\n|\r", text[start:end])
