"""What the tables of the page are made of."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.evaluation.report.contents import Column, Report, Row
from merestone.evaluation.report.markup import Markup, element, joined
from merestone.evaluation.report.svg import swatch
from merestone.evaluation.report.words import bounds, figure
from merestone.evaluation.runs.values import Interval

NONE = element("span", "–", class_="none")


def scroll(table: Markup, name: str) -> Markup:
    """A table that is wider than its room scrolls in a box of its own, by keyboard too."""
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=name)


def sheet(caption: str, head: Sequence[Markup], *bodies: Markup, class_: str) -> Markup:
    """A table with a caption that is read out, in a box that it scrolls in."""
    return scroll(
        element(
            "table",
            element("caption", caption, class_="hidden"),
            element("thead", element("tr", *head)),
            *bodies,
            class_=class_,
        ),
        caption,
    )


def badge(column: Column, place: int) -> Markup:
    """The letter of a run with its mark."""
    return element("span", swatch(place), column.letter, class_="badge")


def heads_of(
    first: str, report: Report, class_: str = "num", of_one: str = "Value"
) -> list[Markup]:
    """The head of the first column, and one for each run; ``of_one`` where there is one run."""
    single = len(report.columns) == 1
    return [
        element("th", first, scope="col"),
        *(
            element(
                "th",
                of_one if single else badge(column, place),
                scope="col",
                class_=class_ or None,
                title=None if single else column.name,
            )
            for place, column in enumerate(report.columns)
        ),
    ]


def cells_of(row: Row, columns: Sequence[Column]) -> list[Markup]:
    return [
        element("td", counted_interval(row, place), class_="num") for place in range(len(columns))
    ]


def counted_interval(row: Row, place: int) -> Markup:
    """The interval of a run, with the number of its questions where that is not the others'."""
    cell = row.cells[place]
    count = f"n = {cell.count:,}" if cell is not None and len(row.counts) > 1 else None
    return joined(interval(row.name, cell), element("small", count) if count else None)


def interval(name: str, cell: Interval | None) -> Markup:
    if cell is None:
        return NONE
    return joined(element("b", figure(name, cell.mean)), element("small", bounds(name, cell)))
