"""The matrix of questions by runs."""

from __future__ import annotations

from collections.abc import Iterable

from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.drilldown import facts
from merestone.evaluation.report.markup import Markup, element, user_text, with_code
from merestone.evaluation.report.outcomes import (
    GROUPS,
    Group,
    group,
    ordered,
    outcome,
    share,
)
from merestone.evaluation.report.tables import badge, scroll
from merestone.evaluation.report.views import label
from merestone.evaluation.report.words import failure_name, group_title, percent
from merestone.evaluation.runs.values import QuestionResult


def matrix(report: Report) -> Markup:
    """Every question with how each run fared, in groups: the different ones first."""
    runs = len(report.columns)
    order = ordered(report.questions, report.main)
    bodies = []
    for name in GROUPS:
        places = [p for p in order if group(report.questions[p], report.main) == name]
        lines = [_row(report, place) for place in places]
        title = element(
            "th",
            group_title(name, report),
            " ",
            element("span", str(len(places)), class_="count"),
            colspan=runs + 1,
            scope="rowgroup",
        )
        head = element("tr", title, class_="group")
        bodies.append(
            element("tbody", head, *lines, data_group=name, hidden=None if lines else True)
        )
    columns = [
        element(
            "th",
            badge(column, place),
            element("span", user_text(column.name), class_="name"),
            scope="col",
        )
        for place, column in enumerate(report.columns)
    ]
    if runs == 1:
        columns = [element("th", "Outcome", scope="col")]
    return scroll(
        element(
            "table",
            element("caption", "Questions by configuration", class_="hidden"),
            element("thead", element("tr", element("th", "Question", scope="col"), *columns)),
            *bodies,
            id="matrix",
        ),
        "Questions by configuration",
    )


def outcome_key() -> Markup:
    """What the signs of the matrix mean."""
    signs = (("whole", "whole answer"), ("part", "in part"), ("missed", "missed"))
    items = [element("li", element("span", text, class_=f"outcome {how}")) for how, text in signs]
    return element("ul", *items, class_="key")


def filters(report: Report) -> Markup:
    """Controls that narrow the matrix. They are shown once the script runs."""
    rows = [row for row in report.questions if row.first is not None]
    firsts = [row.first for row in rows if row.first is not None]
    controls = [
        _control("Search", element("input", type="search", id="find", autocomplete="off")),
        _choice(
            "Outcome",
            "by-group",
            ((name, group_title(name, report)) for name in _groups(report)),
        ),
        _choice("Content", "by-type", _same(sorted({f.content_type for f in firsts} - {""}))),
        _choice("Tag", "by-tag", _same(sorted({tag for f in firsts for tag in f.tags}))),
        _choice(
            "Language", "by-language", _same(sorted({f.language or "" for f in firsts} - {""}))
        ),
        _choice(
            "Failure",
            "by-failure",
            ((f, failure_name(f)) for f in sorted({f for row in rows for f in row.failures})),
        ),
    ]
    if len(report.views) > 1:
        options = [
            element("option", label(view), value=view, selected=view == report.main)
            for view in report.views
        ]
        controls.insert(0, _control("Measured in", element("select", *options, id="view")))
    shown = element("p", id="shown", class_="quiet", role="status")
    return element("form", *controls, shown, id="filters", hidden=True)


def _groups(report: Report) -> Iterable[Group]:
    """Those that there can be."""
    for name in GROUPS:
        is_possible = {
            "different": len(report.columns) > 1,
            "made": any(row.is_apart for row in report.questions),
        }
        if is_possible.get(name, True):
            yield name


def _row(report: Report, place: int) -> Markup:
    row = report.questions[place]
    first = row.first
    text = first.question if first else row.id
    about = element("span", " · ".join([row.id, *facts(row)]), class_="facts", dir="auto")
    if row.skipped:
        about = element("span", "not scored: ", with_code(row.skipped), class_="why")
    opener = element("button", user_text(text, "span"), type="button", class_="open")
    cells = [_cell(result, report.main) for result in row.results]
    return element(
        "tr",
        element("th", opener, about, scope="row"),
        *cells,
        data_question=place,
        data_type=(first.content_type if first else "") or None,
        data_tags="\n".join(first.tags) or None if first else None,
        data_language=(first.language if first else None) or None,
        data_failures=" ".join(row.failures) or None,
    )


def _cell(result: QuestionResult | None, view: str) -> Markup:
    how = outcome(result, view)
    text = cell_text(how, share(result, view))
    class_ = None if text[0].isdigit() or text[0] in "<>" else "word"
    children = [element("span", element("span", text, class_=class_), class_=f"outcome {how}")]
    if result is not None and result.failure and how != "whole":
        children.append(element("small", failure_name(result.failure)))
    return element("td", *children)


def cell_text(how: str, covered: float | None) -> str:
    """An outcome in a word, or how much of the answer was served."""
    if how == "part" and covered is not None:
        return percent(covered)
    return {"whole": "whole", "part": "in part", "missed": "missed", "none": "–"}[how]


def _same(values: Iterable[str]) -> Iterable[tuple[str, str]]:
    return ((value, value) for value in values)


def _control(name: str, control: Markup) -> Markup:
    return element("label", element("span", name), control)


def _choice(name: str, key: str, choices: Iterable[tuple[str, str]]) -> Markup | None:
    """A list to choose one of; nothing where there is nothing to choose."""
    options = [element("option", text, value=value) for value, text in choices]
    if len(options) < 2:
        return None
    return _control(name, element("select", element("option", "all", value=""), *options, id=key))
