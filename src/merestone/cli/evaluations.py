"""Telling a run on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from merestone.cli.session import amount
from merestone.cli.tables import printed, simple_table, width
from merestone.evaluation.measures.spans import NO_ANSWER, at
from merestone.evaluation.measures.units import is_share
from merestone.evaluation.report.views import told
from merestone.evaluation.report.words import change, figure, questions_told
from merestone.evaluation.runs.changes import QuestionChange, question_changes
from merestone.evaluation.runs.failures import FAILURES
from merestone.evaluation.runs.files import KeptRun
from merestone.evaluation.runs.values import MADE, Interval, Run
from merestone.types import SettingsError, Snapshot

_INTERVALS = ("FullGold", "GoldCoverage", "Precision")
_PLAIN = ("Hit", "IoU", "Duplication", "Tokens", "RR", "nDCG")
_VIEWS = 5
_NAME, _CELL = 13, 17
"""Characters of a measure's name, and of a value with its interval at its longest."""
_SMALL = 10
_WORST = 5
_GROUPS = 12
_CHANGES = 10
_QUESTION = 60


def told_run(run: Run) -> str:
    """Measures first, then where they differ, and why questions were missed."""
    return printed(_parts(run))


def told_change(before: Run, run: Run) -> str:
    """What ``run`` serves better and worse than ``before``, question by question."""
    return printed(_change(before, run))


def _parts(run: Run) -> Iterator[str | Table]:
    full = [result.measures.get(at("FullGold", run.main)) for result in run.counted]
    known = [value for value in full if value is not None]
    yield f"Run {run.id[:12]}, {questions_told(run)}"
    if known:
        whole = amount(int(sum(known)), "question")
        yield f"Of {len(known)} with an answer, {whole} got it whole {told(run.main)}."
        yield "Means in per cent, with 95 % intervals over questions:"
    yield from _measures(run, run.means)
    yield from _documents(run)
    if run.apart:
        yield "Made questions, which are easier than those that people ask"
        yield from _measures(run, run.groups[MADE])
    groups = {name: group for name, group in run.groups.items() if name != MADE}
    if len(groups) > 1:
        yield f"By group, {told(run.main)}"
        yield _groups(run, groups)
    yield from _misses(run)
    for warning in run.warnings:
        yield f"! {warning}"


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    return table


def _measures(run: Run, measures: Mapping[str, Interval]) -> Iterator[Table]:
    """A row a measure, a column a view; several tables where there are many views."""
    abreast = min(_VIEWS, (width() - _NAME) // _CELL)
    for start in range(0, len(run.views), abreast):
        views = run.views[start : start + abreast]
        table = _table("", *(f"@{view}" for view in views))
        for name in (*_INTERVALS, *_PLAIN, NO_ANSWER):
            cells = [measures.get(at(name, view)) for view in views]
            if any(cells):
                table.add_row(name, *(_cell(name, cell) for cell in cells))
        yield table


def _documents(run: Run) -> Iterator[str | Table]:
    """Measures of documents, one under the other for each cutoff."""
    if not run.documents:
        return
    yield "Documents found, whatever the passage, by ir-measures"
    kinds = list(dict.fromkeys(name.partition("@")[0] for name in run.documents))
    cutoffs = list(dict.fromkeys(name.partition("@")[2] for name in run.documents))
    table = _table("", *(f"@{cutoff}" if cutoff else "all" for cutoff in cutoffs))
    for kind in kinds:
        names = [at(kind, cutoff) if cutoff else kind for cutoff in cutoffs]
        cells = [run.documents.get(name) for name in names]
        table.add_row(kind, *(f"{cell.mean:.3f}" if cell else "-" for cell in cells))
    yield table


def _cell(name: str, value: Interval | None) -> str:
    """``66.7 (51–79)``: per cent with the interval, or tokens."""
    if value is None:
        return "-"
    if not is_share(name):
        return figure(name, value.mean)
    mean, low, high = (100 * each for each in (value.mean, value.low, value.high))
    if name not in _INTERVALS:
        return f"{mean:.1f}"
    digits = 1 if high < _SMALL else 0
    return f"{mean:.1f} ({low:.{digits}f}–{high:.{digits}f})"


def _groups(run: Run, groups: Mapping[str, Mapping[str, Interval]]) -> Table:
    """A row a group, the largest."""
    coverage = at("GoldCoverage", run.main)
    sizes = {name: group[coverage].count for name, group in groups.items() if coverage in group}
    table = _table("", "questions", *_INTERVALS)
    for name in sorted(sizes, key=lambda name: -sizes[name])[:_GROUPS]:
        group = groups[name]
        cells = [_cell(measure, group.get(at(measure, run.main))) for measure in _INTERVALS]
        table.add_row(name, str(sizes[name]), *cells)
    return table


def _misses(run: Run) -> Iterator[str | Table]:
    missed = [result for result in run.counted if result.failure]
    if not missed:
        return
    counts = Counter(result.failure for result in missed)
    yield f"Missed {told(run.main)}: {len(missed):,} of {amount(len(run.counted), 'question')}"
    table = _table("", "questions", "")
    table.columns[2].justify, table.columns[2].no_wrap = "left", False
    for failure, words in FAILURES.items():
        if counts[failure]:
            table.add_row(failure, str(counts[failure]), words)
    yield table
    yield "Worst"
    worst = sorted(missed, key=lambda result: result.measures.get(at("GoldCoverage", run.main), 0))
    for result in worst[:_WORST]:
        yield f"  {result.id}  {_short(result.question)}\n      {result.detail}"


def _short(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _QUESTION else f"{line[: _QUESTION - 1]}…"


def _change(before: Run, run: Run) -> Iterator[str | Table]:
    coverage = at("GoldCoverage", run.main)
    pairs = question_changes(before, run, coverage)
    named = before.name or before.id[:12]
    if not pairs:
        yield f"No question was scored by {coverage} in {named} too."
        return
    now = sum(coverage in result.measures for result in run.counted)
    if len(pairs) < now:
        yield (
            f"Of {amount(now, 'question')} {len(pairs)} were asked then in the same words and with "
            "the same answers: only these are told of."
        )
    worse = [each for each in pairs if each.gain < 0]
    better = [each for each in reversed(pairs) if each.gain > 0]
    mean = sum(each.gain for each in pairs) / len(pairs)
    yield (
        f"Since {named}, of {before.time}: {coverage} {change(coverage, mean)} over "
        f"{amount(len(pairs), 'question')}; {len(better)} better, {len(worse)} worse."
    )
    yield from _told_changes("Worse", worse)
    yield from _told_changes("Better", better)
    yield f"Whether that is more than chance: merestone compare {before.id[:12]} {run.id[:12]}"


def _told_changes(title: str, pairs: Sequence[QuestionChange]) -> Iterator[str]:
    if not pairs:
        return
    yield title
    for each in pairs[:_CHANGES]:
        old, new = (figure(each.measure, value) for value in each.values)
        why = f": {each.after.detail}" if each.after.failure and each.gain < 0 else ""
        yield f"  {each.after.id}  {_short(each.after.question)}\n      {old} → {new}{why}"
    if len(pairs) > _CHANGES:
        yield f"  … and {len(pairs) - _CHANGES} more"


def may_read(run: Run, snapshot: Snapshot, principals: Sequence[str]) -> bool:
    """False if the run was made by someone who may read more than the reader of ``snapshot``."""
    return not snapshot.is_limited or set(run.asker) <= {*principals, "public"}


def told_runs(kept: Sequence[KeptRun]) -> str:
    """A line a run, newest first."""
    if not kept:
        return "No run is kept. `merestone eval` makes one."
    titles = ("run", "time", "questions", "GoldCoverage", "asked by", "name")
    table = simple_table(*titles, numbers=(2, 3))
    for each in kept:
        run = each.run
        mean = run.means.get(at("GoldCoverage", run.main))
        table.add_row(
            run.id[:12],
            run.time[:19],
            f"{len(run.counted):,}",
            f"{figure('GoldCoverage', mean.mean)} @{run.main}" if mean else "",
            ", ".join(run.asker) or "public",
            f"{run.name or '–'}{' (trial)' if each.is_trial else ''}",
        )
    return printed(iter([table]))


def require_own(runs: Sequence[Run], snapshot: Snapshot, principals: Sequence[str]) -> None:
    """Raise ``SettingsError`` if a run was made by someone who may read more."""
    for run in runs:
        if not may_read(run, snapshot, principals):
            raise SettingsError(
                "owner-only",
                f"Run {run.id[:12]} was made for another asker, who may read more.",
                "Make a run as this asker, or ask as the owner: --as-owner.",
            )
