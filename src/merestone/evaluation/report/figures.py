"""The plots of the page, each with what it shows and its figures in words."""

from __future__ import annotations

from merestone.evaluation.measures.spans import at
from merestone.evaluation.measures.units import family
from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.front import front
from merestone.evaluation.report.markup import Markup, element, user_text
from merestone.evaluation.report.measure_tables import front_table
from merestone.evaluation.report.plots import Mark, front_plot, interval_plot
from merestone.evaluation.report.svg import swatch
from merestone.evaluation.report.views import (
    COVERAGE,
    FULL,
    MEANINGS,
    PRECISION,
    label,
    told,
    view_of,
)
from merestone.evaluation.report.words import asked_of, of_common

_CROWD = 6
"""From so many runs on, plots show the main view alone."""


def figures(report: Report) -> list[Markup]:
    """The plots, and before them a legend where there are several runs; empty if nothing can be
    drawn."""
    crowded = len(report.columns) > _CROWD
    found: list[Markup | None] = []
    for kind in (FULL, COVERAGE, PRECISION):
        rows = [
            (label(view_of(row.name)), _marks(report, row.name))
            for row in report.measures
            if family(row.name) == kind and (not crowded or view_of(row.name) == report.main)
        ]
        if any(marks for _, marks in rows):
            svg = interval_plot(kind, rows, unit="%")
            found.append(_figure(kind, MEANINGS[kind], svg, _told_marks(kind, rows)))
    found += _difference_plots(report)
    found.append(_front_plot(report))
    plots = [figure for figure in found if figure]
    return [_legend(report), *plots] if plots and len(report.columns) > 1 else plots


def _front_plot(report: Report) -> Markup | None:
    """Quality against tokens; of one run with what stands on the front beside it."""
    points = front(report)
    if len({point.tokens for point in points}) < 2:
        return None
    svg = front_plot(points, [column.letter for column in report.columns])
    quality = " ".join(filter(None, [COVERAGE, of_common(report)]))
    note = f"{quality} by the tokens that it takes; the dashed line joins what nothing beats"
    plot = _figure("Quality against tokens", note, svg, f"Quality against tokens. {note}.")
    if len(report.columns) > 1:
        return plot
    return element("div", plot, front_table(report), class_="beside")


def _difference_plots(report: Report) -> list[Markup]:
    first = report.columns[0].letter
    figures = []
    for kind in (FULL, COVERAGE):
        name = at(kind, report.main)
        marks = [
            (
                report.columns[d.column].letter,
                [
                    Mark(
                        d.column,
                        "",
                        d.difference.mean,
                        d.difference.wide_low,
                        d.difference.wide_high,
                    )
                ],
            )
            for d in report.contrasts
            if d.measure == name and not d.group
        ]
        if marks:
            title = f"{kind}: difference to {first}"
            note = f"question by question, {told(report.main)}; the intervals hold all at once"
            svg = interval_plot(f"difference {kind}", marks, unit="%", zero=True)
            figures.append(_figure(title, note, svg, _told_marks(title, marks)))
    return figures


def _marks(report: Report, name: str) -> list[Mark]:
    row = report.measure(name)
    single = len(report.columns) == 1
    return [
        Mark(place, "" if single else column.letter, cell.mean, cell.low, cell.high)
        for place, column in enumerate(report.columns)
        if row and (cell := row.cells[place]) is not None
    ]


def _told_marks(name: str, rows: list[tuple[str, list[Mark]]]) -> str:
    """A plot in words, for who cannot see it."""
    parts = [
        f"{text} {mark.letter} {mark.mean * 100:.1f} "
        f"({mark.low * 100:.1f} to {mark.high * 100:.1f})"
        for text, marks in rows
        for mark in marks
    ]
    return f"{name}, in per cent with 95 % intervals: {'; '.join(parts)}."


def _legend(report: Report) -> Markup:
    items = [
        element(
            "li",
            swatch(place),
            element("b", column.letter),
            " ",
            user_text(column.name),
            asked_of(report, column),
        )
        for place, column in enumerate(report.columns)
    ]
    return element("ul", *items, class_="legend")


def _figure(title: str, note: str, svg: Markup, in_words: str) -> Markup:
    return element(
        "figure",
        element("figcaption", element("b", title), element("small", note)),
        element("div", svg, role="img", aria_label=in_words),
    )
