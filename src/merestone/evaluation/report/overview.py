"""What is looked at first: how the runs fared, and why questions were missed."""

from __future__ import annotations

from merestone.evaluation.measures.units import family, unit_of
from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.markup import Markup, element, joined, user_text
from merestone.evaluation.report.tables import NONE, badge, counted_interval, heads_of, sheet
from merestone.evaluation.report.views import (
    COVERAGE,
    FULL,
    MEANINGS,
    PRECISION,
    TOKENS,
    label,
    view_of,
)
from merestone.evaluation.report.words import (
    bounds,
    failure_name,
    figure,
    percent,
    probability,
)
from merestone.evaluation.runs.failures import FAILURES
from merestone.evaluation.statistics.verdicts import BOTH, rounded_up

_LEADING = (FULL, COVERAGE, PRECISION, TOKENS)
"""What is looked at first."""


def overview_table(report: Report) -> Markup | None:
    """One line a run: what matters most, and how far it is from the first one."""
    measures = [row for name in report.in_main(*_LEADING) if (row := report.measure(name))]
    compared = any(each.group == "" for each in report.contrasts)
    if not measures and not compared:
        return None
    heads: list[Markup | str] = ["Configuration", *(_head(row.name) for row in measures)]
    if compared:
        heads += [joined("Against ", report.columns[0].letter), "Verdict"]
    rows = []
    for place, column in enumerate(report.columns):
        cells = [element("td", counted_interval(row, place), class_="num") for row in measures]
        if compared:
            cells += _against(report, place)
        name = element("span", badge(column, place), user_text(column.name), class_="run")
        rows.append(element("tr", element("th", name, scope="row"), *cells))
    return sheet(
        "Configurations",
        [element("th", each, scope="col") for each in heads],
        element("tbody", *rows),
        class_="overview",
    )


def _against(report: Report, place: int) -> list[Markup]:
    """Difference and verdict of a run, in the measure that the comparison is about."""
    if place == 0:
        return [element("td", NONE, class_="num"), element("td", "the baseline", class_="quiet")]
    found = report.deciding(place)
    if found is None:
        return [element("td", NONE, class_="num"), element("td", "not compared", class_="quiet")]
    given, name = found.difference, found.measure
    unit = unit_of(name)
    between = (
        f"{unit.change(given.low)} to {unit.change(given.high)}, p {probability(given.adjusted_p)}"
    )
    told = joined(
        element("b", unit.named_change(given.mean)),
        element("small", "the same on every question" if given.is_tie else between),
    )
    needed = found.verdict.needed
    verdict = joined(
        found.verdict.kind,
        element("small", f"about {rounded_up(needed)} questions would tell") if needed else None,
        element("small", BOTH) if given.is_disputed else None,
    )
    return [element("td", told, class_="num"), element("td", verdict)]


def _head(name: str) -> Markup:
    return joined(family(name), element("small", label(view_of(name))))


def tiles(report: Report) -> Markup | None:
    """The figures of one run that matter most."""
    tiles = []
    for name in report.in_main(*_LEADING):
        row = report.measure(name)
        cell = row.cells[0] if row else None
        if cell is None:
            continue
        tiles.append(
            element(
                "div",
                element("dt", name),
                element("dd", figure(name, cell.mean), class_="figure"),
                element("dd", f"95 % interval {bounds(name, cell)}", class_="quiet"),
                element("dd", MEANINGS[family(name)]),
            )
        )
    return element("dl", *tiles, class_="tiles") if tiles else None


def failures_table(report: Report) -> Markup | None:
    """Why questions were missed, with bars."""
    if not report.failures:
        return None
    most = max(max(counts) for _, counts in report.failures)
    rows = [
        element(
            "tr",
            element(
                "th",
                failure_name(name),
                element("small", meaning) if (meaning := FAILURES.get(name)) else None,  # type: ignore[call-overload]
                scope="row",
            ),
            *(
                element("td", _bar(count, most, place), class_="bar")
                for place, count in enumerate(counts)
            ),
        )
        for name, counts in report.failures
    ]
    return sheet(
        "Why questions were missed",
        heads_of("Cause", report, "", "Questions"),
        element("tbody", *rows),
        class_="failures",
    )


def _bar(count: int, most: int, place: int) -> Markup:
    """A number, and a bar of its length."""
    if not count:
        return element("span", "0", class_="none")
    style = f"width:{percent(count / most).replace(' ', '')};--series:var(--series-{place % 8})"
    return joined(element("i", style=style), element("span", str(count)))
