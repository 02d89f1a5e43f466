"""Writing the text of a PDF: blocks in reading order, each character tied to its page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from merestone.extraction.blocks import BlockTree, Draft
from merestone.extraction.pdf_hyphens import Vocabulary, first_word, last_word
from merestone.extraction.pdf_kinds import is_table_caption, note_label
from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_page import PageContent, Piece, Run, Space
from merestone.extraction.pdf_paragraphs import Block, Part
from merestone.extraction.pdf_tables import Row, Table
from merestone.text.builder import TextBuilder
from merestone.types import JSON, Layer, Word

_CELL_SEPARATOR = " | "
_PLAIN_HYPHENS = "-‐"
_ADDRESS = re.compile(r"(?:https?://|www\.|doi\.org/)\S*[/\-_=?&#%.:~]$", re.IGNORECASE)
_UNSPACED = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U000323af]")
"""Letters of scripts that put no spaces between words."""


class _LineEnd(NamedTuple):
    """What stands where a line goes over into the next."""

    space: bool
    keeps_hyphen: bool = True
    """For a hyphen that PDFium has marked."""
    drops_last: bool = False
    """True if the last character is a plain hyphen that only divides a word."""


@dataclass(slots=True)
class _OpenItem:
    """A list item that is being written, with its list."""

    part: Part
    indent: float
    list_handle: int
    item_handle: int


class PDFWriter:
    """Appends blocks to a text. Call :meth:`write_body` once, then :meth:`write_lines` for the
    other layers."""

    def __init__(self, pages: Iterable[PageContent], vocabulary: Vocabulary) -> None:
        self.builder = TextBuilder()
        self.tree = BlockTree()
        self._pages: Mapping[int, PageContent] = {page.number: page for page in pages}
        self._vocabulary = vocabulary
        self._words: dict[int, list[Word]] = defaultdict(list)
        self._items: list[_OpenItem] = []
        self._table: Draft | None = None
        """The table just written, to which a caption below it belongs."""
        self._caption: tuple[int, int] | None = None
        """A table's caption just written, which belongs to a table below it."""

    def words(self, page: int) -> tuple[Word, ...]:
        """Words of a page written so far, in order of their place in the text."""
        return tuple(sorted(self._words[page]))

    def write_body(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            if isinstance(block, Part) and block.kind == "list_item":
                self._write_item(block)
                self._table = self._caption = None
                continue
            self._end_lists()
            self._part_blocks("\n\n")
            if isinstance(block, Table):
                self._write_table(block)
            else:
                self._write_part(block)
        self._end_lists()

    def write_lines(self, lines: Sequence[Line], layer: Layer) -> None:
        """One paragraph a line, in a layer other than the body."""
        for index, line in enumerate(lines):
            self._part_blocks("\n" if index else "\n\n")
            start = len(self.builder)
            self._write_runs([line])
            self.tree.add("paragraph", start, len(self.builder), layer=layer)

    def _part_blocks(self, separator: str) -> None:
        if len(self.builder):
            self.builder.insert(separator)

    def _write_part(self, part: Part) -> None:
        start = len(self.builder)
        if part.kind == "code":
            self._write_code(part.lines)
        else:
            self._write_runs(part.lines)
        end = len(self.builder)
        attributes: dict[str, JSON] = {}
        if part.kind == "heading":
            attributes["content"] = [start, end]
        elif part.kind == "footnote" and (label := note_label(part)):
            attributes["label"] = label
        self.tree.add(part.kind, start, end, level=part.level, attributes=attributes)
        table, self._table, self._caption = self._table, None, None
        if is_table_caption(part):
            if table is not None and "caption" not in table.attributes:
                table.attributes["caption"] = [start, end]
            else:
                self._caption = (start, end)

    # Lists

    def _write_item(self, part: Part) -> None:
        assert part.marker is not None
        indent = part.lines[0].box.x0 - part.left
        self._close_deeper_items(part, indent)
        top = self._items[-1] if self._items else None
        if top is None or not _same_list(top, part, indent):
            self._part_blocks("\n" if top else "\n\n")
            handle = self.tree.open(
                "list", len(self.builder), attributes={"ordered": part.marker.ordered}
            )
        else:
            self._items.pop()
            self.tree.close(top.item_handle, len(self.builder))
            self._part_blocks("\n")
            handle = top.list_handle
        start = len(self.builder)
        item = self.tree.open(
            "list_item",
            start,
            level=len(self._items) + 1,
            attributes={"marker": part.marker.text},
        )
        self._write_runs(part.lines)
        self._items.append(_OpenItem(part, indent, handle, item))

    def _close_deeper_items(self, part: Part, indent: float) -> None:
        """Leave the lists inside which the next item cannot be."""
        for depth, item in enumerate(self._items):
            if _same_list(item, part, indent):
                while len(self._items) > depth + 1:
                    self._end_top_list()
                return
        em = part.lines[0].size
        while self._items and indent <= self._items[-1].indent + 0.8 * em:
            self._end_top_list()

    def _end_top_list(self) -> None:
        item = self._items.pop()
        self.tree.close(item.list_handle, len(self.builder))

    def _end_lists(self) -> None:
        while self._items:
            self._end_top_list()

    # Tables

    def _write_table(self, table: Table) -> None:
        handle = self.tree.open("table", len(self.builder), attributes={"columns": table.columns})
        header: list[int] | None = None
        for index, row in enumerate(table.rows):
            if index:
                self.builder.insert("\n")
            start = len(self.builder)
            self._write_row(row)
            if row.header and (header is None or header[1] + 1 == start):
                header = [header[0] if header else start, len(self.builder)]
        self.tree.close(handle, len(self.builder))
        draft = self.tree.draft(handle)
        if draft is not None:
            if header is not None:
                draft.attributes["header"] = header
            if self._caption is not None:
                draft.attributes["caption"] = list(self._caption)
        self._table, self._caption = draft, None

    def _write_row(self, row: Row) -> None:
        start = len(self.builder)
        cells: list[list[int]] = []
        gaps = 0
        for cell in row.cells:
            if cell and len(self.builder) > start:
                self.builder.insert(_CELL_SEPARATOR * gaps)
                gaps = 0
            place = len(self.builder)
            if cell:
                self._write_runs(cell)
            cells.append([place, len(self.builder)])
            gaps += 1
        self.tree.add(
            "table_row",
            start,
            len(self.builder),
            attributes={"header": row.header, "cells": cells},
        )

    # Characters

    def _write_code(self, lines: Sequence[Line]) -> None:
        left = min(line.box.x0 for line in lines)
        last: Line | None = None
        for line in lines:
            if last is not None:
                blank = last.page == line.page and line.baseline - last.baseline > 1.9 * line.size
                self.builder.insert("\n\n" if blank else "\n")
            first = line.runs[0]
            width = (first.x1 - first.x0) / max(1, len(first.text))
            depth = round((line.box.x0 - left) / width) if width > 0 else 0
            self.builder.insert(" " * min(depth, 80))
            self._write_runs([line])
            last = line

    def _write_runs(self, lines: Sequence[Line]) -> None:
        """The words of lines that follow each other, as one text."""
        for index, line in enumerate(lines):
            following = lines[index + 1] if index + 1 < len(lines) else None
            end = self._line_end(line, following)
            runs = line.runs
            for place, run in enumerate(runs):
                if place and run.parted:
                    self._write_space(run.spaces, line.page)
                cut = end.drops_last and place == len(runs) - 1
                self._write_run(run, line, begins_word=not place or run.parted, cut=cut)
            if line.hyphen is not None:
                self._write_hyphen(line, line.hyphen, end.keeps_hyphen)
            if following is None:
                return
            spaces = following.runs[0].spaces
            if end.space:
                self._write_space(spaces, following.page)
            else:
                for space in spaces:
                    self.builder.delete(space.place, space.place + 1, following.page)

    def _line_end(self, line: Line, following: Line | None) -> _LineEnd:
        if following is None:
            return _LineEnd(space=False)
        word, after = last_word(line.runs), first_word(following.runs)
        if line.hyphen is not None:
            return _LineEnd(False, self._vocabulary.keeps_hyphen(word, after))
        if len(word) > 1 and word[-1] in _PLAIN_HYPHENS and after[:1].isalnum():
            if after[:1].islower() and not self._vocabulary.keeps_hyphen(word[:-1], after):
                return _LineEnd(space=False, drops_last=True)
            return _LineEnd(space=False)
        if _goes_on_address(word, after):
            return _LineEnd(space=False)
        if _UNSPACED.match(word[-1:]) and _UNSPACED.match(after):
            return _LineEnd(space=False)
        return _LineEnd(space=True)

    def _write_space(self, spaces: Sequence[Space], page: int) -> None:
        """One space: the first that the page has, or one of our own."""
        if not spaces:
            self.builder.insert(" ")
            return
        first = spaces[0]
        if first.text in "\t\n\r":
            self.builder.replace(" ", first.place, first.place + 1, page)
        else:
            self.builder.copy(first.text, first.place, page)
        for space in spaces[1:]:
            self.builder.delete(space.place, space.place + 1, page)

    def _write_hyphen(self, line: Line, index: int, keeps: bool) -> None:
        if not keeps:
            self.builder.delete(index, index + 1, line.page)
            return
        self.builder.replace("-", index, index + 1, line.page)
        words = self._words[line.page]
        if words and words[-1].end == len(self.builder) - 1:
            words[-1] = words[-1]._replace(end=len(self.builder))

    def _write_run(self, run: Run, line: Line, *, begins_word: bool, cut: bool) -> None:
        start = len(self.builder)
        pieces = run.pieces
        if cut:
            last = pieces[-1]
            shortened = Piece(last.text[:-1], last.start, last.end - 1, last.kind)
            pieces = [*pieces[:-1], shortened, Piece("", last.end - 1, last.end, "delete")]
        for piece in pieces:
            if piece.kind == "copy":
                self.builder.copy(piece.text, piece.start, line.page)
            elif piece.kind == "replace":
                self.builder.replace(piece.text, piece.start, piece.end, line.page)
            else:
                self.builder.delete(piece.start, piece.end, line.page)
        if len(self.builder) > start:
            self._add_word(run, line, start, begins_word)

    def _add_word(self, run: Run, line: Line, start: int, begins: bool) -> None:
        page = self._pages[line.page]
        width, height = page.upright_size
        if run.x1 < 0 or run.y1 < 0 or run.x0 > width or run.y0 > height:
            return
        box = page.shown(run.box)
        words = self._words[line.page]
        end = len(self.builder)
        if not begins and words and words[-1].end == start and words[-1].line == line.number:
            last = words[-1]
            words[-1] = Word(
                last.start,
                end,
                line.number,
                min(last.x0, box.x0),
                min(last.y0, box.y0),
                max(last.x1, box.x1),
                max(last.y1, box.y1),
            )
        else:
            words.append(Word(start, end, line.number, *box))


def _goes_on_address(word: str, after: str) -> bool:
    """True if a web address that fills the end of a line goes on in the next."""
    if word.endswith(("http:", "https:")):
        return after.startswith("//")
    if not _ADDRESS.search(word):
        return False
    return after[:1].islower() or after[:1].isdigit() or (word[-1] == "/" and after[:1].isalpha())


def _same_list(item: _OpenItem, part: Part, indent: float) -> bool:
    """True if ``part`` goes on with the list of ``item``."""
    assert item.part.marker is not None
    assert part.marker is not None
    if part.marker.follows(item.part.marker):
        # Edges of columns are measured anew on each page, so places compare on one only.
        em = part.lines[0].size
        return part.page != item.part.page or abs(indent - item.indent) <= 1.5 * em
    return False
