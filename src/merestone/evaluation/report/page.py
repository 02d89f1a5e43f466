"""The report as one HTML file that needs no network."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from merestone.evaluation.measures.spans import at
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
    told,
)
from merestone.evaluation.report.words import (
    DOCUMENTS_NOTE,
    headline,
    misses,
    questions_told,
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
    sections = [section for section in _sections(report) if section is not None]
    body = element(
        "body",
        element("a", "Skip to the questions", href="#questions", class_="skip"),
        _header(report),
        element("main", *sections),
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


def _header(report: Report) -> Markup:
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
        _navigation(report),
    )


def _heading(report: Report) -> Markup:
    asked = questions_told(report.columns[0].run)
    if len(report.columns) == 1:
        return joined(user_text(report.columns[0].name), ", ", asked)
    return joined(f"{len(report.columns)} configurations, {asked}")


_SECTIONS = (
    ("overview", "Overview"),
    ("plots", "Plots"),
    ("questions", "Questions"),
    ("groups", "Groups"),
    ("measures", "Measures"),
    ("documents", "Documents"),
    ("costs", "Costs"),
    ("settings", "Settings"),
)


def _navigation(report: Report) -> Markup:
    there = {
        "groups": groups_table(report) is not None,
        "costs": costs_table(report) is not None,
        "documents": bool(report.documents),
    }
    links = [element("a", name, href=f"#{key}") for key, name in _SECTIONS if there.get(key, True)]
    return element("nav", *links, aria_label="Sections")


def _sections(report: Report) -> list[Markup | None]:
    failures = failures_table(report)
    return [
        _section(
            "overview",
            "Overview",
            tiles(report) if len(report.columns) == 1 else overview_table(report),
            _warnings(report),
            element("h3", "Why questions were missed") if failures else None,
            failures,
        ),
        _section(
            "plots",
            "Plots",
            element("div", *figures(report), class_="plots"),
            front_table(report) if len(report.columns) > 1 else None,
        ),
        _section(
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
        _optional("groups", "Groups", groups_table(report), _group_note(report)),
        _section("measures", "Measures", measures_table(report)),
        _optional("documents", "Documents found", documents_table(report), DOCUMENTS_NOTE),
        _optional("costs", "Costs", costs_table(report)),
        _section("settings", "Settings", *_settings(report)),
    ]


def _section(key: str, name: str, *children: Markup | None) -> Markup:
    title = element("h2", name, id=f"{key}-title")
    return element("section", title, *children, id=key, aria_labelledby=f"{key}-title")


def _optional(key: str, name: str, table: Markup | None, note: str = "") -> Markup | None:
    if table is None:
        return None
    return _section(key, name, element("p", note, class_="quiet") if note else None, table)


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
        "Those first that the configurations answer differently. "
        if len(report.columns) > 1
        else "What was missed comes first. "
    )
    return (
        f"{first}A share is how much of the answer's text was served {told(report.main)}. Open a "
        "question to see where the answer stands and what was served."
    )


def _group_note(report: Report) -> str:
    name = at(COVERAGE, report.main) if report.measure(at(COVERAGE, report.main)) else FULL
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
            f"library version {column.run.library_version}",
        )
        for column in report.columns
    ]
    notes = []
    if not sources.texts:
        notes.append(element("p", "This report was written without texts of the documents."))
    if sources.shortened:
        notes.append(element("p", "Long passages are shown in part, so that the page stays small."))
    return element("footer", element("ul", *lines), *notes)
