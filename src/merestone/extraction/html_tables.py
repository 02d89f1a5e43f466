"""The grid of an HTML table while its rows are read."""

from __future__ import annotations

from dataclasses import dataclass, field

_MAX_SPAN = 50
"""Columns or rows that one merged cell is given at most."""
_MAX_COLUMNS = 500
"""Columns of a row beyond which a merged cell is given only one."""


@dataclass(slots=True)
class Cell:
    """A cell that is open; it has no ``start`` before its first text."""

    columns: int
    rows: int
    start: int | None = None


@dataclass(slots=True)
class Row:
    """A row as far as it is read. A merged cell is named at each place of the grid it covers."""

    handle: int
    """Of its block; -1 if it has none."""
    cells: list[list[int]] = field(default_factory=list)
    seen: int = 0
    """Cells that began in it."""
    all_headers: bool = True


@dataclass(slots=True)
class Table:
    """A table that is open.

    ``layout``: it only lays out the page. ``header``: span of the rows that head it; ``body_seen``
    tells whether a row followed them.
    """

    handle: int
    layout: bool
    in_head: bool = False
    row: Row | None = None
    columns: int = 0
    header: list[int] | None = None
    body_seen: bool = False
    _carried: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    """Cells that reach down from rows above, by column: rows left and span."""

    def begin_cell(self, *, header: bool, columns: int, rows: int) -> Cell:
        """A cell of the current row, with the columns and rows it says that it covers."""
        if self.row is not None:
            self.row.seen += 1
            self.row.all_headers = self.row.all_headers and header
        return Cell(min(max(columns, 1), _MAX_SPAN), min(max(rows, 1), _MAX_SPAN))

    def end_cell(self, cell: Cell, end: int) -> None:
        """Give the cell its places in the current row."""
        if self.row is None:
            return
        span = [end if cell.start is None else cell.start, end]
        cells = self.row.cells
        self._take_carried(cells)
        for _ in range(cell.columns if len(cells) < _MAX_COLUMNS else 1):
            if cell.rows > 1:
                self._carried[len(cells)] = (cell.rows, span)
            cells.append(span)

    def end_row(self, start: int, end: int) -> tuple[Row, bool] | None:
        """The row that ends, and whether it is a header row; ``None`` if none was open."""
        row = self.row
        if row is None:
            return None
        self._take_carried(row.cells)
        self._carried = {
            column: (rows - 1, span) for column, (rows, span) in self._carried.items() if rows > 1
        }
        self.columns = max(self.columns, len(row.cells))
        header = row.seen > 0 and (row.all_headers or self.in_head)
        if header and not self.body_seen:
            self.header = [self.header[0] if self.header else start, end]
        self.body_seen = self.body_seen or not header
        self.row = None
        return row, header

    def _take_carried(self, cells: list[list[int]]) -> None:
        """Give the row the cells that reach down into it at its next columns."""
        while len(cells) in self._carried:
            cells.append(self._carried[len(cells)][1])
