"""The pieces that a document is never cut within, unless one alone is over the limit.

Atoms tile the body: sentences of prose, headings, list items, table rows, lines of code. They are
also the units that a hit can be narrowed to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from merestone.chunking import boundaries
from merestone.text.lines import line_starts
from merestone.text.sentences import sentence_spans
from merestone.types import Document, Edge, UnitKind

_LOOK = 60
_UNFINISHED = re.compile(r"[^\W_],?\Z")
_ENUMERATING = re.compile(r"(?:;|[;,]?\s(?:and|or))\Z")
_CONTINUING = re.compile(r"[\d.,]+ ?[=<>%)]|\([a-z]{1,4}\)\s")


@dataclass(slots=True)
class Atom:
    """One piece, ``text[start:end]``, white space behind it included."""

    start: int
    end: int
    kind: UnitKind
    block: int | None
    """Index of the innermost block; ``None`` where the document has no blocks."""
    edge: Edge
    """The boundary before it."""
    heading: int | None = None
    """Index of the heading block that it is, if any."""


@dataclass(slots=True)
class Outline:
    """A document's atoms, and its blocks by parent."""

    document: Document
    atoms: list[Atom]
    children: dict[int | None, list[int]] = field(default_factory=dict)

    def ancestors(self, block: int | None) -> Iterator[int]:
        """``block`` and the blocks around it, innermost first."""
        while block is not None:
            yield block
            block = self.document.blocks[block].parent


def outline(document: Document) -> Outline:
    """Cut the body of ``document`` into atoms."""
    end = document.body_end
    children: dict[int | None, list[int]] = {}
    for index, block in enumerate(document.blocks):
        if block.end <= end:
            children.setdefault(block.parent, []).append(index)
    walker = _Walker(document, children)
    if document.blocks:
        walker.fill(None, 0, end)
    else:
        walker.prose(None, 0, end)
    atoms = _tile(document.text, walker.atoms, end)
    if atoms:
        atoms[0].edge = boundaries.DOCUMENT
    return Outline(document, atoms, children)


class _Walker:
    """Collects atoms block by block, without recursion: documents nest as deep as they like."""

    def __init__(self, document: Document, children: dict[int | None, list[int]]) -> None:
        self._text = document.text
        self._blocks = document.blocks
        self._children = children
        self.atoms: list[Atom] = []

    def fill(self, block: int | None, start: int, end: int) -> None:
        """Atoms of ``text[start:end]``, the inside of ``block``."""
        pending: list[tuple[int | None, int, int, bool]] = [(block, start, end, True)]
        while pending:
            index, low, high, inner = pending.pop()
            children = self._children.get(index, []) if inner else []
            if not children:
                self._leaf(index, low, high)
                continue
            parts: list[tuple[int | None, int, int, bool]] = []
            cursor = low
            for child in children:
                part = self._blocks[child]
                first = max(cursor, part.start)
                if self._is_mark(index, cursor, first):
                    first = cursor
                elif first > cursor:
                    parts.append((index, cursor, first, False))
                parts.append((child, first, part.end, True))
                cursor = max(cursor, part.end)
            if cursor < high:
                parts.append((index, cursor, high, False))
            pending.extend(reversed(parts))

    def _is_mark(self, index: int | None, start: int, end: int) -> bool:
        """True if ``text[start:end]`` is the mark of the block behind it, such as a bullet."""
        if index is None or self._blocks[index].kind == "table":
            return False
        return 0 < end - start <= 12 and not any(map(str.isalpha, self._text[start:end]))

    def _leaf(self, index: int | None, start: int, end: int) -> None:
        if start >= end or self._text[start:end].isspace():
            return
        block = self._blocks[index] if index is not None else None
        kind = block.kind if block else "paragraph"
        if block is not None and kind == "heading":
            edge = boundaries.section(block.level or 1)
            self.atoms.append(Atom(start, end, "heading", index, edge, heading=index))
        elif kind == "table" and self._last_row_is_of(index):
            # What stands between the rows of a table, such as a delimiter row, goes with the
            # row before it.
            self.atoms[-1].end = end
        elif kind in ("table", "table_row"):
            self._append(start, end, "table_row", index, boundaries.TABLE_ROW)
        elif kind == "record":
            self._append(start, end, "table_row", index, boundaries.RECORD)
        elif kind in ("code", "front_matter", "symbol", "cell_output", "formula"):
            self._lines(index, start, end)
        elif kind == "list_item":
            self._list_item(index, start, end)
        else:
            self.prose(index, start, end)

    def _last_row_is_of(self, table: int | None) -> bool:
        last = self.atoms[-1].block if self.atoms else None
        return last is not None and self._blocks[last].parent == table

    def _list_item(self, index: int | None, start: int, end: int) -> None:
        """One atom of an item that is one sentence, else its sentences."""
        spans = sentence_spans(self._text, start, end)
        if len(spans) == 1:
            self._append(start, end, "list_item", index, boundaries.LIST_ITEM)
        else:
            self._sentences(index, spans, boundaries.LIST_ITEM)

    def prose(self, index: int | None, start: int, end: int) -> None:
        """Sentences of ``text[start:end]``."""
        spans = sentence_spans(self._text, start, end)
        self._sentences(index, spans, self._entry(index, start))

    def _sentences(self, index: int | None, spans: list[tuple[int, int]], edge: Edge) -> None:
        for low, high in spans:
            if not self._text[low:high].isspace():
                self._append(low, high, "sentence", index, edge)
                edge = boundaries.SENTENCE

    def _lines(self, index: int | None, start: int, end: int) -> None:
        edge = self._entry(index, start)
        statements = self._statements(index)
        starts = [start + offset for offset in line_starts(self._text[start:end])]
        blank = False
        for low, high in zip(starts, [*starts[1:], end], strict=True):
            line = self._text[low:high]
            if line.isspace() or not line:
                blank = True
                continue
            if low != start:
                indent = len(line) - len(line.lstrip(" \t"))
                if statements is None:
                    edge = _line_edge(indent, blank)
                else:
                    edge = _statement_edge(statements.get(low + indent), blank)
            self._append(low, high, "line", index, edge)
            blank = False

    def _statements(self, index: int | None) -> dict[int, int] | None:
        """Depth by offset of the statements of a block, as far as its reader knows them."""
        found = self._blocks[index].attributes.get("statements") if index is not None else None
        return dict(found) if isinstance(found, list | tuple) else None

    def _entry(self, index: int | None, start: int) -> Edge:
        """The boundary at ``start``: a block's own if the block, or its mark, begins there."""
        if index is None or self._blocks[index].start < start:
            return boundaries.SENTENCE
        parent = self._blocks[index].parent
        kind = self._blocks[index].kind
        if kind == "record":
            return boundaries.RECORD
        if parent is not None and self._blocks[parent].kind in ("list_item", "definition"):
            first = self._children[parent][0] == index
            return boundaries.LIST_ITEM if first else boundaries.LINE
        return boundaries.BLOCK

    def _append(self, start: int, end: int, kind: UnitKind, index: int | None, edge: Edge) -> None:
        if self._opens_block(index, start):
            edge = boundaries.BLOCK
            if kind == "sentence" and self._goes_on(start, end):
                edge = boundaries.BROKEN_SENTENCE
        self.atoms.append(Atom(start, end, kind, index, edge))

    def _goes_on(self, start: int, end: int) -> bool:
        """True if ``text[start:end]`` goes on with the sentence of the paragraph before it, as
        at the ends of pages, around figures and in enumerations."""
        if not self.atoms or self.atoms[-1].kind != "sentence":
            return False
        ahead = self._text[max(0, start - _LOOK) : start].rstrip()
        if _ENUMERATING.search(ahead):
            return True
        if not _UNFINISHED.search(ahead):
            return False
        following = self._text[start : min(end, start + _LOOK)].lstrip()
        return following[:1].islower() or _CONTINUING.match(following) is not None

    def _opens_block(self, index: int | None, start: int) -> bool:
        """True if a block at the top level, or its mark, begins at ``start``."""
        while index is not None and self._blocks[index].start >= start:
            parent = self._blocks[index].parent
            if parent is None:
                return True
            index = parent
        return False


def _statement_edge(depth: int | None, after_blank: bool) -> Edge:
    """Boundary before a line of which is known whether a statement begins there, and how deep."""
    if depth is None:
        return boundaries.CONTINUATION
    return Edge("statement", max(0.4, 0.56 - 0.04 * depth) + (0.02 if after_blank else 0.0))


def _line_edge(indent: int, after_blank: bool) -> Edge:
    """Boundary before a line of code: best behind a blank line and where the indent is small."""
    if after_blank:
        return Edge("statement", max(0.42, 0.58 - 0.02 * indent))
    return Edge("line", max(0.2, 0.36 - 0.02 * indent))


def _tile(text: str, atoms: list[Atom], end: int) -> list[Atom]:
    """Let the atoms touch: the white space between two belongs to the first, but the indent of a
    line to that line."""
    for atom, following in pairwise(atoms):
        gap = text[atom.end : following.start]
        kept = len(gap) - len(gap.rstrip(" \t"))
        if kept and (kept == len(gap) or gap[-kept - 1] not in "\r\n"):
            kept = 0
        following.start -= kept
        atom.end = following.start
    if atoms:
        first = atoms[0]
        lead = text[: first.start]
        kept = len(lead) - len(lead.rstrip(" \t"))
        if kept == len(lead) or lead[-kept - 1] in "\r\n":
            first.start -= kept
        atoms[-1].end = end
    return atoms
