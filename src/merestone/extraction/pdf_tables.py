"""Tables of a PDF page: ruled grids, tagged tables, and rows of text with wide gaps.

Cells are taken from what the file says (a grid of drawn lines, tags) or from wide gaps between
words of one line; none is made up. A line of text is never divided among two rows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_page import CellTag, PageTags, Rectangle, Rule, Run

_TOUCH = 2.5
"""Points within which two ruled lines meet, or are one."""
_MAX_RULES = 1_500
_MAX_CELL_CHARS = 2_000
"""A frame around more text than this in one cell is a page design, no table."""
_MAX_GRID_CELLS = 20_000
_ROWS_COMPARED = 12
_HEAD = re.compile(r"[^\W\d_]|\b(?:19|20)\d\d\b")
"""Heads are words or years, not figures."""
_MAX_HEADS = 5
_LABEL_WIDTH = 0.6
"""Share of a table's width that a row with one label may take."""
_EVEN = 0.75
"""Share of places taken, from which lines in the cells of one row are taken for rows."""


@dataclass(slots=True)
class Row:
    """Cells from left to right, each the lines that stand in it; an empty cell has none."""

    cells: list[list[Line]]
    header: bool = False

    @property
    def lines(self) -> list[Line]:
        return [line for cell in self.cells for line in cell]


@dataclass(slots=True)
class Table:
    """Rows from top to bottom."""

    page: int
    rows: list[Row]

    @property
    def columns(self) -> int:
        return max(len(row.cells) for row in self.rows)

    @property
    def lines(self) -> list[Line]:
        return [line for row in self.rows for line in row.lines]

    @property
    def box(self) -> Rectangle:
        boxes = [line.box for line in self.lines]
        return Rectangle(
            min(box.x0 for box in boxes),
            min(box.y0 for box in boxes),
            max(box.x1 for box in boxes),
            max(box.y1 for box in boxes),
        )


Item = Line | Table
"""What the flow of a page is made of."""


# Ruled grids


@dataclass(slots=True)
class _Grid:
    """Edges of columns and rows, and the ruled lines that are really there."""

    xs: list[float]
    ys: list[float]
    horizontal: list[Rule] = field(default_factory=list)
    vertical: list[Rule] = field(default_factory=list)

    @property
    def box(self) -> Rectangle:
        return Rectangle(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column of a point, those of its first part for a merged cell."""
        row, column = _interval(self.ys, y), _interval(self.xs, x)
        if row is None or column is None:
            return None
        return self.anchor(row, column)

    def anchor(self, row: int, column: int) -> tuple[int, int]:
        middle = (self.ys[row] + self.ys[row + 1]) / 2
        while column > 0 and not _drawn(self.vertical, self.xs[column], middle):
            column -= 1
        across = (self.xs[column] + self.xs[column + 1]) / 2
        while row > 0 and not _drawn(self.horizontal, self.ys[row], across):
            row -= 1
        return row, column

    def anchors(self) -> list[tuple[int, int]]:
        """Every cell once, by row and column."""
        rows, columns = len(self.ys) - 1, len(self.xs) - 1
        return sorted(
            {self.anchor(row, column) for row in range(rows) for column in range(columns)}
        )


def _interval(edges: Sequence[float], value: float) -> int | None:
    for index, (low, high) in enumerate(pairwise(edges)):
        if low <= value < high:
            return index
    return None


def _drawn(rules: Iterable[Rule], at: float, across: float) -> bool:
    return any(
        abs(rule.at - at) <= _TOUCH and rule.low - _TOUCH <= across <= rule.high + _TOUCH
        for rule in rules
    )


def take_ruled_tables(items: Sequence[Item], rules: Sequence[Rule]) -> list[Item]:
    """``items`` with a table in place of the lines that stand in a grid of drawn lines."""
    flow = list(items)
    for grid in _grids(rules):
        flow = _take_grid(flow, grid)
    return flow


def _take_grid(items: list[Item], grid: _Grid) -> list[Item]:
    cells: dict[tuple[int, int], list[Line]] = defaultdict(list)
    flow: list[Item] = []
    place: int | None = None
    page = 0
    for item in items:
        if isinstance(item, Table) or not item.upright or not _overlaps(item.box, grid.box):
            flow.append(item)
            continue
        inside, outside = _sort_into_cells(item, grid)
        for cell, line in inside:
            cells[cell].append(line)
        if inside and place is None:
            place, page = len(flow), item.page
        flow.extend(outside)
    rows: list[Row] = []
    anchors = grid.anchors()
    for row in range(len(grid.ys) - 1):
        own = [cells[anchor] for anchor in anchors if anchor[0] == row]
        if any(own):
            rows.extend(_unfold(Row(own)))
    if place is None or not _is_table(rows):
        return items
    _mark_bold_header(rows)
    flow.insert(place, Table(page, rows))
    return flow


def _unfold(row: Row) -> list[Row]:
    """The rows of text in a row of a grid whose lines are drawn only here and there.

    Wrapped text fills cells unevenly. Where nearly every cell has a line on each of three or more
    baselines, or two lines of figures, the lines are rows.
    """
    filled = [cell for cell in row.cells if cell]
    baselines = _distinct([line.baseline for cell in filled for line in cell], _TOUCH)
    if len(filled) < 3 or len(baselines) < 2:
        return [row]
    rows = [Row([[] for _ in row.cells]) for _ in baselines]
    for column, cell in enumerate(row.cells):
        for line in cell:
            nearest = min(
                range(len(baselines)), key=lambda index: abs(baselines[index] - line.baseline)
            )
            rows[nearest].cells[column].append(line)
    share = sum(bool(cell) for part in rows for cell in part.cells) / (len(filled) * len(rows))
    figures = sum(line.text[:1].isdigit() for line in row.lines) / len(row.lines)
    if share < _EVEN or (len(rows) == 2 and (share < 1 or figures < 0.5)):
        return [row]
    return rows


def _overlaps(one: Rectangle, other: Rectangle) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def _sort_into_cells(
    line: Line, grid: _Grid
) -> tuple[list[tuple[tuple[int, int], Line]], list[Line]]:
    """The line's runs by the cell in which their middle lies, and what lies in none."""
    groups: list[tuple[tuple[int, int] | None, list[Run]]] = []
    for run in line.runs:
        cell = grid.cell_at((run.x0 + run.x1) / 2, (run.y0 + run.y1) / 2)
        if groups and groups[-1][0] == cell:
            groups[-1][1].append(run)
        else:
            groups.append((cell, [run]))
    inside: list[tuple[tuple[int, int], Line]] = []
    outside: list[Line] = []
    for cell, runs in groups:
        part = line if len(groups) == 1 else line.part_of(runs)
        if cell is None:
            outside.append(part)
        else:
            inside.append((cell, part))
    return inside, outside


def _is_table(rows: Sequence[Row]) -> bool:
    filled = [sum(bool(cell) for cell in row.cells) for row in rows]
    if sum(count >= 2 for count in filled) < 2:
        return False
    longest = max(sum(len(line.text) for line in cell) for row in rows for cell in row.cells)
    return longest <= _MAX_CELL_CHARS


def _mark_bold_header(rows: list[Row]) -> None:
    """The first row is the header if it alone is set in bold."""
    if len(rows) > 1 and _is_bold(rows[0]) and not all(_is_bold(row) for row in rows[1:]):
        rows[0].header = True


def _is_bold(row: Row) -> bool:
    return all(line.bold for line in row.lines)


def _grids(rules: Sequence[Rule]) -> list[_Grid]:
    """Groups of ruled lines that cross, where they make at least two rows and two columns."""
    horizontal = _merged([rule for rule in rules if rule.horizontal])
    vertical = _merged([rule for rule in rules if not rule.horizontal])
    if len(horizontal) > _MAX_RULES or len(vertical) > _MAX_RULES:
        return []
    grids = []
    for rows, columns in _crossing_groups(horizontal, vertical):
        ys = _distinct(
            [rule.at for rule in rows]
            + [edge for rule in columns for edge in (rule.low, rule.high)]
        )
        xs = _distinct(
            [rule.at for rule in columns]
            + [edge for rule in rows for edge in (rule.low, rule.high)]
        )
        if len(xs) >= 3 and len(ys) >= 3 and len(xs) * len(ys) <= _MAX_GRID_CELLS:
            grids.append(_Grid(xs, ys, rows, columns))
    return grids


def _merged(rules: list[Rule]) -> list[Rule]:
    """Ruled lines on one level that overlap or touch become one."""
    found: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.at), rule.low)):
        last = found[-1] if found else None
        if last and abs(last.at - rule.at) <= 1.0 and rule.low <= last.high + _TOUCH:
            found[-1] = last._replace(high=max(last.high, rule.high))
        else:
            found.append(rule)
    return found


def _distinct(values: list[float], least: float = 2 * _TOUCH) -> list[float]:
    """The values in order, without those less than ``least`` above the one before."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > least:
            found.append(value)
    return found


def _crossing_groups(
    horizontal: list[Rule], vertical: list[Rule]
) -> list[tuple[list[Rule], list[Rule]]]:
    group = list(range(len(horizontal) + len(vertical)))

    def root(index: int) -> int:
        while group[index] != index:
            group[index] = group[group[index]]
            index = group[index]
        return index

    for i, row in enumerate(horizontal):
        for j, column in enumerate(vertical):
            if (
                row.low - _TOUCH <= column.at <= row.high + _TOUCH
                and column.low - _TOUCH <= row.at <= column.high + _TOUCH
            ):
                group[root(i)] = root(len(horizontal) + j)
    found: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for i, row in enumerate(horizontal):
        found[root(i)][0].append(row)
    for j, column in enumerate(vertical):
        found[root(len(horizontal) + j)][1].append(column)
    return [pair for pair in found.values() if pair[0] and pair[1]]


# Tagged tables


def take_tagged_tables(items: Sequence[Item], tags: PageTags) -> list[Item]:
    """``items`` with a table in place of the lines whose content is tagged as its cells."""
    flow: list[Item] = []
    cells: dict[int, dict[tuple[int, int], list[Line]]] = defaultdict(lambda: defaultdict(list))
    headers: dict[tuple[int, int], bool] = {}
    places: dict[int, tuple[int, int]] = {}
    for item in items:
        if isinstance(item, Table):
            flow.append(item)
            continue
        for tag, line in _by_tag(item, tags.cells):
            if tag is None:
                flow.append(line)
                continue
            places.setdefault(tag.table, (len(flow), item.page))
            cells[tag.table][tag.row, tag.cell].append(line)
            headers[tag.table, tag.row] = headers.get((tag.table, tag.row), True) and tag.header
    for table, (place, page) in sorted(places.items(), key=lambda entry: -entry[1][0]):
        rows = []
        for row, width in enumerate(tags.shapes[table]):
            own = [cells[table].get((row, cell), []) for cell in range(width)]
            if any(own):
                rows.append(Row(own, headers.get((table, row), False)))
        if not any(row.header for row in rows):
            _mark_bold_header(rows)
        flow.insert(place, Table(page, rows))
    return flow


def _by_tag(line: Line, tags: Mapping[int, CellTag]) -> list[tuple[CellTag | None, Line]]:
    groups: list[tuple[CellTag | None, list[Run]]] = []
    for run in line.runs:
        tag = tags.get(run.style.marked_content)
        if groups and groups[-1][0] == tag:
            groups[-1][1].append(run)
        else:
            groups.append((tag, [run]))
    if len(groups) == 1:
        return [(groups[0][0], line)]
    if not any(tag for tag, _ in groups):
        return [(None, line)]
    return [(tag, line.part_of(runs)) for tag, runs in groups]


# Rows with wide gaps


def take_gapped_tables(items: Sequence[Item], rules: Sequence[Rule]) -> list[Item]:
    """``items`` with a table in place of successive lines whose wide gaps are in line; other
    lines lose their gaps."""
    flow: list[Item] = []
    index = 0
    while index < len(items):
        item = items[index]
        if isinstance(item, Line) and len(item.parts) > 1 and item.upright:
            region = _region(items, index)
            if _is_gapped_table(region):
                index += len(region)
                flow.append(_gapped_table(_take_heads(flow, region) + region, rules))
                continue
        flow.append(item)
        index += 1
    return [
        piece for item in flow for piece in (item.flatten() if isinstance(item, Line) else [item])
    ]


def _take_heads(flow: list[Item], region: Sequence[Line]) -> list[Line]:
    """Take the lines off the end of ``flow`` that stand above the columns of a table beside its
    first one: heads of columns, such as years."""
    edge = _label_edge([line for line in region if len(line.parts) > 1])
    right = max(line.box.x1 for line in region)
    heads: list[Line] = []
    below = region[0]
    while flow and len(heads) < _MAX_HEADS:
        line = flow[-1]
        if (
            not isinstance(line, Line)
            or line.level is not None
            or line.page != below.page
            or not 0 < below.baseline - line.baseline <= 2.2 * below.size
            or line.box.x0 < edge
            or line.box.x1 > right + line.size
        ):
            break
        heads.insert(0, line)
        flow.pop()
        below = line
    return heads


def _label_edge(rows: Sequence[Line]) -> float:
    """Where the first column ends in half of the rows."""
    return median(part_box(row.parts[0]).x1 for row in rows)


def _region(items: Sequence[Item], start: int) -> list[Line]:
    """Lines from ``start`` on that share columns with those before, going down the page."""
    first = items[start]
    assert isinstance(first, Line)
    region = [first]
    rows = [[part_box(part) for part in first.parts]]
    for item in items[start + 1 :]:
        last = region[-1]
        if (
            not isinstance(item, Line)
            or not item.upright
            or not 0 < item.baseline - last.baseline <= 2.8 * max(item.size, last.size)
        ):
            break
        boxes = [part_box(part) for part in item.parts]
        if not _shares_columns(boxes, (rows[0], *rows[-_ROWS_COMPARED:]), item.size):
            break
        region.append(item)
        if len(boxes) > 1:
            rows.append(boxes)
        elif len(region) > 2 and all(len(line.parts) == 1 for line in region[-3:]):
            break
    while len(region) > 1 and len(region[-1].parts) == 1 and not _continues_cell(region):
        region.pop()
    return region


def _shares_columns(
    boxes: Sequence[Rectangle], rows: Sequence[Sequence[Rectangle]], size: float
) -> bool:
    """True if a part but the first stands below one of the rows', or if the line is a short label
    in the first column."""
    slack = 0.8 * size
    columns = [column for row in rows for column in row[1:]]
    later = boxes[1:] if len(boxes) > 1 else boxes
    if any(_aligned(box, column, slack) for box in later for column in columns):
        return True
    if len(boxes) > 1:
        return False
    left, right = min(row[0].x0 for row in rows), max(row[-1].x1 for row in rows)
    return -slack <= boxes[0].x0 - left <= 4 * size and boxes[0].x1 - left <= _LABEL_WIDTH * (
        right - left
    )


def part_box(part: Sequence[Run]) -> Rectangle:
    """The box around the runs of one part."""
    return Rectangle(
        min(run.x0 for run in part),
        min(run.y0 for run in part),
        max(run.x1 for run in part),
        max(run.y1 for run in part),
    )


def _aligned(one: Rectangle, other: Rectangle, slack: float) -> bool:
    return (
        abs(one.x0 - other.x0) <= slack
        or abs(one.x1 - other.x1) <= slack
        or abs((one.x0 + one.x1) - (other.x0 + other.x1)) <= 2 * slack
    )


def _continues_cell(region: Sequence[Line]) -> bool:
    last = region[-1]
    for line in reversed(region[:-1]):
        if len(line.parts) > 1:
            start = part_box(line.parts[-1]).x0
            return abs(last.box.x0 - start) <= 0.8 * last.size
    return False


def _is_gapped_table(region: Sequence[Line]) -> bool:
    rows = [line for line in region if len(line.parts) > 1]
    return len(rows) >= 3 or (len(rows) == 2 and all(len(row.parts) >= 3 for row in rows))


def _gapped_table(region: Sequence[Line], rules: Sequence[Rule]) -> Table:
    rows: list[Row] = []
    for line in region:
        cells = [[part] for part in line.split()]
        last = rows[-1] if rows else None
        if last is not None and len(cells) == 1 and len(last.cells) > 1:
            start = last.cells[-1][0].box.x0
            if abs(line.box.x0 - start) <= 0.8 * line.size:
                last.cells[-1].append(line)
                continue
        rows.append(Row(cells))
    table = Table(region[0].page, rows)
    _mark_heads(rows)
    if not rows[0].header:
        _mark_bold_header(rows)
    if not rows[0].header and len(rows) > 2 and _is_ruled_off(table, rules):
        rows[0].header = True
    return table


def _mark_heads(rows: list[Row]) -> None:
    """The first rows are the header if they leave the first column free."""
    edges = [row.lines[0].box.x1 for row in rows if len(row.cells) > 1]
    edge = median(edges)
    for row in rows[: min(_MAX_HEADS, len(rows) - 1)]:
        if row.lines[0].box.x0 < edge or not any(_HEAD.search(line.text) for line in row.lines):
            return
        row.header = True


def _is_ruled_off(table: Table, rules: Sequence[Rule]) -> bool:
    """True if a line is drawn below the first row and none below the rows after it."""

    def ruled_below(row: int) -> bool:
        top = max(line.baseline for line in table.rows[row].lines)
        bottom = min(line.baseline for line in table.rows[row + 1].lines)
        box = table.box
        return any(
            rule.horizontal
            and top - 1 <= rule.at <= bottom
            and min(rule.high, box.x1) - max(rule.low, box.x0) > 0.5 * (box.x1 - box.x0)
            for rule in rules
        )

    return ruled_below(0) and not any(ruled_below(row) for row in range(1, len(table.rows) - 1))
