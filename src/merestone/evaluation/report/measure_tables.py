"""All measures in tables: by view, by group of questions, and the front."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.evaluation.measures.spans import at
from merestone.evaluation.measures.units import family
from merestone.evaluation.report.contents import Report, Row
from merestone.evaluation.report.front import front
from merestone.evaluation.report.markup import Markup, element, joined, user_text
from merestone.evaluation.report.tables import (
    badge,
    cells_of,
    counted_interval,
    heads_of,
    interval,
    sheet,
)
from merestone.evaluation.report.views import COVERAGE, FULL, MEANINGS, label, view_of
from merestone.evaluation.report.words import counts_told, of_common
from merestone.evaluation.runs.values import Interval

_SMALL = 3
"""Questions below which a group is folded away: its interval says nearly nothing."""
_KINDS = {"type": "content", "tag": "tag", "language": "language", "made": ""}
_MADE = "made by a machine"


def measures_table(report: Report) -> Markup | None:
    """Every measure in every view, with its interval."""
    if not report.measures:
        return None
    if len(report.columns) == 1:
        return _measures_by_view(report)
    groups: dict[str, list[Row]] = {}
    for row in report.measures:
        groups.setdefault(family(row.name), []).append(row)
    bodies = []
    for kind, rows in groups.items():
        meaning = MEANINGS.get(kind)
        title = joined(kind, element("small", meaning)) if meaning else joined(kind)
        span = len(report.columns) + 1
        head = element("tr", element("th", title, colspan=span, scope="rowgroup"), class_="group")
        lines = [
            element(
                "tr",
                element("th", label(view_of(row.name)), scope="row"),
                *cells_of(row, report.columns),
            )
            for row in rows
        ]
        bodies.append(element("tbody", head, *lines))
    return sheet("All measures", heads_of("Measure", report), *bodies, class_="measures")


def _measures_by_view(report: Report) -> Markup:
    """Of one run: a line for each measure, its views side by side."""
    cells = {row.name: row.cells[0] for row in report.measures}
    views = list(dict.fromkeys(view_of(row.name) for row in report.measures))
    lines = [
        element(
            "tr",
            element("th", element("b", kind), element("small", MEANINGS.get(kind)), scope="row"),
            *(
                element("td", interval(kind, cells.get(at(kind, view))), class_="num")
                for view in views
            ),
        )
        for kind in dict.fromkeys(family(row.name) for row in report.measures)
    ]
    heads = [element("th", label(view), scope="col", class_="num") for view in views]
    return sheet(
        "All measures",
        [element("th", "Measure", scope="col"), *heads],
        element("tbody", *lines),
        class_="by-view",
    )


def documents_table(report: Report) -> Markup | None:
    """How the documents rank, whatever their passages."""
    if not report.documents:
        return None
    lines = [
        element("tr", element("th", row.name, scope="row"), *cells_of(row, report.columns))
        for row in report.documents
    ]
    return sheet(
        "Measures of documents",
        heads_of("Measure", report),
        element("tbody", *lines),
        class_="documents",
    )


def groups_table(report: Report) -> Markup | None:
    """How the groups of questions fared in the main view; the small ones folded."""
    name = next(iter(report.in_main(COVERAGE, FULL)), "")
    large: list[Markup] = []
    small: list[Markup] = []
    for title, rows in report.groups:
        row = next((row for row in rows if row.name == name), None)
        if row is None:
            continue
        (large if row.counts[-1] >= _SMALL else small).append(_group_line(report, title, row))
    caption = f"{name} by group"
    shown = _group_lines(report, large, caption) if large else None
    if not small:
        return shown
    summary = f"{len(small)} groups of less than {_SMALL} questions"
    folded = element(
        "details",
        element("summary", summary),
        _group_lines(report, small, f"{caption}, the small ones"),
        open=not large,
    )
    return joined(shown, folded)


def _group_line(report: Report, title: str, row: Row) -> Markup:
    kind, _, value = title.partition(":")
    name = user_text(_MADE if kind == "made" else value)
    return element(
        "tr",
        element("th", element("small", _KINDS.get(kind, kind)), name, scope="row"),
        element("td", counts_told(row), class_="num"),
        *(
            element("td", counted_interval(row, place), _marked(report, place, title), class_="num")
            for place in range(len(row.cells))
        ),
        element("td", _track(row.cells[0]), class_="wide") if len(row.cells) == 1 else None,
    )


def _group_lines(report: Report, lines: Sequence[Markup], caption: str) -> Markup:
    heads = heads_of("Group", report)
    heads.insert(1, element("th", "Questions", scope="col", class_="num"))
    if len(report.columns) == 1:
        heads.append(element("td", class_="wide"))
    return sheet(caption, heads, element("tbody", *lines), class_="groups")


def _marked(report: Report, place: int, group: str) -> Markup | None:
    """Says it where a run is better or worse than the first one in a group."""
    found = report.deciding(place, group)
    kind = found.verdict.kind if found else ""
    return element("small", kind) if kind in ("better", "worse") else None


def _track(cell: Interval | None) -> Markup | None:
    """The interval on a line from 0 to 100 %."""
    if cell is None:
        return None
    left, right = cell.low * 100, cell.high * 100
    return element(
        "span",
        element("i", style=f"left:{left:.1f}%;width:{right - left:.1f}%"),
        element("b", style=f"left:{cell.mean * 100:.1f}%"),
        class_="interval",
        aria_hidden="true",
    )


def front_table(report: Report) -> Markup | None:
    """What nothing beats at the same or a lower price."""
    points = front(report)
    if len({point.tokens for point in points}) < 2:
        return None
    several = len(report.columns) > 1
    rows = [
        element(
            "tr",
            element(
                "th",
                badge(report.columns[point.column], point.column) if several else None,
                " ",
                label(point.view),
                scope="row",
            ),
            element("td", f"{point.tokens:,.0f}", class_="num"),
            element("td", interval(COVERAGE, point.quality), class_="num"),
        )
        for point in points
        if point.on_front
    ]
    which = of_common(report)
    heads = [
        joined("What nothing beats", element("small", which) if which else None),
        Markup("Tokens<small>for a question</small>"),
        Markup(COVERAGE),
    ]
    return sheet(
        "The front of quality against tokens",
        [element("th", each, scope="col") for each in heads],
        element("tbody", *rows),
        class_="front",
    )
