"""Reading order: columns that a file draws row by row across the page.

PDFium keeps the order of the file's content, which is right where a program wrote one column
after the other. Where it wrote rows across, each line holds a piece of every column; the pieces
stand apart by a gutter that repeats on line after line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_page import Run
from merestone.extraction.pdf_tables import Item, part_box

_MIN_ROWS = 3
_NARROW_GUTTER = 2.0
"""em; a narrower gutter must repeat on more lines."""
_MIN_NARROW_ROWS = 5
_MAX_TRIALS = 60
_MIN_GUTTER = 0.8
_MIN_WORDS = 3.5
"""Mean words of a line in a column of prose; cells of a table have fewer."""
_MIN_FILL = 0.55
"""Mean share of a column's width that its lines take."""


class _Gap(NamedTuple):
    low: float
    high: float


def order_columns(items: Sequence[Item]) -> list[Item]:
    """``items`` with columns that were drawn row by row put one after the other."""
    flow: list[Item] = []
    index = tried = 0
    while index < len(items):
        region, gutters = _region(items, index) if index >= tried else ([], [])
        columns = _columns(region, gutters) if gutters else []
        if columns:
            for column in columns:
                flow.extend(column)
            index += len(region)
        else:
            if len(region) > _MAX_TRIALS:
                # Another start within a long region hardly helps, and would cost its square.
                tried = index + len(region)
            flow.append(items[index])
            index += 1
    return flow


def _region(items: Sequence[Item], start: int) -> tuple[list[Line], list[_Gap]]:
    """Lines from ``start`` on that leave a common gutter free, and their gutters."""
    first = items[start]
    if not isinstance(first, Line) or len(first.parts) < 2 or not first.upright:
        return [], []
    region, gaps = [first], _inner_gaps(first)
    for item in items[start + 1 :]:
        if not isinstance(item, Line) or not item.upright or item.baseline <= region[-1].baseline:
            break
        left = _still_free(gaps, item)
        if not left:
            break
        region.append(item)
        gaps = left
    while len(region) > 1 and len(region[-1].parts) == 1 and not _stands_beside(region):
        region.pop()
    return region, gaps


def _stands_beside(region: Sequence[Line]) -> bool:
    """True if the last line lies within the lines above it, not just below a table of contents."""
    last, before = region[-1], region[-2]
    return last.baseline - before.baseline <= 1.6 * max(last.size, before.size)


def _inner_gaps(line: Line) -> list[_Gap]:
    boxes = sorted(part_box(part)[::2] for part in line.parts)
    return [
        _Gap(left[1], right[0])
        for left, right in pairwise(boxes)
        if right[0] - left[1] >= _MIN_GUTTER * line.size
    ]


def _still_free(gaps: Sequence[_Gap], line: Line) -> list[_Gap]:
    """What of the gaps no part of ``line`` reaches into."""
    found: list[_Gap] = []
    boxes = [part_box(part) for part in line.parts]
    for low, high in gaps:
        for box in boxes:
            if box.x0 < (low + high) / 2 < box.x1 or (box.x0 <= low and box.x1 >= high):
                low = high
                break
            if box.x1 > low and box.x0 < low:
                low = box.x1
            elif box.x0 < high and box.x1 > high:
                high = box.x0
        if high - low >= _MIN_GUTTER * line.size:
            found.append(_Gap(low, high))
    return found


def _columns(region: Sequence[Line], gutters: Sequence[_Gap]) -> list[list[Line]]:
    """The lines by column, if the gutters part columns of prose; else nothing."""
    rows = [line for line in region if len(line.parts) > 1]
    size = rows[0].size
    narrow = min(gap.high - gap.low for gap in gutters) < _NARROW_GUTTER * size
    if len(rows) < (_MIN_NARROW_ROWS if narrow else _MIN_ROWS):
        return []
    columns: list[list[tuple[Line, list[Run]]]] = [[] for _ in range(len(gutters) + 1)]
    for line in region:
        for part in line.parts:
            box = part_box(part)
            middle = (box.x0 + box.x1) / 2
            columns[sum(middle > gap.low for gap in gutters)].append((line, part))
    if not all(_is_prose([part for _, part in column]) for column in columns):
        return []
    return [[line.part_of(part) for line, part in column] for column in columns]


def _is_prose(column: Sequence[Sequence[Run]]) -> bool:
    if len(column) < _MIN_ROWS:
        return False
    words = sum(len(part) for part in column) / len(column)
    if words < _MIN_WORDS:
        return False
    boxes = [part_box(part) for part in column]
    width = max(box.x1 for box in boxes) - min(box.x0 for box in boxes)
    filled = sum(box.x1 - box.x0 for box in boxes) / len(boxes)
    return filled >= _MIN_FILL * width
