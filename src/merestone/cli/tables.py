"""Tables for people."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table

_WIDTH = 100


def printed(parts: Iterator[RenderableType]) -> str:
    """Texts and tables as wide as the terminal, without colours."""
    file = io.StringIO()
    console = Console(
        file=file,
        width=width(),
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()).strip()


def width() -> int:
    """Columns of the terminal, within reason."""
    return max(60, min(160, shutil.get_terminal_size((_WIDTH, 24)).columns))


def measure_title(name: str) -> str:
    """``GoldCoverage@1000t`` as the head of a column: two lines, of which none has to be cut."""
    return name.replace("@", "\n@")


def measure_row(name: str) -> str:
    """``GoldCoverage@1000t`` at the head of a row, on two lines where there is little room."""
    return name if width() >= _WIDTH else measure_title(name)


def simple_table(*titles: str, numbers: Sequence[int] = ()) -> Table:
    """``numbers`` are the columns that are set to the right."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, title in enumerate(titles):
        is_number = place in numbers
        table.add_column(
            title,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_number,
        )
    return table
