"""``merestone gate``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from rich.table import Table

from merestone.cli.comparisons import difference_told, dispute
from merestone.cli.main import FINDINGS
from merestone.cli.progress import shown_progress
from merestone.cli.scoring import questions_of, questions_option
from merestone.cli.session import (
    amount,
    answer,
    asker,
    asker_options,
    json_option,
    open_library,
)
from merestone.cli.tables import measure_row, printed, simple_table
from merestone.evaluation.report.words import figure, questions_told
from merestone.evaluation.runs.changes import QuestionChange
from merestone.evaluation.runs.evaluating import evaluate, views_wanted
from merestone.evaluation.runs.files import (
    LAST,
    find_run,
    load_run,
    runs_folder,
    save_run,
    write_run,
)
from merestone.evaluation.runs.gate import GateReport, judge
from merestone.evaluation.runs.values import Run
from merestone.evaluation.runs.views import check_measures
from merestone.library import Library
from merestone.types import SettingsError

_WORSE = 10


@click.command("gate")
@questions_option
@asker_options
@click.option(
    "--update-baseline", is_flag=True, help="Make this run the baseline, if named questions hold."
)
@json_option
@click.pass_obj
def command(
    directory: Path,
    file: Path | None,
    principals: tuple[str, ...],
    as_owner: bool,
    update_baseline: bool,
    as_json: bool,
) -> int:
    """Fail if the library answers your questions worse than before.

    That is, with exit code 1, if a question of evaluation.gate.must_hold is not answered whole, or
    if evaluation.gate.measure fell significantly below the baseline.
    """
    with open_library(directory) as library, shown_progress(as_json) as progress:
        settings = library.settings.evaluation.gate
        if settings.measure:
            evaluation = library.settings.evaluation
            check_measures([settings.measure], views_wanted(evaluation, None, None))
        baseline = None if update_baseline else _baseline(library)
        questions = questions_of(library, directory, file)
        who = asker(principals, as_owner)
        run = evaluate(library, questions, progress=progress, **who)
        report = judge(run, baseline, settings)
        if report.passes or settings.baseline != LAST:
            # A run that failed must not be what the next one is held against.
            save_run(run, runs_folder(library.settings.state))
        if update_baseline and report.passes and settings.baseline != LAST:
            write_run(run, Path(settings.baseline), served=False)
    answer(report, as_json, lambda: _told(report, run, settings.baseline, update_baseline))
    return 0 if report.passes else FINDINGS


def _baseline(library: Library) -> Run | None:
    """The run to hold against; ``None`` if there is none and named questions are held alone."""
    settings = library.settings.evaluation.gate
    path = Path(settings.baseline)
    if settings.baseline == LAST:
        return load_run(find_run(LAST, runs_folder(library.settings.state)))
    if path.is_file():
        return load_run(path)
    if settings.must_hold:
        return None
    raise SettingsError(
        "no-baseline",
        f"There is no baseline at {path}, and no question is named that must hold.",
        "Make one with `merestone gate --update-baseline` and commit it.",
    )


def _told(report: GateReport, run: Run, baseline: str, is_update: bool) -> str:
    return printed(_parts(report, run, baseline, is_update))


def _parts(report: GateReport, run: Run, baseline: str, is_update: bool) -> Iterator[str | Table]:
    yield "The gate passes." if report.passes else "The gate fails."
    for failure in report.failures:
        yield f"FAILED {failure}"
    yield f"Run {report.run[:12]}, {questions_told(run)}."
    if report.baseline:
        yield f"Held against {report.baseline[:12]} by {report.measure}, which alone decides."
    elif is_update and report.passes:
        yield f"It is the baseline now: {baseline}."
    elif is_update:
        yield f"It did not become the baseline: {_left(baseline)}."
    else:
        yield "There is no baseline: only named questions were held."
    if report.measures:
        yield _measures(report)
        told = dispute(each.difference for each in report.measures)
        if told:
            yield told
    if report.named:
        held = sum(not each.problem for each in report.named)
        yield f"{held} of {amount(len(report.named), 'named question')} held"
        for each in report.named:
            yield f"  {'FAILED' if each.problem else 'holds '} {each.id}  {each.question}".rstrip()
    if report.failures and report.worse:
        yield "What got worse:"
        yield from (_worse(each) for each in report.worse[:_WORSE])
        if len(report.worse) > _WORSE:
            yield f"  … and {len(report.worse) - _WORSE} more"
    for note in (*report.notes, *run.warnings):
        yield f"note: {note}"


def _left(baseline: str) -> str:
    """What became of the baseline that there was."""
    if baseline == LAST:
        return "the last run that passed still is"
    if Path(baseline).is_file():
        return f"{baseline} was left as it was"
    return "there still is none"


def _measures(report: GateReport) -> Table:
    """A line a measure; without a baseline only what it is now."""
    compared = ("before", "now", "change", "95 % interval", "p", "")
    table = simple_table("", *(compared if report.baseline else ["now"]), numbers=range(1, 6))
    table.columns[0].no_wrap = True
    for each in report.measures:
        now = figure(each.name, each.now)
        found = each.difference
        if found is None or each.before is None or each.verdict is None:
            table.add_row(measure_row(each.name), now)
            continue
        told = difference_told(each.name, found, each.verdict)
        table.add_row(measure_row(each.name), figure(each.name, each.before), now, *told)
    return table


def _worse(each: QuestionChange) -> str:
    old, new = each.values
    return f"  {each.after.id}  {old:.2f} → {new:.2f}  {each.after.question}  {each.after.detail}"
