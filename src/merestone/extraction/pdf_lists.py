"""Marks at the start of list items, and of headings that carry a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from merestone.extraction.pdf_furniture import roman_value
from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_page import Run

_BULLETS = "•◦▪▫‣⁃●○■□◆◇❖➢➤✓✔∙⦁"
_DASHES = ("-", "–", "—", "*", "·", "»", "o")
"""Bullets only where something else says that an item begins."""
_NUMBERED = re.compile(
    r"(?P<open>[(\[]?)(?P<label>\d{1,3}|[a-z]|[A-Z]|[ivxlc]{2,6}|[IVXLC]{2,6})(?P<close>[.)\]])"
)
_SECTION = re.compile(r"(?:\d{1,2}|[A-Z](?=\.))(?:\.\d{1,2}){0,4}\.?")


class Marker(NamedTuple):
    """The mark of a list item. ``style`` tells kinds of numbering apart; ``values`` are the
    numbers that the label can stand for, none for a bullet."""

    text: str
    style: str
    values: tuple[int, ...]

    @property
    def ordered(self) -> bool:
        return bool(self.values)

    @property
    def weak(self) -> bool:
        """True if prose can begin a line with it as well."""
        return self.ordered or self.text in _DASHES

    @property
    def is_first(self) -> bool:
        return 1 in self.values

    def follows(self, other: Marker) -> bool:
        """True if it is the next of the same numbering, or the same bullet."""
        if self.style != other.style:
            return False
        if not self.values:
            return self.text == other.text
        return any(value - 1 in other.values for value in self.values)


def marker_of(line: Line) -> Marker | None:
    """The mark that ``line`` begins with, if words follow it."""
    runs = line.runs
    first = runs[0].text
    if first and first[0] in _BULLETS:
        return Marker(first[0], "bullet", ()) if len(runs) > 1 or len(first) > 1 else None
    if len(runs) < 2 or not runs[1].parted:
        return None
    if first in _DASHES:
        return Marker(first, f"bullet {first}", ())
    return numbered(first)


def numbered(word: str) -> Marker | None:
    """The mark that a word such as ``3.``, ``(b)`` or ``[12]`` is."""
    match = _NUMBERED.fullmatch(word)
    if match is None or (match["open"] == "[") != (match["close"] == "]"):
        return None
    label = match["label"]
    values: list[int] = []
    if label.isdigit():
        values.append(int(label))
    else:
        if len(label) == 1:
            values.append(ord(label.lower()) - ord("a") + 1)
        if re.fullmatch("[ivxlc]+", label.lower()):
            values.append(roman_value(label))
    form = "digits" if label.isdigit() else "upper" if label.isupper() else "letters"
    return Marker(word, f"{match['open'] or '_'}{form}{match['close']}", tuple(values))


def is_section_number(word: str) -> bool:
    """True for ``2``, ``2.1`` or ``A.3``."""
    return bool(_SECTION.fullmatch(word))


def join_marks(lines: Sequence[Line], body_size: float) -> None:
    """Take a mark and the text behind it for one part, however wide the gap between them."""
    for line in lines:
        if len(line.parts) < 2 or len(line.parts[0]) > 1 or not line.upright:
            continue
        mark = line.parts[0][0].text
        bullet = mark in _BULLETS or mark in _DASHES
        if bullet or numbered(mark) or _numbers_heading(line.parts, mark, body_size):
            line.parts = [line.parts[0] + line.parts[1], *line.parts[2:]]


def _numbers_heading(parts: list[list[Run]], mark: str, body_size: float) -> bool:
    """True if a section number stands before words that are set unlike the body."""
    first = parts[1][0]
    return (
        len(parts) == 2
        and is_section_number(mark)
        and first.text[:1].isalpha()
        and (first.style.bold or first.style.size > 1.05 * body_size)
    )
