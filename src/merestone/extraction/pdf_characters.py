"""The characters of a PDF page as PDFium numbers them, gathered into runs without spaces.

PDFium's text of a page as one string drops NULs and splits characters beyond the BMP into lone
surrogates, so it is out of step with its own character index (pypdfium2 issues 261 and 298). Here
every character is asked for by its index, and each piece of text keeps the indexes it stands for.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from merestone.extraction.pdf_drawing import read_drawing
from merestone.extraction.pdf_page import (
    PageContent,
    Piece,
    Placement,
    Rectangle,
    Run,
    Space,
    Style,
)
from merestone.extraction.pdf_tags import read_tags
from merestone.types import SegmentKind

_HYPHEN = 0x0002
"""PDFium's mark for a hyphen at a line end; the line break behind it is swallowed."""
_SOFT_HYPHEN = 0x00AD

_BOLD = re.compile(
    r"bold|black|heavy|demi(?!light)|medi\b|CMBX|CMSSBX|SFBX|[-,](?:B|Bd|BI)\b", re.IGNORECASE
)
_ITALIC = re.compile(r"ital|obli|slant|CMTI|CMSL|SFTI|[-,](?:It|I|BI)\b", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|menlo|hack|typewriter|CMTT|SFTT|inconsol", re.IGNORECASE)
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_SYMBOL_BULLETS = frozenset(
    (0xF06C, 0xF06E, 0xF076, 0xF0A7, 0xF0A8, 0xF0B7, 0xF0D2, 0xF0D8, 0xF0FC)
)
"""Private code points at which Symbol and Wingdings keep their bullets."""
_INVISIBLE_MODES = (3, 7)
"""Text rendering modes that paint nothing (ISO 32000-1, table 106)."""


def read_page(document: Any, index: int, label: str | None, *, tagged: bool = False) -> PageContent:
    """The content of page ``index`` (from 0) of an open ``pypdfium2.PdfDocument``.

    A page that PDFium cannot load comes back without characters and with ``failed`` set.
    """
    page = pdfium.FPDF_LoadPage(document.raw, index)
    if not page:
        size = pdfium.FS_SIZEF()
        pdfium.FPDF_GetPageSizeByIndexF(document.raw, index, size)
        return PageContent(index + 1, label, size.width, size.height, 0, failed=True)
    try:
        content = _read_loaded_page(page, index, label)
        if tagged:
            content.tags = read_tags(page)
        return content
    finally:
        pdfium.FPDF_ClosePage(page)


def _read_loaded_page(page: Any, index: int, label: str | None) -> PageContent:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, box)
    rotation = pdfium.FPDFPage_GetRotation(page) % 4
    width, height = box.right - box.left, box.top - box.bottom
    shown = (height, width) if rotation % 2 else (width, height)
    content = PageContent(index + 1, label, *shown, rotation * 90)
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        content.failed = True
        return content
    try:
        reader = _CharacterReader(text_page, rotation * 90)
        raw_runs = reader.read()
    finally:
        pdfium.FPDFText_ClosePage(text_page)
    content.chars = reader.chars
    content.turn = _dominant_turn(raw_runs)
    place = Placement(box.left, box.top, width, height, (rotation + content.turn) % 4)
    content.runs = [raw.placed(place) for raw in raw_runs]
    drawing = read_drawing(page, place)
    content.images = drawing.images
    content.rules = drawing.rules
    _mark_hidden(content, drawing.backgrounds)
    return content


def _dominant_turn(runs: list[_RawRun]) -> int:
    """Quarter turns clockwise that set most of the text upright."""
    weights: Counter[int] = Counter()
    for run in runs:
        if run.style.angle % 90 == 0:
            weights[run.style.angle // 90] += sum(len(piece.text) for piece in run.pieces)
    return weights.most_common(1)[0][0] if weights else 0


def _mark_hidden(content: PageContent, backgrounds: list[Rectangle]) -> None:
    """Hide what paints nothing, what is white on white, and what lies outside the page.

    A page of invisible text alone over an image is a scan with a recognised text layer: there
    the layer is what the reader sees, and stays.
    """
    width, height = content.upright_size
    for run in content.runs:
        x, y = (run.x0 + run.x1) / 2, (run.y0 + run.y1) / 2
        if run.style.invisible or not (0 <= x <= width and 0 <= y <= height):
            run.hidden = True
        elif run.style.pale:
            run.hidden = not any(background.holds(x, y) for background in backgrounds)
    if content.images and all(run.style.invisible for run in content.runs):
        for run in content.runs:
            run.hidden = False


@dataclass(slots=True)
class _RawRun:
    """A run whose box and origin are in user space (y upwards)."""

    pieces: list[Piece]
    style: Style
    """Of its first character."""
    box: list[float]
    """left, bottom, right, top"""
    origin: tuple[float, float]
    spaces: tuple[Space, ...]
    parted: bool
    begins_line: bool
    hyphen: int | None = None

    def widen(self, box: tuple[float, float, float, float]) -> None:
        left, bottom, right, top = box
        own = self.box
        if left < own[0]:
            own[0] = left
        if bottom < own[1]:
            own[1] = bottom
        if right > own[2]:
            own[2] = right
        if top > own[3]:
            own[3] = top

    def add(self, text: str, start: int, end: int, kind: SegmentKind) -> None:
        last = self.pieces[-1]
        if kind == "copy" and last.kind == "copy" and last.end == start:
            self.pieces[-1] = Piece(last.text + text, last.start, end, "copy")
        else:
            self.pieces.append(Piece(text, start, end, kind))

    def placed(self, place: Placement) -> Run:
        left, bottom, right, top = self.box
        box = place.box(left, bottom, right, top)
        return Run(
            self.pieces,
            self.style,
            *box,
            place.point(*self.origin)[1],
            self.spaces,
            self.parted,
            self.begins_line,
            self.hyphen,
        )


class _Font(NamedTuple):
    """A font's name, and what the name says: weights that fonts declare are often wrong."""

    name: str
    bold: bool
    italic: bool
    mono: bool

    @classmethod
    def of(cls, name: str) -> _Font:
        return cls(name, *(bool(pattern.search(name)) for pattern in (_BOLD, _ITALIC, _MONO)))


class _CharacterReader:
    """Walks the characters of one text page."""

    def __init__(self, text_page: Any, rotation: int) -> None:
        self._text_page = text_page
        self._rotation = rotation
        self._styles: dict[int, Style] = {}
        self._known_styles: dict[tuple[object, ...], Style] = {}
        self._fonts: dict[int, _Font] = {}
        self._matrix = pdfium.FS_MATRIX()
        self._colours = tuple(ctypes.c_uint() for _ in range(4))
        self._runs: list[_RawRun] = []
        self._run: _RawRun | None = None
        self._object = 0
        self._spaces: list[Space] = []
        self._parted = True
        self._begins_line = True
        self._corners = tuple(ctypes.c_double() for _ in range(4))
        self._corner_references = tuple(ctypes.byref(corner) for corner in self._corners)
        self._get_char_box = pdfium.FPDFText_GetCharBox
        self._get_text_object = pdfium.FPDFText_GetTextObject
        self.chars = 0

    def read(self) -> list[_RawRun]:
        """The runs of the page in the order of its content."""
        text_page, get_unicode = self._text_page, pdfium.FPDFText_GetUnicode
        count = pdfium.FPDFText_CountChars(text_page)
        index = 0
        while index < count:
            code, width = get_unicode(text_page, index), 1
            if 0xD800 <= code <= 0xDBFF and index + 1 < count:
                low = get_unicode(text_page, index + 1)
                if 0xDC00 <= low <= 0xDFFF:
                    code, width = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), 2
            self._take(code, index, width)
            index += width
        return self._runs

    def _take(self, code: int, index: int, width: int) -> None:
        text = chr(code)
        if 0x20 < code < 0x7F:
            self._take_character(text, text, index, 1)
        elif code in (0x0A, 0x0D):
            self._take_break(text, index)
        elif code in (_HYPHEN, 0xFFFE) or (code == _SOFT_HYPHEN and self._at_line_end(index)):
            self._take_hyphen(index)
        elif (text.isspace() and code >= 0x20) or code == 0x09:
            self._take_space(text, index)
        elif _is_text(code):
            self._take_character(text, _fold(text, code), index, width)
        elif self._run is not None:
            self._run.add("", index, index + width, "delete")

    def _take_break(self, text: str, index: int) -> None:
        self._run = None
        self._begins_line = self._parted = True
        if not self._is_generated(index):
            self._spaces.append(Space(text, index))

    def _take_space(self, text: str, index: int) -> None:
        self._run = None
        self._parted = True
        if not self._is_generated(index):
            self._spaces.append(Space(text, index))

    def _take_hyphen(self, index: int) -> None:
        if self._run is None:
            self._take_character("", "-", index, 1)
        else:
            self._run.widen(self._char_box(index))
            self._run.hyphen = index
            self.chars += 1
        self._run = None
        self._begins_line = True

    def _take_character(self, text: str, folded: str, index: int, width: int) -> None:
        """Add ``folded``, which stands for the character ``text`` at ``index``."""
        box = self._char_box(index)
        text_object = self._get_text_object(self._text_page, index)
        # The address, read off the pointer: much cheaper than to follow it.
        key = ctypes.c_size_t.from_buffer(text_object).value
        run = self._run
        kind: SegmentKind = "copy" if folded == text and width == 1 else "replace"
        self.chars += 1
        if run is not None and (key == self._object or self._continues(run, box, index)):
            run.add(folded, index, index + width, kind)
            run.widen(box)
        else:
            self._run = _RawRun(
                [Piece(folded, index, index + width, kind)],
                self._style_at(index, text_object, key),
                list(box),
                self._char_origin(index),
                tuple(self._spaces),
                self._parted,
                self._begins_line,
            )
            self._runs.append(self._run)
            self._spaces.clear()
            self._parted = self._begins_line = False
        self._object = key

    def _continues(self, run: _RawRun, box: tuple[float, float, float, float], index: int) -> bool:
        """True if a character of another text object goes on with the same word on the line.

        Where it stands decides, not its style: many files have one object a character, and six
        more calls for each would cost more than all the rest.
        """
        size = run.style.size
        x, y = self._char_origin(index)
        rise = y - run.origin[1]
        if angle := (run.style.angle + self._rotation) % 360:
            turn = math.radians(angle)
            rise = rise * math.cos(turn) - (x - run.origin[0]) * math.sin(turn)
        gap = max(
            box[0] - run.box[2], run.box[0] - box[2], box[1] - run.box[3], run.box[1] - box[3]
        )
        return abs(rise) <= 0.12 * size and gap <= 0.5 * size

    def _is_generated(self, index: int) -> bool:
        return bool(pdfium.FPDFText_IsGenerated(self._text_page, index) == 1)

    def _at_line_end(self, index: int) -> bool:
        return bool(pdfium.FPDFText_IsHyphen(self._text_page, index) == 1)

    def _char_box(self, index: int) -> tuple[float, float, float, float]:
        """left, bottom, right, top"""
        left, right, bottom, top = self._corners
        self._get_char_box(self._text_page, index, *self._corner_references)
        return left.value, bottom.value, right.value, top.value

    def _char_origin(self, index: int) -> tuple[float, float]:
        x, y = self._corners[:2]
        pdfium.FPDFText_GetCharOrigin(self._text_page, index, *self._corner_references[:2])
        return x.value, y.value

    def _style_at(self, index: int, text_object: Any, key: int) -> Style:
        """The style of a character; ``key`` tells its text object (0: none)."""
        style = self._styles.get(key)
        if style is None or key == 0:
            style = self._styles[key] = self._read_style(index, text_object)
        return style

    def _read_style(self, index: int, text_object: Any) -> Style:
        """The style of a text object. Many files have one object a character, so equal ones are
        told by their raw values before anything is computed."""
        font, matrix = self._font_at(index, text_object), self._matrix
        if not pdfium.FPDFText_GetMatrix(self._text_page, index, matrix):
            matrix.a, matrix.b, matrix.c, matrix.d = 1.0, 0.0, 0.0, 1.0
        size = pdfium.FPDFText_GetFontSize(self._text_page, index)
        mode, content = 0, -1
        if text_object:
            mode = pdfium.FPDFTextObj_GetTextRenderMode(text_object)
            content = pdfium.FPDFPageObj_GetMarkedContentID(text_object)
        pale = mode == 0 and self._is_pale(index)
        raw = font, size, matrix.a, matrix.b, matrix.c, matrix.d, mode, content, pale
        style = self._known_styles.get(raw)
        if style is None:
            angle = math.degrees(math.atan2(matrix.b, matrix.a))
            style = self._known_styles[raw] = Style(
                font=font.name,
                size=round(size * (math.hypot(matrix.c, matrix.d) or 1.0), 2),
                bold=font.bold,
                italic=font.italic,
                mono=font.mono,
                angle=_round_angle(angle - self._rotation),
                invisible=mode in _INVISIBLE_MODES,
                pale=pale,
                marked_content=content,
            )
        return style

    def _font_at(self, index: int, text_object: Any) -> _Font:
        handle = pdfium.FPDFTextObj_GetFont(text_object) if text_object else None
        key = ctypes.c_size_t.from_buffer(handle).value if handle else 0
        font = self._fonts.get(key)
        if font is None or key == 0:
            buffer, flags = ctypes.create_string_buffer(256), ctypes.c_int()
            size = pdfium.FPDFText_GetFontInfo(self._text_page, index, buffer, 256, flags)
            name = buffer.value.decode("utf-8", "replace") if 0 < size <= 256 else ""
            font = self._fonts[key] = _Font.of(_SUBSET.sub("", name))
        return font

    def _is_pale(self, index: int) -> bool:
        red, green, blue, alpha = self._colours
        if not pdfium.FPDFText_GetFillColor(self._text_page, index, red, green, blue, alpha):
            return False
        return alpha.value == 0 or min(red.value, green.value, blue.value) >= 250


def _round_angle(degrees: float) -> int:
    """Whole degrees in [0, 360); within 3 of a quarter turn it is one."""
    whole = round(degrees) % 360
    quarter = round(whole / 90) * 90
    return quarter % 360 if abs(whole - quarter) <= 3 else whole


def _is_text(code: int) -> bool:
    """False for what a text must not hold: controls, lone surrogates, noncharacters, and marks
    without meaning outside a layout."""
    if code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF:
        return False
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return False
    return code not in (_SOFT_HYPHEN, 0x200B, 0xFEFF)


def _fold(text: str, code: int) -> str:
    """Letters for a ligature, a bullet for a symbol font's; else ``text``."""
    if 0xFB00 <= code <= 0xFB06:
        return unicodedata.normalize("NFKC", text)
    if code in _SYMBOL_BULLETS:
        return "•"
    return text
