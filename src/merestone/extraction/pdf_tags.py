"""What the tags of a PDF say: which content is a heading, and which is a cell of which table.

Tags hang on numbers of marked content (ISO 32000-1, 14.7); each text object knows its number.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from merestone.extraction.pdf_page import CellTag, PageTags

_MAX_DEPTH = 60
_MAX_ELEMENTS = 50_000
_TYPE_BYTES = 64
_HEADING = re.compile(r"H([1-6])?$")


def read_tags(page: Any) -> PageTags:
    """Tags of a loaded page; none if it has none."""
    reader = _TagReader()
    tree = pdfium.FPDF_StructTree_GetForPage(page)
    if not tree:
        return reader.tags
    try:
        for child in range(max(0, pdfium.FPDF_StructTree_CountChildren(tree))):
            reader.walk(pdfium.FPDF_StructTree_GetChildAtIndex(tree, child), _Place(), 0)
    finally:
        pdfium.FPDF_StructTree_Close(tree)
    return reader.tags


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the tree an element is."""

    heading: int | None = None
    table: int | None = None
    in_head: bool = False
    cell: CellTag | None = None


class _TagReader:
    def __init__(self) -> None:
        self.tags = PageTags()
        self._left = _MAX_ELEMENTS
        self._buffer = ctypes.create_string_buffer(_TYPE_BYTES)

    def walk(self, element: Any, place: _Place, depth: int) -> None:
        if not element or depth > _MAX_DEPTH or self._left <= 0:
            return
        self._left -= 1
        kind = _type_of(element, self._buffer)
        here = self._enter(kind, place)
        for child in range(max(0, pdfium.FPDF_StructElement_CountChildren(element))):
            number = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, child)
            if number >= 0:
                self._note(number, here)
                continue
            inner = pdfium.FPDF_StructElement_GetChildAtIndex(element, child)
            if inner:
                self.walk(inner, here, depth + 1)
            elif kind == "TR" and here.table is not None and here.cell is None:
                # A cell without content has no element on the page, but it has its place.
                self.tags.shapes[here.table][-1] += 1

    def _enter(self, kind: str, place: _Place) -> _Place:
        if kind == "Title":
            return _Place(heading=1)
        if match := _HEADING.match(kind):
            return _Place(heading=int(match[1] or 1), cell=place.cell)
        if kind == "Table" and place.cell is None:
            table = len(self.tags.shapes)
            self.tags.shapes[table] = []
            return _Place(table=table)
        if place.table is None or place.cell is not None:
            return place
        rows = self.tags.shapes[place.table]
        if kind == "THead":
            return _Place(table=place.table, in_head=True)
        if kind == "TR":
            rows.append(0)
        elif kind in ("TD", "TH") and rows:
            rows[-1] += 1
            cell = CellTag(place.table, len(rows) - 1, rows[-1] - 1, kind == "TH" or place.in_head)
            return _Place(table=place.table, in_head=place.in_head, cell=cell)
        return place

    def _note(self, number: int, place: _Place) -> None:
        self.tags.known.add(number)
        if place.cell is not None:
            self.tags.cells[number] = place.cell
        elif place.heading is not None:
            self.tags.headings[number] = place.heading


def _type_of(element: Any, buffer: Any) -> str:
    """The type of an element; ``""`` for one longer than any standard type."""
    size = pdfium.FPDF_StructElement_GetType(element, buffer, _TYPE_BYTES)
    if not 2 < size <= _TYPE_BYTES:
        return ""
    return bytes(buffer[: size - 2]).decode("utf-16-le", "replace")
