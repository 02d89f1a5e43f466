"""The report as one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.drilldown import drilldown_data
from merestone.evaluation.report.figures import figures
from merestone.evaluation.report.markup import Child, Markup, element, joined, user_text, with_code
from merestone.evaluation.report.matrix import filters, matrix, outcome_key
from merestone.evaluation.report.measure_tables import (
    documents_table,
    front_table,
    groups_table,
    measures_table,
)
from merestone.evaluation.report.overview import failures_table, overview_table, tiles
from merestone.evaluation.report.setting_tables import costs_table, settings_table
from merestone.evaluation.report.sources import Sources
from merestone.evaluation.report.views import (
    COVERAGE,
    FULL,
)
from merestone.evaluation.report.words import (
    DOCUMENTS_NOTE,
    asked,
    asked_of,
    headline,
    misses,
    share_note,
    verdicts,
)

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def page(report: Report, sources: Sources) -> str:
    """The whole file."""
    title = _title(report)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", _resource("style.css")),
    )
    sections = _sections(report)
    body = element(
        "body",
        element("a", "Skip to the questions", href="#questions", class_="skip"),
        _header(report, sections),
        element("main", *sections.values()),
        _footer(report, sources),
        element("dialog", id="detail", aria_labelledby="detail-title"),
        element(
            "script", drilldown_data(report, sources), type="application/json", id="report-data"
        ),
        element("script", _resource("script.js")),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


@cache
def _resource(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text("utf-8"))


def _title(report: Report) -> str:
    if len(report.columns) == 1:
        return f"Retrieval report: {report.columns[0].name}"
    return f"Retrieval report: {len(report.columns)} configurations"


def _header(report: Report, sections: Iterable[str]) -> Markup:
    runs = report.columns
    lines: list[Child] = []
    if len(runs) == 1:
        lines = [element("p", headline(report), " ", misses(report), class_="lead")]
    else:
        lines = [element("p", headline(report), class_="lead")]
        found = verdicts(report)
        if found:
            lines.append(element("ul", *(element("li", text) for text in found), class_="verdicts"))
    return element(
        "header",
        element("p", "Merestone", class_="brand"),
        element("h1", _heading(report)),
        *lines,
        _navigation(sections),
    )


def _heading(report: Report) -> Markup:
    if len(report.columns) == 1:
        return joined(user_text(report.columns[0].name), ", ", asked(report))
    return joined(f"{len(report.columns)} configurations, {asked(report)}")


def _navigation(sections: Iterable[str]) -> Markup:
    links = [element("a", key.capitalize(), href=f"#{key}") for key in sections]
    return element("nav", *links, aria_label="Sections")


def _sections(report: Report) -> dict[str, Markup]:
    """By id, in their order; without those that would be empty."""
    failures = failures_table(report)
    plots = figures(report)
    found = {
        "overview": _section(
            "overview",
            "Overview",
            tiles(report) if len(report.columns) == 1 else overview_table(report),
            _warnings(report),
            element("h3", "Why questions were missed") if failures else None,
            failures,
        ),
        "plots": _section(
            "plots",
            "Plots",
            element("div", *plots, class_="plots") if plots else None,
            front_table(report) if len(report.columns) > 1 else None,
        ),
        "questions": _section(
            "questions",
            "Questions",
            element("p", _how_to_read(report), class_="quiet"),
            element(
                "noscript",
                element("p", "Filters and the details of a question need scripts.", class_="note"),
            ),
            filters(report),
            outcome_key(),
            matrix(report),
        ),
        "groups": _noted("groups", "Groups", groups_table(report), _group_note(report)),
        "measures": _section("measures", "Measures", measures_table(report)),
        "documents": _noted(
            "documents", "Documents found", documents_table(report), DOCUMENTS_NOTE
        ),
        "costs": _section("costs", "Costs", costs_table(report)),
        "settings": _section("settings", "Settings", *_settings(report)),
    }
    return {key: section for key, section in found.items() if section is not None}


def _section(key: str, name: str, *children: Markup | None) -> Markup | None:
    """Nothing where there is nothing to show in it."""
    if not any(children):
        return None
    title = element("h2", name, id=f"{key}-title")
    return element("section", title, *children, id=key, aria_labelledby=f"{key}-title")


def _noted(key: str, name: str, table: Markup | None, note: str) -> Markup | None:
    return _section(key, name, element("p", note, class_="quiet"), table) if table else None


def _warnings(report: Report) -> Markup | None:
    if not report.warnings:
        return None
    return element(
        "div",
        element("h3", "To keep in mind"),
        element("ul", *(element("li", with_code(text)) for text in report.warnings)),
        class_="note",
    )


def _how_to_read(report: Report) -> str:
    first = (
        "Those first that the configurations answer differently."
        if len(report.columns) > 1
        else "What was missed comes first."
    )
    last = "Open a question to see where the answer stands and what was served."
    return " ".join(filter(None, [first, share_note(report), last]))


def _group_note(report: Report) -> str:
    name = next(iter(report.in_main(COVERAGE, FULL)), "")
    return f"{name}, with 95 % intervals. Small groups have wide ones."


def _settings(report: Report) -> list[Markup | None]:
    single = len(report.columns) == 1
    different = None if single else settings_table(report, different=True)
    same = settings_table(report, different=False)
    if single:
        return [element("details", element("summary", "All settings of the run"), same)]
    return [
        different or element("p", "The configurations have the same settings.", class_="quiet"),
        element("details", element("summary", "Settings that are the same"), same)
        if same
        else None,
    ]


def _footer(report: Report, sources: Sources) -> Markup:
    lines = [
        element(
            "li",
            f"{column.letter}: ",
            user_text(column.name),
            f", run {column.run.id[:12]} of {column.run.time}, "
            f"library version {column.run.library_version}{asked_of(report, column)}",
        )
        for column in report.columns
    ]
    notes = []
    if not sources.texts:
        notes.append(element("p", "This report was written without texts of the documents."))
    if sources.shortened:
        notes.append(element("p", "Long passages are shown in part, so that the page stays small."))
    return element("footer", element("ul", *lines), *notes)
