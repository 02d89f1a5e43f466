"""What is drawn on a PDF page besides text: images, ruled lines and backgrounds."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from merestone.extraction.pdf_page import Placement, Rectangle, Rule

_MAX_OBJECTS = 20_000
"""A page with more is a drawing; its first objects say enough."""
_MAX_DEPTH = 4
_MAX_PATH_POINTS = 1_000
_THIN = 2.5
"""Points; a filled box no thicker than this is a ruled line."""
_MIN_LENGTH = 4.0


@dataclass(slots=True)
class Drawing:
    """Coordinates are of the page turned upright."""

    images: int = 0
    rules: list[Rule] = field(default_factory=list)
    backgrounds: list[Rectangle] = field(default_factory=list)
    """Boxes of images, shadings and paths that are filled with a colour."""


class _Matrix(NamedTuple):
    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def after(self, inner: _Matrix) -> _Matrix:
        """The map that applies ``inner`` first."""
        e, f = self.point(inner.e, inner.f)
        return _Matrix(
            self.a * inner.a + self.c * inner.b,
            self.b * inner.a + self.d * inner.b,
            self.a * inner.c + self.c * inner.d,
            self.b * inner.c + self.d * inner.d,
            e,
            f,
        )


_IDENTITY = _Matrix(1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def read_drawing(page: Any, place: Placement) -> Drawing:
    """Images, rules and backgrounds of a loaded page, those inside form objects included."""
    reader = _DrawingReader(place)
    get_object, get_type = pdfium.FPDFPage_GetObject, pdfium.FPDFPageObj_GetType
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        item = get_object(page, index)
        if get_type(item) != pdfium.FPDF_PAGEOBJ_TEXT:
            reader.take(item, _IDENTITY, 0)
    return reader.drawing


class _DrawingReader:
    def __init__(self, place: Placement) -> None:
        self._place = place
        self._left = _MAX_OBJECTS
        self.drawing = Drawing()

    def take(self, item: Any, outer: _Matrix, depth: int) -> None:
        if not item or self._left <= 0:
            return
        self._left -= 1
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            inner = outer.after(_matrix_of(item))
            count = min(pdfium.FPDFFormObj_CountObjects(item), _MAX_OBJECTS)
            for index in range(max(0, count)):
                if self._left <= 0:
                    return
                self.take(pdfium.FPDFFormObj_GetObject(item, index), inner, depth + 1)
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            self.drawing.images += 1
            self._add_background(item, outer)
        elif kind == pdfium.FPDF_PAGEOBJ_SHADING:
            self._add_background(item, outer)
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            self._take_path(item, outer)

    def _take_path(self, path: Any, outer: _Matrix) -> None:
        mode, stroked = ctypes.c_int(), ctypes.c_int()
        if not pdfium.FPDFPath_GetDrawMode(path, mode, stroked):
            return
        if stroked.value:
            self._add_strokes(path, outer.after(_matrix_of(path)))
        if mode.value:
            box = self._bounds(path, outer)
            if box is None:
                return
            if _is_coloured(path):
                self.drawing.backgrounds.append(box)
            if not stroked.value:
                self._add_thin_box(box)

    def _add_strokes(self, path: Any, matrix: _Matrix) -> None:
        x, y = ctypes.c_float(), ctypes.c_float()
        here = first = (0.0, 0.0)
        count = min(pdfium.FPDFPath_CountSegments(path), _MAX_PATH_POINTS)
        for index in range(max(0, count)):
            segment = pdfium.FPDFPath_GetPathSegment(path, index)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            there = self._place.point(*matrix.point(x.value, y.value))
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                first = there
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                self._add_line(here, there)
            here = there
            if pdfium.FPDFPathSegment_GetClose(segment):
                self._add_line(here, first)

    def _add_line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        if abs(start[1] - end[1]) < 1.0 and abs(start[0] - end[0]) >= _MIN_LENGTH:
            low, high = sorted((start[0], end[0]))
            self.drawing.rules.append(Rule(True, (start[1] + end[1]) / 2, low, high))
        elif abs(start[0] - end[0]) < 1.0 and abs(start[1] - end[1]) >= _MIN_LENGTH:
            low, high = sorted((start[1], end[1]))
            self.drawing.rules.append(Rule(False, (start[0] + end[0]) / 2, low, high))

    def _add_thin_box(self, box: Rectangle) -> None:
        width, height = box.x1 - box.x0, box.y1 - box.y0
        if height <= _THIN and width >= _MIN_LENGTH:
            self.drawing.rules.append(Rule(True, (box.y0 + box.y1) / 2, box.x0, box.x1))
        elif width <= _THIN and height >= _MIN_LENGTH:
            self.drawing.rules.append(Rule(False, (box.x0 + box.x1) / 2, box.y0, box.y1))

    def _add_background(self, item: Any, outer: _Matrix) -> None:
        box = self._bounds(item, outer)
        if box is not None:
            self.drawing.backgrounds.append(box)

    def _bounds(self, item: Any, outer: _Matrix) -> Rectangle | None:
        left, bottom, right, top = (ctypes.c_float() for _ in range(4))
        if not pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            return None
        corners = [
            self._place.point(*outer.point(x, y))
            for x in (left.value, right.value)
            for y in (bottom.value, top.value)
        ]
        return Rectangle(
            min(x for x, _ in corners),
            min(y for _, y in corners),
            max(x for x, _ in corners),
            max(y for _, y in corners),
        )


def _matrix_of(item: Any) -> _Matrix:
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, matrix):
        return _IDENTITY
    return _Matrix(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)


def _is_coloured(path: Any) -> bool:
    """True if a filled path can be told from white paper."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha):
        return True
    return alpha.value > 0 and min(red.value, green.value, blue.value) < 240
