"""Rows and fields of text that a delimiter divides (RFC 4180, read leniently), as places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from merestone.text.white_space import stripped

NO_DELIMITER = "\n"
"""Delimiter of a file of one column: it never stands within a line."""

_LINE_END = re.compile(r"\r\n|\n|\r|\Z")
_SPACES = re.compile(r" *")
_QUOTED = re.compile(r'(?:[^"]++|"")*+')
"""From behind an opening quote to the next quote that is not doubled, or to the end."""
_WHOLE_QUOTED = r'"(?:[^"]++|"")*+"'
_QUOTED_FIELD = re.compile(_WHOLE_QUOTED)
_QUOTED_SHORT = re.compile(r'"[^"\r\n]*+"')


class Row(NamedTuple):
    """One row, ``text[start:end]``, without white space around it."""

    start: int
    end: int
    fields: int
    cells: list[list[int]]
    """Start and end of each field, without quotes and white space around; of the first alone
    once ``max_cells`` are read."""


class RowReader:
    """Goes through ``text`` once, row by row; blank lines are no rows.

    A field that begins with a quote may hold delimiters and line ends up to the quote that closes
    it, behind which the field ends. Where that quote is missing the opening one is an ordinary
    sign, so that a quote that someone forgot takes no other rows in.
    """

    def __init__(self, text: str, delimiter: str, *, max_cells: int) -> None:
        self._text = text
        self._delimiter = delimiter
        self._well_formed = _well_formed_row(delimiter) if delimiter != NO_DELIMITER else None
        self._cells_left = max_cells
        self._searched = 0
        """How far the search for a closing quote went in vain. Nothing before is searched again,
        or a file of opening quotes would be read once for each."""
        self.unclosed: list[int] = []
        """Places of the opening quotes that no quote closes."""

    @property
    def is_complete(self) -> bool:
        """True if every row so far has all its cells."""
        return self._cells_left >= 0

    def __iter__(self) -> Iterator[Row]:
        text, length = self._text, len(self._text)
        position = 0
        quote = text.find('"')
        while position < length:
            line_end = self._line_end(position)
            if position <= quote < line_end:
                found = self._skim_quoted(position)
                row, line_end = found or self._read_quoted(position, line_end)
            else:
                row = self._read_plain(position, line_end)
            if row is not None:
                self._cells_left -= row.fields
                yield row
            position = line_end + 1 + text.startswith("\r\n", line_end)
            if 0 <= quote < position:
                quote = text.find('"', position)

    def _line_end(self, position: int) -> int:
        match = _LINE_END.search(self._text, position)
        return match.start() if match else len(self._text)

    def _read_plain(self, start: int, line_end: int) -> Row | None:
        """The row of a line without quotes."""
        line = self._text[start:line_end]
        bare = line.strip()
        if not bare:
            return None
        if self._cells_left >= 0:
            parts = line.split(self._delimiter)
            fields = len(parts)
        else:
            parts = line.split(self._delimiter, 1)[:1]
            fields = line.count(self._delimiter) + 1
        cells = []
        place = start
        for part in parts:
            content = part.strip()
            if len(content) == len(part):
                cells.append([place, place + len(part)])
            else:
                low = place + len(part) - len(part.lstrip()) if content else place
                cells.append([low, low + len(content)])
            place += len(part) + 1
        if len(bare) == len(line):
            return Row(start, line_end, fields, cells)
        first = start + len(line) - len(line.lstrip())
        last = first + len(bare)
        return Row(first, last, fields, _within(cells, first, last))

    def _skim_quoted(self, start: int) -> tuple[Row, int] | None:
        """As :meth:`_read_quoted`, in one step, for a row that keeps the rules and whose cells
        nobody asks for; ``None`` for others."""
        if self._well_formed is None or self._cells_left >= 0 or start < self._searched:
            return None
        match = self._well_formed.match(self._text, start)
        if match is None:
            return None
        row, line_end = match[0], match.end()
        fields = _QUOTED_FIELD.sub("", row).count(self._delimiter) + 1
        first, last = stripped(self._text, start, line_end)
        opening = self._behind_spaces(start)
        quoted = _QUOTED_FIELD.match(self._text, opening)
        if quoted is not None:
            cell = list(stripped(self._text, opening + 1, quoted.end() - 1))
        else:
            end = self._text.find(self._delimiter, start, line_end)
            cell = list(stripped(self._text, start, end))
        return Row(first, last, fields, _within([cell], first, last)), line_end

    def _read_quoted(self, start: int, line_end: int) -> tuple[Row | None, int]:
        """The row that begins at ``start``, and the end of its last line."""
        text = self._text
        cells: list[list[int]] = []
        place = start
        while True:
            opening = self._behind_spaces(place)
            closing = self._closing(opening, line_end) if text.startswith('"', opening) else None
            if closing is not None:
                cells.append(list(stripped(text, opening + 1, closing)))
                if closing > line_end:
                    line_end = self._line_end(closing)
                end = self._behind_spaces(closing + 1)
            else:
                end = text.find(self._delimiter, place, line_end)
                end = line_end if end < 0 else end
                cells.append(list(stripped(text, place, end)))
            if end >= line_end:
                break
            place = end + 1
        first, last = stripped(text, start, line_end)
        if first >= last:
            return None, line_end
        kept = cells if self._cells_left >= 0 else cells[:1]
        return Row(first, last, len(cells), _within(kept, first, last)), line_end

    def _behind_spaces(self, place: int) -> int:
        match = _SPACES.match(self._text, place)
        return match.end() if match else place

    def _closing(self, opening: int, line_end: int) -> int | None:
        """Place of the quote that closes the field which the one at ``opening`` begins.

        Quotes that nobody doubled are part of a field if they stand in its first line.
        """
        if opening < self._searched:
            short = _QUOTED_SHORT.match(self._text, opening)
            return short.end() - 1 if short and self._ends_field(short.end()) else None
        place = opening
        while True:
            match = _QUOTED.match(self._text, place + 1)
            assert match is not None
            place = match.end()
            if place < len(self._text) and self._ends_field(place + 1):
                return place
            if place >= line_end:
                self._searched = place
                self.unclosed.append(opening)
                return None

    def _ends_field(self, place: int) -> bool:
        """True if nothing but spaces stands between ``place`` and the end of a field."""
        following = self._text[place : place + 1]
        if following == " ":
            place = self._behind_spaces(place)
            following = self._text[place : place + 1]
        return following in ("", "\r", "\n", self._delimiter)


def _well_formed_row(delimiter: str) -> re.Pattern[str]:
    """A row whose quotes stand only around fields, and doubled inside such fields."""
    sign = re.escape(delimiter)
    field = rf' *{_WHOLE_QUOTED} *|[^{sign}"\r\n]*+'
    return re.compile(rf"(?:{field})(?:{sign}(?:{field}))*+(?=[\r\n]|\Z)")


def _within(cells: list[list[int]], start: int, end: int) -> list[list[int]]:
    """The cells inside a row: empty ones at its ends can lie in the white space around it."""
    for cell in cells:
        if cell[0] >= start:
            break
        cell[0] = start
        cell[1] = max(start, cell[1])
    for cell in reversed(cells):
        if cell[1] <= end:
            break
        cell[1] = end
        cell[0] = min(cell[0], end)
    return cells
