"""``merestone eval``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.evaluations import require_own, told_change, told_run
from merestone.cli.export import writable_target
from merestone.cli.progress import shown_progress
from merestone.cli.scoring import chosen, questions_of, scoring_options
from merestone.cli.session import (
    amount,
    answer,
    asker,
    asker_options,
    json_option,
    mode_option,
    open_library,
    where_option,
)
from merestone.config import note_written
from merestone.evaluation.questions.exporting import exported_files, without_judgement
from merestone.evaluation.questions.values import Questions
from merestone.evaluation.runs.evaluating import evaluate
from merestone.evaluation.runs.files import find_run, load_run, runs_folder, save_run
from merestone.evaluation.runs.tabulating import csv_table, trec_run
from merestone.evaluation.runs.values import Run
from merestone.files import write_text
from merestone.library import Library
from merestone.types import Snapshot


@click.command("eval")
@scoring_options
@asker_options
@where_option
@mode_option
@click.option("--name", default="", help="What to call the run.")
@click.option(
    "--against", metavar="RUN", help="Show what changed since a run: a file, its id, or `last`."
)
@click.option(
    "--trec",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a folder with TREC's run, qrels and topics, by documents.",
)
@click.option(
    "--csv",
    "table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a table of the questions.",
)
@json_option
@click.pass_obj
def command(
    directory: Path,
    ks: tuple[int, ...],
    budgets: tuple[int, ...],
    tokenizer: str | None,
    file: Path | None,
    only: tuple[str, ...],
    principals: tuple[str, ...],
    as_owner: bool,
    where: str | None,
    mode: str,
    name: str,
    against: str | None,
    trec: Path | None,
    table: Path | None,
    as_json: bool,
) -> None:
    """Ask the library your questions, and measure what it serves.

    The run is kept, and `report`, `compare` and `gate` read it.
    """
    with open_library(directory) as library, shown_progress(as_json) as progress:
        questions = chosen(questions_of(library, directory, file), only)
        folder = runs_folder(library.settings.state)
        before = load_run(find_run(against, folder)) if against else None
        if before is not None:
            with library.snapshot(principals=principals or None, as_owner=as_owner) as snapshot:
                require_own([before], snapshot, principals)
        run = evaluate(
            library,
            questions,
            k=ks or None,
            budgets=budgets or None,
            tokenizer=tokenizer,
            where=where,
            mode=mode,
            name=name,
            progress=progress,
            **asker(principals, as_owner),
        )
        kept = save_run(run, folder)
        if trec is not None:
            with library.snapshot(principals=principals or None, as_owner=as_owner) as snapshot:
                _write_trec(library, directory / trec, run, questions, snapshot)
        if table is not None:
            target = writable_target(directory / table, library)
            note_written(library.settings.state, target)
            write_text(target, csv_table(run))
    answer(run, as_json, lambda: _told(run, before, kept))


def _write_trec(
    library: Library, folder: Path, run: Run, questions: Questions, snapshot: Snapshot
) -> None:
    """Run, judgements and topics of the questions that the run's figures are of."""
    wanted = {result.id for result in run.counted}
    asked = Questions(question for question in questions if question.id in wanted)
    files = exported_files(asked, "trec", folder, snapshot)
    files[folder / "run.txt"] = trec_run(run)
    for path in files:
        writable_target(path, library)
    note_written(library.settings.state, *files)
    for path, text in files.items():
        write_text(path, text)
    left = without_judgement(asked, "trec")
    for count, what in ((left, "that nothing answers"), (len(run.apart), "made by a machine")):
        if count:
            click.echo(f"{amount(count, 'question')} {what}: not judged in {folder}.", err=True)


def _told(run: Run, before: Run | None, kept: Path) -> str:
    parts = [told_run(run)]
    if before is not None:
        parts.append(told_change(before, run))
    parts.append(f"Kept as {kept}.")
    return "\n\n".join(parts)
