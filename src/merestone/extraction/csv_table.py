"""The table that a CSV file is: its rows, the row that names the columns, the keys of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from merestone.extraction.csv_dialect import find_delimiter
from merestone.extraction.csv_header import is_header
from merestone.extraction.csv_rows import Row, RowReader
from merestone.types import JSON, Block, DocumentWarning

MAX_CELLS = 50_000
"""A table of more cells has rows without ``cells``: the places would take more than the text."""

_SAMPLE_ROWS = 50
"""Rows below the first by which the header is told."""
_MAX_PREAMBLE = 20
_LONGEST_KEY = 80
_LINE_END = re.compile(r"\r\n|\n|\r")


def table_blocks(
    text: str, media_type: str
) -> tuple[tuple[Block, ...], tuple[DocumentWarning, ...]]:
    """One ``table`` with a ``table_row`` for each row, and what a reader should be warned of.

    Lines before the table and behind it that fill no columns are in no block.
    """
    tabs = media_type == "text/tab-separated-values" and "\t" in text
    reader = RowReader(text, "\t" if tabs else find_delimiter(text), max_cells=MAX_CELLS)
    rows = list(reader)
    if not rows:
        return (), ()
    columns = _usual_width(rows)
    rows = rows[_preamble(rows, columns) :]
    rows = rows[: len(rows) - _postscript(text, rows, columns)]
    header = _has_header(text, rows)
    keys = _keys(text, rows[header:], columns)
    blocks = _blocks(rows, columns, header=header, keys=keys, with_cells=reader.is_complete)
    return blocks, _warnings(text, rows, columns, reader.unclosed)


def _usual_width(rows: Sequence[Row]) -> int:
    """Number of fields that most rows have, the larger number of two as common."""
    widths = Counter(row.fields for row in rows)
    return max(widths, key=lambda width: (widths[width], width))


def _preamble(rows: Sequence[Row], columns: int) -> int:
    """Rows before the table: a title, a date, remarks. None if all rows look like that."""
    if columns < 2:
        return 0
    for index, row in enumerate(rows[: _MAX_PREAMBLE + 1]):
        filled = sum(start < end for start, end in row.cells)
        if row.fields * 2 > columns and (filled > 1 or row.fields == columns == 2):
            return index
    return 0


def _postscript(text: str, rows: Sequence[Row], columns: int) -> int:
    """Rows behind the table: remarks of one field, parted from it by a blank line."""
    remarks = list(takewhile(lambda row: row.fields == 1, reversed(rows)))[: _MAX_PREAMBLE + 1]
    if columns < 2 or not 0 < len(remarks) <= min(_MAX_PREAMBLE, len(rows) - 1):
        return 0
    between = text[rows[-1 - len(remarks)].end : remarks[-1].start]
    return len(remarks) if len(_LINE_END.findall(between)) > 1 else 0


def _has_header(text: str, rows: Sequence[Row]) -> bool:
    sample = [[text[start:end] for start, end in row.cells] for row in rows[: _SAMPLE_ROWS + 1]]
    return is_header(sample[0], sample[1:])


def _keys(text: str, rows: Sequence[Row], columns: int) -> list[str] | None:
    """The cells of the first column if no two are alike and none is empty or long."""
    if columns < 2 or len(rows) < 2:
        return None
    keys: list[str] = []
    for row in rows:
        start, end = row.cells[0]
        if not 0 < end - start <= _LONGEST_KEY:
            return None
        keys.append(text[start:end].replace('""', '"'))
    return keys if len(set(keys)) == len(keys) else None


def _blocks(
    rows: Sequence[Row],
    columns: int,
    *,
    header: bool,
    keys: list[str] | None,
    with_cells: bool,
) -> tuple[Block, ...]:
    attributes: dict[str, JSON] = {"columns": columns}
    if header:
        attributes["header"] = [rows[0].start, rows[0].end]
    blocks = [Block("table", rows[0].start, rows[-1].end, attributes=attributes)]
    for index, row in enumerate(rows):
        own: dict[str, JSON] = {"header": header and index == 0}
        if with_cells:
            own["cells"] = row.cells
        if keys is not None and index >= header:
            own["key"] = keys[index - header]
        blocks.append(Block("table_row", row.start, row.end, None, 0, "body", own))
    return tuple(blocks)


def _warnings(
    text: str, rows: Sequence[Row], columns: int, unclosed: Sequence[int]
) -> tuple[DocumentWarning, ...]:
    found: list[DocumentWarning] = []
    ragged = [row for row in rows if row.fields != columns]
    if ragged:
        found.append(
            DocumentWarning(
                "csv-ragged",
                f"{len(ragged):,} of {len(rows):,} rows have more or fewer than {columns} fields, "
                f"the first of them in line {_line(text, ragged[0].start)}.",
            )
        )
    if unclosed:
        found.append(
            DocumentWarning(
                "csv-quote-open",
                f"A quote in line {_line(text, unclosed[0])} is closed nowhere ({len(unclosed):,} "
                "such). It was read as an ordinary sign, so each line there is a row.",
            )
        )
    return tuple(found)


def _line(text: str, place: int) -> int:
    return len(_LINE_END.findall(text, 0, place)) + 1
