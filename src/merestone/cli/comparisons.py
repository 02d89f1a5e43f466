"""Telling a comparison of configurations on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table

from merestone.cli.session import amount
from merestone.cli.tables import measure_row, measure_title, printed, simple_table
from merestone.evaluation.experiments.advice import advice
from merestone.evaluation.experiments.comparison import Comparison, Contrast
from merestone.evaluation.measures.spans import at
from merestone.evaluation.report.words import change, cost, figure, probability, questions_told
from merestone.evaluation.statistics.intervals import Difference
from merestone.evaluation.statistics.verdicts import BOTH, Verdict, rounded_up

_ROWS = 10
_MARKS = {"better": "▲", "worse": "▼"}
_GROUPED = 2
_FEW_MEASURES = 6
"""In a table of many configurations."""
_COSTS = (
    ("chunks", "chunks"),
    ("tokens_stored", "tokens\nstored"),
    ("tokens_to_embed", "tokens\nto embed"),
    ("index_bytes", "index"),
    ("passages_per_question", "passages\na question"),
    ("seconds_per_question", "time\na question"),
)
_ASKED = (
    ("Hit", "Do the right passages appear?", "of the questions have one"),
    ("FullGold", "Are they complete?", "have the whole answer"),
    ("Duplication", "Is context duplicated?", "of the text comes twice"),
)


def told_comparison(comparison: Comparison, *, advised: bool = True) -> str:
    """Verdicts first, then what they rest on, and at the end what to do, if that is ``advised``
    here."""
    return printed(_parts(comparison, advised))


def _parts(comparison: Comparison, advised: bool) -> Iterator[RenderableType]:
    yield questions_told(comparison.runs[0])
    yield f"What decides: {comparison.measures[0]}.\n"
    yield from _verdicts(comparison)
    if len(comparison.runs) == 2:
        yield from _answers(comparison)
        yield _two(comparison)
    else:
        yield _many(comparison)
    told = dispute(each.difference for each in comparison.contrasts if _is_shown(comparison, each))
    if told:
        yield told
    yield ""
    for name, columns in comparison.tables.items():
        yield f"{name}, all else as it is"
        yield _one_variable(comparison, name, columns)
        yield ""
    groups = _groups(comparison)
    if groups is not None:
        yield groups
        yield ""
    yield _costs(comparison)
    yield ""
    matrix = _matrix(comparison)
    if matrix is not None:
        yield matrix
        yield ""
    for warning in comparison.warnings:
        yield f"! {warning}"
    names = [_letter(column) for column in range(len(comparison.runs))]
    if advised and (told := advice(comparison, names)):
        yield f"\n{told}"


def _is_shown(comparison: Comparison, contrast: Contrast) -> bool:
    """True of what stands in a table with its interval and its p."""
    if contrast.group:
        return False
    deciding = contrast.measure == comparison.measures[0]
    return len(comparison.runs) == 2 or (deciding and bool(comparison.tables))


def _letter(column: int) -> str:
    """A to Z, then AA and on."""
    more, last = divmod(column, len(ascii_uppercase))
    return (_letter(more - 1) if more else "") + ascii_uppercase[last]


def _named(comparison: Comparison, column: int) -> str:
    return f"{_letter(column)}  {comparison.names[column]}"


def _verdicts(comparison: Comparison) -> Iterator[RenderableType]:
    yield _named(comparison, 0)
    for column in range(1, len(comparison.runs)):
        contrast = comparison.contrast(column, comparison.measures[0])
        words = contrast.verdict.words if contrast else "No question was scored by both."
        if comparison.changes_nothing(column):
            words = "Changes nothing: its settings are those of A."
        yield _named(comparison, column)
        yield Padding(words, (0, 0, 0, 5))
    yield ""


def _answers(comparison: Comparison) -> Iterator[str]:
    """The three questions of a first comparison, answered from the hits."""
    hits = next((view for view in comparison.runs[0].views if view.isdigit()), None)
    if hits is None:
        return
    for measure, asked, means in _ASKED:
        name = at(measure, hits)
        first, second = (run.means.get(name) for run in comparison.runs)
        contrast = comparison.contrast(1, name)
        if contrast is None or first is None or second is None:
            continue
        yield (
            f"{asked} Among {hits} hits {figure(name, first.mean)} (A) and "
            f"{figure(name, second.mean)} (B) {means}: {_short(contrast)}."
        )
    yield ""


def _short(contrast: Contrast) -> str:
    kind = contrast.verdict.kind
    if kind in _MARKS:
        return f"B is {kind}"
    return "the same on every question" if contrast.difference.is_tie else kind


def _two(comparison: Comparison) -> Table:
    """A row for each measure."""
    titles = ("A", "B", "change", "95 % interval", "p", "")
    table = simple_table("", *titles, numbers=range(1, 6))
    table.columns[0].no_wrap = True
    for measure in comparison.measures:
        contrast = comparison.contrast(1, measure)
        table.add_row(
            measure_row(measure),
            *(_mean(comparison, column, measure) for column in (0, 1)),
            *(_difference(contrast) if contrast else ("", "", "", "")),
        )
    return table


def _many(comparison: Comparison) -> Table:
    """A row for each configuration."""
    measures = comparison.measures[:_FEW_MEASURES]
    titles = [measure_title(measure) for measure in measures]
    table = simple_table("", *titles, numbers=range(1, len(titles) + 1))
    for column in range(len(comparison.runs)):
        cells = []
        for measure in measures:
            contrast = comparison.contrast(column, measure)
            mark = _MARKS.get(contrast.verdict.kind, "") if contrast else ""
            cells.append(f"{mark} {_mean(comparison, column, measure)}".strip())
        table.add_row(_named(comparison, column), *cells)
    return table


def _one_variable(comparison: Comparison, name: str, columns: Sequence[int]) -> Table:
    deciding = comparison.measures[0]
    titles = (measure_title(deciding), "change", "95 % interval", "p", "")
    table = simple_table("", *titles, numbers=range(1, 5))
    table.add_row("as it is", _mean(comparison, 0, deciding), "", "", "", "")
    for column in columns:
        contrast = comparison.contrast(column, deciding)
        label = comparison.names[column].removeprefix(f"{name}=")
        told = _difference(contrast) if contrast else ("", "", "", "")
        table.add_row(label, _mean(comparison, column, deciding), *told)
    return table


def _groups(comparison: Comparison) -> Table | None:
    """Groups of questions in which something can be told, by what decides and by whole answers."""
    measures = comparison.measures[:_GROUPED]
    told = [
        each
        for each in comparison.contrasts
        if each.group and each.measure in measures and each.verdict.kind in _MARKS
    ]
    if not told:
        return None
    titles = ("questions", "", "", "change", "95 % interval", "p", "")
    table = simple_table(*titles, numbers=range(3, 6))
    for each in told:
        group = f"{each.group} ({each.difference.count})"
        table.add_row(group, _letter(each.column), each.measure, *_difference(each))
    return table


def _costs(comparison: Comparison) -> Table:
    main = comparison.runs[0].main
    listed = [*_COSTS[:3], (f"tokens_retrieved@{main}", f"tokens\nat {main}"), *_COSTS[3:]]
    known = [each for each in listed if any(each[0] in run.costs for run in comparison.runs)]
    titles = [title for _, title in known]
    if comparison.embedded:
        titles.append("texts\nembedded")
    table = simple_table("", *titles, numbers=range(1, len(titles) + 1))
    for column, run in enumerate(comparison.runs):
        cells = [cost(name, run.costs[name]) if name in run.costs else "" for name, _ in known]
        if comparison.embedded:
            cells.append(f"{comparison.embedded[column]:,}")
        table.add_row(_letter(column), *cells)
    return table


def _matrix(comparison: Comparison) -> Table | None:
    counted = [row for row in comparison.matrix if not row.made] or list(comparison.matrix)
    rows = [row for row in counted if row.is_different]
    if not rows:
        return None
    are = "is" if len(rows) == 1 else "are"
    title = f"{len(rows)} of {amount(len(counted), 'question')} {are} answered differently"
    if len(rows) > _ROWS:
        title += f"; {_ROWS} of them"
    table = simple_table(title, *map(_letter, range(len(comparison.runs))))
    for row in rows[:_ROWS]:
        table.add_row(f"{row.id}: {row.question}", *row.outcomes)
    return table


def _mean(comparison: Comparison, column: int, measure: str) -> str:
    found = comparison.runs[column].means.get(measure)
    return figure(measure, found.mean) if found else ""


def _difference(contrast: Contrast) -> tuple[str, str, str, str]:
    return difference_told(contrast.measure, contrast.difference, contrast.verdict)


def difference_told(name: str, found: Difference, verdict: Verdict) -> tuple[str, str, str, str]:
    """A difference, its interval, its p and what may be said of it, as cells of a table."""
    kind = verdict.kind
    told: str = kind
    if kind in _MARKS:
        told = f"{_MARKS[kind]} {kind}"
    elif found.is_tie:
        return change(name, 0.0), "", "", "the same on every question"
    elif verdict.needed:
        told = f"cannot tell; needs about {rounded_up(verdict.needed)} questions"
    return (
        change(name, found.mean),
        f"{change(name, found.low)} to {change(name, found.high)}",
        probability(found.adjusted_p),
        told,
    )


def dispute(differences: Iterable[Difference | None]) -> str:
    """Why some of those that are shown are called neither better nor worse, though their interval
    or their p alone looks like it; empty if there are none."""
    return BOTH if any(each is not None and each.is_disputed for each in differences) else ""
