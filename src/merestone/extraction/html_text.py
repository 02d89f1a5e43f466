"""Elements and texts of HTML to a document's text and blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from merestone.extraction.blocks import BlockTree
from merestone.extraction.html_elements import (
    BLOCK,
    CELLS,
    HEADINGS,
    LINES,
    LISTS,
    PREFORMATTED,
    WITHOUT_TEXT,
)
from merestone.extraction.html_flow import TextFlow
from merestone.extraction.html_tables import Cell, Row, Table
from merestone.extraction.html_tree import Characters, Close, Element, Event
from merestone.types import JSON, BlockKind, Layer

_LANGUAGE_CLASS = re.compile(r"(?:language|lang|highlight(?:-source)?)-([\w+#.-]+)")
_NOT_LANGUAGES = frozenset({"default", "none", "text", "plaintext", "notranslate"})
_PERMALINKS = frozenset({"headerlink", "permalink", "hash-link", "anchor", "anchor-link"})
"""Classes of the link to a heading that some generators put behind its words."""

# What becomes of text that stands directly in an element.
_RUNS = "runs"
"""It is a paragraph."""
_OWN = "own"
"""It belongs to the element's own block."""
_FLAT = "flat"
"""As ``own``, and elements inside make no blocks either."""


@dataclass(slots=True)
class _Frame:
    """An element that is open, and what its end has to restore."""

    element: Element
    mode: str
    handle: int = -1
    enclosing: bool = False
    preformatted: bool = False
    cell: Cell | None = None
    one_line: bool = False
    """True in a heading, where a line break is a space."""
    start: int = 0


@dataclass(slots=True)
class _Entry:
    """The entry of a ``dl`` that is being written."""

    handle: int = -1
    described: bool = False


@dataclass(slots=True)
class _List:
    """A list that is open, and the number of its next item."""

    ordered: bool
    number: int


class TextWriter:
    """Writes ranges of the events of one HTML source, one layer after the other."""

    def __init__(self, source: str, events: Sequence[Event], offset: int) -> None:
        self._events = events
        self._flow = TextFlow(source, offset, self._before_text)
        self.builder = self._flow.builder
        self.tree = BlockTree()
        self._layer: Layer = "body"
        self._frames: list[_Frame] = []
        self._run = -1
        """The paragraph that is being written."""
        self._entries: list[_Entry] = []
        self._tables: list[Table] = []
        self._cells: list[Cell] = []
        """Cells that are open, in whatever table, outermost first."""
        self._figures: list[int] = []
        self._heading_start = 0
        self._content_end: int | None = None
        """Where the words of the open heading end, if a link to it stands behind them."""
        self._lists: list[_List] = []
        self._items = 0
        self._enclosing = 0
        """Open blocks in which a heading is none."""

    def write(self, start: int, end: int, layer: Layer) -> None:
        """Append the text of ``events[start:end]``."""
        if layer != self._layer:
            self._part(0, "\n\n")
        self._layer = layer
        index = start
        while index < end:
            event = self._events[index]
            if isinstance(event, Characters):
                self._flow.write(event)
            elif isinstance(event, Close):
                self._close()
            elif event.element.name in WITHOUT_TEXT:
                index = event.element.close
            else:
                self._open(event.element)
            index += 1
        self._end_run()

    def _part(self, depth: int, separator: str) -> None:
        self._end_run()
        self._flow.part(depth, separator)

    def _end_run(self) -> None:
        self.tree.close(self._run, len(self.builder))
        self._run = -1

    def _mode(self) -> str:
        return self._frames[-1].mode if self._frames else _RUNS

    def _before_text(self) -> None:
        """Begin what begins with the first text in it."""
        for cell in reversed(self._cells):
            if cell.start is not None:
                break
            cell.start = len(self.builder)
        if self._mode() == _RUNS and self._run < 0:
            self._run = self.tree.open("paragraph", len(self.builder), layer=self._layer)

    # Elements

    def _open(self, element: Element) -> None:
        name = element.name
        outer = self._frames[-1] if self._frames else None
        mode = outer.mode if outer else _RUNS
        frame = _Frame(element, mode, one_line=outer is not None and outer.one_line)
        depth = len(self._frames)
        if name in BLOCK:
            self._part(depth, self._block_separator(name, mode))
            if mode == _OWN:
                frame.mode = _RUNS
        elif name in LINES:
            self._part(depth, "\n")
        if name == "br":
            self._break_line(frame)
        elif name == "hr":
            self._write_rule(mode)
        elif name in PREFORMATTED:
            self._open_code(frame)
        elif name == "table":
            self._open_table(frame)
        elif name in CELLS:
            self._open_cell(frame, depth)
        elif name == "tr":
            self._open_row(frame)
        elif mode != _FLAT:
            self._open_block(frame)
        if name in ("thead", "tbody", "tfoot") and self._tables:
            self._tables[-1].in_head = name == "thead"
        elif name == "code":
            self._note_language(element)
        elif name == "a" and frame.one_line:
            self._note_permalink(element)
        frame.start = len(self.builder)
        self._frames.append(frame)

    @staticmethod
    def _block_separator(name: str, mode: str) -> str:
        tight = mode == _FLAT or (mode == _OWN and name in LISTS)
        return "\n" if tight else "\n\n"

    def _close(self) -> None:
        frame = self._frames.pop()
        name = frame.element.name
        depth = len(self._frames)
        if name in BLOCK and name != "hr":
            outer = self._frames[-1].mode if self._frames else _RUNS
            self._part(depth, self._block_separator(name, outer))
        elif name in LINES:
            self._part(depth, "\n")
        end = len(self.builder)
        if name == "dl" and frame.mode != _FLAT:
            self._end_entry()
            self._entries.pop()
        elif name == "dt" and frame.mode != _FLAT:
            self._note_span(self._entry_handle(), "term", frame.start, end, grow=True)
        elif name in HEADINGS:
            self._note_content(frame, end)
        elif name in LISTS and frame.mode != _FLAT:
            self._lists.pop()
        elif name == "tr":
            self._close_row(frame.start, end)
        elif frame.cell is not None:
            self._close_cell(frame.cell, end)
        elif name == "table":
            self._close_table()
        elif name == "figure" and frame.mode != _FLAT:
            self._figures.pop()
        elif name == "figcaption" and self._figures:
            self._note_span(self._figures[-1], "caption", frame.start, end)
        elif name == "caption" and self._tables:
            self._note_span(self._tables[-1].handle, "caption", frame.start, end)
        if name == "li" and frame.handle >= 0:
            self._items -= 1
        if frame.preformatted:
            self._flow.end_preformatted()
        self._enclosing -= frame.enclosing
        self.tree.close(frame.handle, end)

    def _open_block(self, frame: _Frame) -> None:
        """Begin the block that an element makes where blocks are made."""
        element = frame.element
        name = element.name
        if name in HEADINGS:
            self._open_heading(frame)
        elif name in LISTS:
            self._begin(frame, "list", _OWN, {"ordered": name == "ol"})
            first = _number(element.attributes.get("start"), 1)
            self._lists.append(_List(name == "ol", first))
        elif name == "li":
            self._open_item(frame)
        elif name == "blockquote":
            self._begin(frame, "quote", _RUNS, enclosing=True)
        elif name == "figure":
            self._begin(frame, "figure", _RUNS)
            self._figures.append(frame.handle)
        elif name == "figcaption":
            self._begin(frame, "caption", _OWN)
        elif name == "caption" and self._tables:
            self._begin(frame, "caption", _FLAT)
        elif name == "dl":
            self._entries.append(_Entry())
            frame.mode = _RUNS
        elif name in ("dt", "dd") and self._entries:
            self._open_entry_part(frame)
        elif frame.element.is_aside:
            # The title of a note in a box heads the box, not what comes after it.
            frame.enclosing = True
            self._enclosing += 1

    def _begin(
        self,
        frame: _Frame,
        kind: BlockKind,
        mode: str,
        attributes: dict[str, JSON] | None = None,
        *,
        level: int | None = None,
        enclosing: bool = False,
    ) -> None:
        frame.handle = self.tree.open(
            kind,
            len(self.builder),
            level=level,
            layer=self._layer,
            attributes=attributes,
        )
        frame.mode = mode
        frame.enclosing = enclosing
        self._enclosing += enclosing

    def _open_heading(self, frame: _Frame) -> None:
        frame.one_line = True
        self._heading_start, self._content_end = len(self.builder), None
        if self._enclosing:
            self._begin(frame, "paragraph", _FLAT)
            return
        level = int(frame.element.name[1])
        self._begin(frame, "heading", _FLAT, {"content": [0, 0]}, level=level)

    def _note_content(self, frame: _Frame, end: int) -> None:
        draft = self.tree.draft(frame.handle)
        if draft is not None and draft.kind == "heading":
            last = self._content_end
            draft.attributes["content"] = [frame.start, end if last is None else last]

    def _note_permalink(self, element: Element) -> None:
        if len(self.builder) > self._heading_start and not _PERMALINKS.isdisjoint(element.classes):
            self._content_end = len(self.builder)

    def _open_item(self, frame: _Frame) -> None:
        marker = "-"
        if self._lists and self._lists[-1].ordered:
            number = _number(frame.element.attributes.get("value"), self._lists[-1].number)
            self._lists[-1].number = number + 1
            marker = f"{number}."
        self._items += 1
        self._begin(frame, "list_item", _OWN, {"marker": marker}, level=self._items, enclosing=True)
        if frame.handle < 0:
            self._items -= 1

    def _open_code(self, frame: _Frame) -> None:
        if frame.mode != _FLAT:
            language = _language(frame.element)
            for outer in reversed(self._frames[-2:]):
                language = language or _language(outer.element)
            self._begin(frame, "code", _OWN, {"language": language} if language else {})
        if not self._flow.is_preformatted:
            self._flow.begin_preformatted()
            frame.preformatted = True

    def _note_language(self, element: Element) -> None:
        if self._frames and self._frames[-1].element.name == "pre":
            draft = self.tree.draft(self._frames[-1].handle)
            language = _language(element)
            if draft is not None and language:
                draft.attributes["language"] = language

    def _break_line(self, frame: _Frame) -> None:
        """A second break in a row ends the paragraph."""
        if frame.mode == _RUNS and self._flow.line_is_due and not self._flow.is_preformatted:
            self._part(len(self._frames), "\n\n")
        else:
            self._flow.break_line(" " if frame.one_line else "\n")

    def _write_rule(self, mode: str) -> None:
        """A thematic break becomes three hyphens, where text stands before it."""
        if mode == _FLAT or not len(self.builder) or self._flow.is_preformatted:
            return
        self._flow.insert("---")
        end = len(self.builder)
        self.tree.add("rule", end - 3, end, layer=self._layer)
        self._flow.part(len(self._frames), "\n\n")

    # Definition lists

    def _entry_handle(self) -> int:
        return self._entries[-1].handle if self._entries else -1

    def _open_entry_part(self, frame: _Frame) -> None:
        entry = self._entries[-1]
        is_term = frame.element.name == "dt"
        if is_term and entry.described:
            self._end_entry()
        if entry.handle < 0:
            entry.handle = self.tree.open("definition", len(self.builder), layer=self._layer)
        entry.described = entry.described or not is_term
        frame.mode = _OWN
        frame.enclosing = True
        self._enclosing += 1

    def _end_entry(self) -> None:
        entry = self._entries[-1]
        self.tree.close(entry.handle, len(self.builder))
        entry.handle, entry.described = -1, False

    def _note_span(
        self, handle: int, name: str, start: int, end: int, *, grow: bool = False
    ) -> None:
        draft = self.tree.draft(handle)
        if draft is None:
            return
        known = draft.attributes.get(name) if grow else None
        draft.attributes[name] = [known[0] if known else start, end]

    # Tables

    def _open_table(self, frame: _Frame) -> None:
        layout = frame.element.layout
        if frame.mode != _FLAT and not layout:
            self._begin(frame, "table", _OWN, {"columns": 0})
        self._tables.append(Table(frame.handle, layout))

    def _in_table(self) -> bool:
        """True if the innermost open table is one of data."""
        return bool(self._tables) and not self._tables[-1].layout

    def _open_row(self, frame: _Frame) -> None:
        if not self._in_table():
            return
        if frame.mode != _FLAT:
            self._begin(frame, "table_row", _FLAT, enclosing=True)
        self._tables[-1].row = Row(frame.handle)

    def _open_cell(self, frame: _Frame, depth: int) -> None:
        if not self._in_table():
            self._part(depth, "\n\n")
            return
        table = self._tables[-1]
        attributes = frame.element.attributes
        if table.row is not None and table.row.seen:
            self._end_run()
            self._flow.part_cells(depth)
        frame.mode = _FLAT
        frame.cell = table.begin_cell(
            header=frame.element.name == "th",
            columns=_number(attributes.get("colspan"), 1),
            rows=_number(attributes.get("rowspan"), 1),
        )
        self._cells.append(frame.cell)

    def _close_cell(self, cell: Cell, end: int) -> None:
        self._cells.pop()
        self._tables[-1].end_cell(cell, end)

    def _close_row(self, start: int, end: int) -> None:
        ended = self._tables[-1].end_row(start, end) if self._tables else None
        draft = self.tree.draft(ended[0].handle) if ended else None
        if ended and draft is not None:
            draft.attributes["cells"] = ended[0].cells
            draft.attributes["header"] = ended[1]

    def _close_table(self) -> None:
        table = self._tables.pop()
        draft = self.tree.draft(table.handle)
        if draft is None:
            return
        draft.attributes["columns"] = table.columns
        if table.header is not None and table.body_seen:
            draft.attributes["header"] = table.header


def _language(element: Element) -> str:
    """The language that a code element's classes name; empty if they name none."""
    for name in element.classes:
        match = _LANGUAGE_CLASS.fullmatch(name)
        if match and match[1] not in _NOT_LANGUAGES:
            return match[1]
    return ""


def _number(value: str | None, default: int) -> int:
    match = re.match(r"\s*(-?\d{1,9})", value or "")
    return int(match[1]) if match else default
