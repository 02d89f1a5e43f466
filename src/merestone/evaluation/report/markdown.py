"""The same figures as Markdown, for a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from merestone.evaluation.report.contents import Report, Row
from merestone.evaluation.report.front import front
from merestone.evaluation.report.markup import clean
from merestone.evaluation.report.outcomes import QuestionRow, group, ordered, outcome, share
from merestone.evaluation.report.views import COVERAGE, FULL, PRECISION, TOKENS, label
from merestone.evaluation.report.words import (
    DOCUMENTS_NOTE,
    asked,
    asked_of,
    bounds,
    change,
    cost,
    cost_name,
    counts_told,
    failure_name,
    figure,
    group_title,
    headline,
    misses,
    of_common,
    percent,
    probability,
    share_note,
)
from merestone.evaluation.runs.values import Interval, QuestionResult

_ESCAPED = "\\`*_[]<>|#~&"


def to_markdown(report: Report) -> str:
    """The report without texts of documents; ends with a line break."""
    parts = ["# Retrieval report", *_summary(report)]
    for title, body in (
        ("Configurations", _overview(report)),
        ("Quality against tokens", _front(report)),
        ("Why questions were missed", _failures(report)),
        ("Questions", _questions(report)),
        ("Groups", _groups(report)),
        ("Measures", _measures(report)),
        ("Documents found", _documents(report)),
        ("Costs", _costs(report)),
        ("Settings that differ", _settings(report)),
    ):
        if body:
            parts += [f"## {title}", body]
    runs = [
        f"- {column.letter}: {_text(column.name)}, run `{column.run.id[:12]}` of "
        f"{column.run.time}, library version {column.run.library_version}{asked_of(report, column)}"
        for column in report.columns
    ]
    parts += ["## Runs", "\n".join(runs)]
    return "\n\n".join(parts) + "\n"


def _summary(report: Report) -> Iterator[str]:
    yield f"{asked(report)}."
    yield " ".join(filter(None, [headline(report), misses(report)]))
    if report.warnings:
        yield "\n".join(f"> - {_text(warning)}" for warning in report.warnings)


def _overview(report: Report) -> str:
    names = report.in_main(FULL, COVERAGE, PRECISION, TOKENS)
    compared = any(not each.group for each in report.contrasts)
    if not names and not compared:
        return ""
    heads = ["", *names, *([f"Against {report.columns[0].letter}", "Verdict"] if compared else [])]
    rows = []
    for place, column in enumerate(report.columns):
        cells = [f"{column.letter} {_text(column.name)}"]
        cells += [_cell(report.measure(name), place) for name in names]
        if compared:
            cells += _against(report, place)
        rows.append(cells)
    return _table(heads, rows, numbers=len(names) + compared)


def _against(report: Report, place: int) -> list[str]:
    found = report.deciding(place)
    if found is None:
        return ["", "the baseline" if place == 0 else "not compared"]
    given = found.difference
    mean, low, high = (
        change(found.measure, value) for value in (given.mean, given.low, given.high)
    )
    between = "" if given.is_tie else f" [{low}, {high}], p {_text(probability(given.adjusted_p))}"
    return [
        f"{mean}{between}",
        _text(found.verdict.words),
    ]


def _front(report: Report) -> str:
    points = [point for point in front(report) if point.on_front]
    if len(points) < 2:
        return ""
    rows = [
        [
            f"{report.columns[point.column].letter}, {label(point.view)}",
            f"{point.tokens:,.0f}",
            f"{figure(COVERAGE, point.quality.mean)} [{bounds(COVERAGE, point.quality)}]",
        ]
        for point in points
    ]
    which = " ".join(filter(None, ["What nothing beats", of_common(report)]))
    return _table([which, "Tokens for a question", COVERAGE], rows, numbers=2)


def _failures(report: Report) -> str:
    rows = [[failure_name(name), *map(str, counts)] for name, counts in report.failures]
    return _table(_heads("Cause", report), rows, numbers=len(report.columns)) if rows else ""


def _questions(report: Report) -> str:
    rows = [_question(report, report.questions[n]) for n in ordered(report.questions, report.main)]
    heads = _heads("Question", report)
    return "\n\n".join(filter(None, [share_note(report), _table(["", "Id", *heads], rows)]))


def _question(report: Report, row: QuestionRow) -> list[str]:
    first = row.first
    cells = [_outcome(result, report.main) for result in row.results]
    title = group_title(group(row, report.main), report)
    return [title, _text(row.id), _text(first.question if first else row.skipped), *cells]


def _outcome(result: QuestionResult | None, view: str) -> str:
    how, covered = outcome(result, view), share(result, view)
    text = percent(covered) if how == "part" and covered is not None else how
    if result is not None and result.failure and how != "whole":
        return f"{_text(text)} ({failure_name(result.failure)})"
    return "–" if how == "none" else _text(text)


def _groups(report: Report) -> str:
    name = next(iter(report.in_main(COVERAGE, FULL)), "")
    rows = []
    for title, members in report.groups:
        row = next((each for each in members if each.name == name), None)
        if row is not None:
            cells = [_cell(row, place) for place in range(len(report.columns))]
            rows.append([_text(title), counts_told(row), *cells])
    if not rows:
        return ""
    heads = _heads("Group", report)
    heads.insert(1, "Questions")
    return f"{name}\n\n" + _table(heads, rows, numbers=len(heads) - 1)


def _measures(report: Report) -> str:
    rows = [
        [row.name, *(_cell(row, place) for place in range(len(report.columns)))]
        for row in report.measures
    ]
    return _table(_heads("Measure", report), rows, numbers=len(report.columns)) if rows else ""


def _documents(report: Report) -> str:
    if not report.documents:
        return ""
    rows = [
        [row.name, *(_cell(row, place) for place in range(len(report.columns)))]
        for row in report.documents
    ]
    heads = _heads("Measure", report)
    return f"{DOCUMENTS_NOTE}\n\n" + _table(heads, rows, numbers=len(report.columns))


def _costs(report: Report) -> str:
    rows = [
        [cost_name(row.name), *("" if c is None else cost(row.name, c) for c in row.cells)]
        for row in report.costs
    ]
    return _table(_heads("Cost", report), rows, numbers=len(report.columns)) if rows else ""


def _settings(report: Report) -> str:
    rows = [[_text(row.key), *map(_text, row.values)] for row in report.settings if row.differs]
    return _table(_heads("Setting", report), rows) if rows else ""


def _heads(first: str, report: Report) -> list[str]:
    return [first, *(column.letter for column in report.columns)]


def _cell(row: Row | None, place: int) -> str:
    cell: Interval | None = row.cells[place] if row else None
    if row is None or cell is None:
        return ""
    count = f", n = {cell.count:,}" if len(row.counts) > 1 else ""
    return f"{figure(row.name, cell.mean)} [{bounds(row.name, cell)}]{count}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """A table; ``numbers`` columns behind the first are set to the right."""
    rule = ["---:" if 0 < place <= numbers else "---" for place in range(len(heads))]
    lines = [heads, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(text: str) -> str:
    """A text that says in a table what it says, and does nothing."""
    flat = " ".join(clean(text).split())
    return "".join(f"\\{c}" if c in _ESCAPED else c for c in flat)
