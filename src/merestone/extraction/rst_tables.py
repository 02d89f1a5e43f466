"""Tables of reStructuredText: drawn as a grid, ruled, listed, or given as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from merestone.extraction.blocks import BlockTree, trimmed
from merestone.extraction.rst_lines import Lines, at_column
from merestone.types import Span

_GRID_TOP = re.compile(r"\+-[-+]*-\+")
_GRID_RULE = re.compile(r"\+[-=][-=+]*\+")
_SIMPLE_RULE = re.compile(r"=+(?: +=+)+")
_SPAN_RULE = re.compile(r"-+(?: +-+)*")
_RUN = re.compile(r"=+")
_BULLET = re.compile(r"[-*+•‣⁃](?:\s+|$)")


@dataclass(slots=True)
class Row:
    """One row: lines ``[first, last)``, and the span of each cell.

    A cell written over several lines is the span from its first word to its last, and may then
    hold words of the cells beside it.
    """

    first: int
    last: int
    cells: list[Span] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """Rows in order, of which the first ``headers`` are the header."""

    last: int
    """Number of the line behind the table."""
    columns: int
    rows: list[Row]
    headers: int = 0
    header_last: int = 0
    """Number of the line behind the header and the rule below it."""


def write_table(tree: BlockTree, lines: Lines, first: int, table: Table, handle: int) -> None:
    """Complete the open block ``handle`` with a table that begins in line ``first``."""
    draft = tree.draft(handle)
    if draft is None:
        return
    draft.attributes["columns"] = table.columns
    if table.headers:
        draft.attributes["header"] = [lines.places[first], lines.ends[table.header_last - 1]]
    for number, row in enumerate(table.rows):
        # The rule above the first row goes with it.
        start = lines.places[first if number == 0 else row.first]
        cells = [list(cell) for cell in row.cells]
        attributes = {"header": number < table.headers, "cells": cells}
        tree.add("table_row", start, lines.ends[row.last - 1], attributes=attributes)


def grid_table(lines: Lines, first: int, last: int) -> Table | None:
    """The table whose upper border is line ``first``; ``None`` if that is none."""
    top = lines.words[first]
    if not _GRID_TOP.fullmatch(top):
        return None
    end = first
    while end < last and lines.words[end][:1] in ("+", "|") and lines.words[end]:
        end += 1
    while end > first and not _GRID_RULE.fullmatch(lines.words[end - 1]):
        end -= 1
    if end - first < 3:
        return None
    rules = filter(_GRID_RULE.fullmatch, lines.words[first:end])
    columns = sorted({place for rule in rules for place, sign in enumerate(rule) if sign == "+"})
    table = Table(end, len(columns) - 1, [])
    begin = first + 1
    for index in range(first + 1, end):
        rule = lines.words[index]
        if not _GRID_RULE.fullmatch(rule):
            continue
        if index > begin:
            row = Row(begin, index)
            row.cells = _grid_cells(lines, row, columns)
            table.rows.append(row)
        if "=" in rule and not table.headers:
            table.headers, table.header_last = len(table.rows), index + 1
        begin = index + 1
    if table.headers == len(table.rows):
        table.headers = 0
    return table


def _grid_cells(lines: Lines, row: Row, columns: Sequence[int]) -> list[Span]:
    """Cells by the columns at which every line of the row has a bar."""
    cuts = []
    for index in range(row.first, row.last):
        words = lines.words[index]
        cuts.append([at_column(words, column) for column in columns])
    kept = [
        number
        for number in range(len(columns))
        if number in (0, len(columns) - 1)
        or all(
            lines.words[row.first + line][cut[number] : cut[number] + 1] in ("|", "+")
            for line, cut in enumerate(cuts)
        )
    ]
    return [
        _cell(lines, row, [(cut[kept[place]] + 1, cut[kept[place + 1]]) for cut in cuts])
        for place in range(len(kept) - 1)
    ]


def _cell(lines: Lines, row: Row, ranges: Sequence[tuple[int, int]]) -> Span:
    """Span from the first word to the last of a cell that has this range of each line."""
    start = end = -1
    for index, (low, high) in zip(range(row.first, row.last), ranges, strict=True):
        part = lines.words[index][low:high]
        words = part.strip()
        if not words:
            continue
        place = lines.places[index] + low + len(part) - len(part.lstrip())
        start = place if start < 0 else start
        end = place + len(words)
    if start < 0:
        place = min(lines.places[row.first] + ranges[0][0], lines.ends[row.first])
        return Span(place, place)
    return Span(start, end)


def simple_table(lines: Lines, first: int, last: int) -> Table | None:
    """The table whose upper rule is line ``first``; ``None`` if that is none."""
    top = lines.words[first]
    if not _SIMPLE_RULE.fullmatch(top):
        return None
    rules = _simple_rules(lines, first, last)
    if not rules:
        return None
    starts = [match.start() for match in _RUN.finditer(top)]
    table = Table(rules[-1] + 1, len(starts), [])
    for index in range(first + 1, rules[-1]):
        words = lines.words[index]
        if index == rules[0]:
            table.headers, table.header_last = len(table.rows), index + 1
            continue
        if not words or (_SPAN_RULE.fullmatch(words) and "--" in words):
            continue
        shift = lines.indents[index] - lines.indents[first]
        begins = shift < starts[1] if len(starts) > 1 else True
        if begins or not table.rows or table.rows[-1].last <= table.header_last:
            table.rows.append(Row(index, index + 1))
        else:
            table.rows[-1].last = index + 1
    for row in table.rows:
        row.cells = _simple_cells(lines, row, starts, lines.indents[first])
    if table.headers == len(table.rows):
        table.headers = 0
    return table if table.rows else None


def _simple_rules(lines: Lines, first: int, last: int) -> list[int]:
    """Lines of the rules below the upper one: of the header, if there is one, and the lower."""
    found: list[int] = []
    for index in range(first + 1, last):
        words = lines.words[index]
        if not words or not _SIMPLE_RULE.fullmatch(words):
            continue
        found.append(index)
        if len(found) == 2 or index + 1 >= last or not lines.words[index + 1]:
            return found
    return []


def _simple_cells(lines: Lines, row: Row, starts: Sequence[int], margin: int) -> list[Span]:
    ranges = []
    for index in range(row.first, row.last):
        words, shift = lines.words[index], lines.indents[index] - margin
        cuts = [at_column(words, max(0, start - shift)) for start in starts]
        ranges.append([*cuts, len(words)])
    return [
        _cell(lines, row, [(cuts[number], cuts[number + 1]) for cuts in ranges])
        for number in range(len(starts))
    ]


def list_table(lines: Lines, first: int, last: int, headers: int) -> Table | None:
    """The rows of a list of lists in lines ``[first, last)``."""
    first = lines.filled_from(first, last)
    table = Table(last, 0, [])
    margin = lines.indents[first] if first < last else 0
    index = first
    while index < last:
        match = _BULLET.match(lines.words[index])
        if match is None or lines.indents[index] != margin:
            return None
        end = lines.end_of(index + 1, last, margin + 1)
        row = Row(index, end)
        row.cells = list(_listed_cells(lines, index, end, match.end()))
        table.rows.append(row)
        table.columns = max(table.columns, len(row.cells))
        index = end
    if not table.rows:
        return None
    table.headers = headers if headers < len(table.rows) else 0
    table.header_last = table.rows[table.headers - 1].last if table.headers else 0
    return table


def _listed_cells(lines: Lines, first: int, last: int, skip: int) -> Iterator[Span]:
    """Cells of a row whose own marker takes the first ``skip`` signs."""
    begun: list[tuple[int, int]] = []
    column = -1
    for index in range(first, last):
        moved = skip if index == first else 0
        words = lines.words[index][moved:]
        if not words:
            continue
        here = lines.indents[index] + moved
        column = here if column < 0 else column
        match = _BULLET.match(words)
        if match is not None and here == column:
            begun.append((lines.places[index] + moved + match.end(), index))
    for number, (place, index) in enumerate(begun):
        following = begun[number + 1][1] if number + 1 < len(begun) else last
        end = lines.ends[following - 1] if following > index else place
        yield Span(min(place, end), end)


def csv_table(
    text: str, lines: Lines, first: int, last: int, headers: int, delimiter: str = ","
) -> Table | None:
    """The records in lines ``[first, last)``; quotes may hold several lines together."""
    table = Table(last, 0, [])
    index = first
    while index < last:
        if not lines.words[index]:
            index += 1
            continue
        row = Row(index, _record_end(lines, index, last))
        row.cells = list(csv_cells(text, lines.places[index], lines.ends[row.last - 1], delimiter))
        table.rows.append(row)
        table.columns = max(table.columns, len(row.cells))
        index = row.last
    if not table.rows:
        return None
    table.headers = headers if headers < len(table.rows) else 0
    table.header_last = table.rows[table.headers - 1].last if table.headers else 0
    return table


_LONGEST_RECORD = 100
"""Lines; a quote that is open for longer is taken for a sign like any other."""


def _record_end(lines: Lines, first: int, last: int) -> int:
    quotes = 0
    for index in range(first, min(last, first + _LONGEST_RECORD)):
        quotes += lines.words[index].count('"')
        if quotes % 2 == 0:
            return index + 1
    return first + 1


def csv_cells(text: str, start: int, end: int, delimiter: str = ",") -> Iterator[Span]:
    """Cells of the record ``text[start:end]``, without the quotes around them."""
    pattern = re.compile(rf'\s*(?:"(?:[^"]|"")*")?[^{re.escape(delimiter)}]*')
    while start <= end:
        match = pattern.match(text, start, end)
        stop = match.end() if match else start
        low, high = trimmed(text, start, stop)
        if high - low > 1 and text[low] == text[high - 1] == '"':
            low, high = low + 1, high - 1
        yield Span(low, high)
        start = stop + 1
