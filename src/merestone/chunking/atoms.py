"""The pieces that a document is never cut within, unless one alone is over the limit.

Atoms tile the body: paragraphs, headings, list items, table rows, stretches of code. One that is
over the limit is cut into its sentences or lines; these are also the units that a hit can be
narrowed to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from merestone.chunking import boundaries
from merestone.text.lines import line_starts
from merestone.text.sentences import sentence_spans
from merestone.types import Document, Edge, UnitKind

_OF_LINES = frozenset({"code", "front_matter", "symbol", "cell_output", "formula"})
_LOOK = 60
_UNFINISHED = re.compile(r"[^\W_],?\Z")
_ENUMERATING = re.compile(r"(?:[;,]|\s(?:and|or))\Z")
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
    is_leaf: bool = True
    """False if it is a part of what the document's blocks make one."""


@dataclass(slots=True)
class Outline:
    """A document and its atoms."""

    document: Document
    atoms: list[Atom]

    def ancestors(self, block: int | None) -> Iterator[int]:
        """``block`` and the blocks around it, innermost first."""
        while block is not None:
            yield block
            block = self.document.blocks[block].parent


def outline(document: Document, *, in_sentences: bool = False) -> Outline:
    """Cut the body of ``document`` into atoms, with ``in_sentences`` as fine as sentences and
    lines."""
    end = document.body_end
    children: dict[int | None, list[int]] = {}
    for index, block in enumerate(document.blocks):
        if block.end <= end:
            children.setdefault(block.parent, []).append(index)
    walker = _Walker(document, children)
    walker.fill(None, 0, end)
    atoms = _tile(document.text, walker.atoms, end)
    if atoms:
        atoms[0].edge = boundaries.DOCUMENT
    outlined = Outline(document, atoms)
    fine = [in_sentences] * len(atoms)
    for index, atom in enumerate(atoms):
        if atom.edge is boundaries.BROKEN_SENTENCE:
            fine[index - 1] = fine[index] = True
    if any(fine):
        outlined.atoms = [
            part
            for atom, is_fine in zip(atoms, fine, strict=True)
            for part in (parts_of(outlined, atom) if is_fine else [atom])
        ]
    return outlined


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
        elif kind in _OF_LINES:
            self._append(start, end, "line", index, self._entry(index, start))
        elif kind == "list_item":
            self._append(start, end, "list_item", index, boundaries.LIST_ITEM)
        else:
            self._append(start, end, "sentence", index, self._entry(index, start))

    def _last_row_is_of(self, table: int | None) -> bool:
        last = self.atoms[-1].block if self.atoms else None
        return last is not None and self._blocks[last].parent == table

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


def parts_of(outlined: Outline, atom: Atom) -> list[Atom]:
    """The sentences or lines of ``atom``, which tile it; itself if it is one or can't be cut so.

    They are made when they are asked for: most atoms are never cut.
    """
    if not atom.is_leaf or atom.kind not in ("sentence", "list_item", "line"):
        return [atom]
    document = outlined.document
    if atom.kind == "line":
        return _lines(document, atom)
    spans = sentence_spans(document.text, atom.start, atom.end)
    if len(spans) == 1:
        return [atom]
    found = [
        Atom(*span, "sentence", atom.block, boundaries.SENTENCE, is_leaf=False) for span in spans
    ]
    return _merge_blank(document.text, found, atom)


def _lines(document: Document, atom: Atom) -> list[Atom]:
    text = document.text
    attributes = document.blocks[atom.block].attributes if atom.block is not None else {}
    given = attributes.get("statements")
    statements = dict(given) if isinstance(given, list | tuple) else None
    starts = [atom.start + offset for offset in line_starts(text[atom.start : atom.end])]
    found: list[Atom] = []
    blank = False
    for low, high in zip(starts, [*starts[1:], atom.end], strict=True):
        line = text[low:high]
        bare = line.lstrip(" \t")
        if not bare or bare.isspace():
            blank = True
        indent = len(line) - len(bare)
        if statements is None:
            edge = _line_edge(indent, blank)
        else:
            edge = _statement_edge(statements.get(low + indent), blank)
        found.append(Atom(low, high, "line", atom.block, edge, is_leaf=False))
        if bare and not bare.isspace():
            blank = False
    return _merge_blank(text, found, atom)


def _merge_blank(text: str, parts: list[Atom], whole: Atom) -> list[Atom]:
    """Parts that hold something: what is blank goes with the one before, at the beginning with
    the first. The first has the edge of the whole."""
    found: list[Atom] = []
    start = whole.start
    for part in parts:
        if text[part.start : part.end].isspace():
            if found:
                found[-1].end = part.end
            continue
        part.start = found[-1].end if found else start
        found.append(part)
    if not found:
        return [whole]
    found[0].edge = whole.edge
    return found


@cache
def _statement_edge(depth: int | None, after_blank: bool) -> Edge:
    """Boundary before a line of which is known whether a statement begins there, and how deep."""
    if depth is None:
        return boundaries.CONTINUATION
    return Edge("statement", max(0.4, 0.56 - 0.04 * depth) + (0.02 if after_blank else 0.0))


@cache
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
