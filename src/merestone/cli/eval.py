"""``merestone eval``."""

from __future__ import annotations

from pathlib import Path

import click

from merestone.cli.evaluations import require_own, told_change, told_run
from merestone.cli.progress import shown_progress
from merestone.cli.session import (
    answer,
    asker,
    asker_options,
    json_option,
    mode_option,
    open_library,
    where_option,
)
from merestone.config import note_written
from merestone.evaluation.questions.exporting import export_questions
from merestone.evaluation.questions.files import write_text
from merestone.evaluation.questions.values import Questions
from merestone.evaluation.runs.evaluating import evaluate
from merestone.evaluation.runs.files import find_run, load_run, runs_folder, save_run
from merestone.evaluation.runs.tabulating import csv_table, trec_run
from merestone.evaluation.runs.values import Run
from merestone.library import Library
from merestone.types import NotFoundError

questions_option = click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="The file of questions; else evaluation.questions of the configuration.",
)


@click.command("eval")
@click.option(
    "-k", "ks", type=click.IntRange(1, 1000), multiple=True, help="Hits scored; may be repeated."
)
@click.option(
    "--budget",
    "budgets",
    type=click.IntRange(1),
    multiple=True,
    help="Token budget scored; may be repeated.",
)
@click.option("--tokenizer", metavar="T", help="Counts the budgets: a name or a tokenizer.json.")
@questions_option
@click.option(
    "--only", metavar="TAG|ID", multiple=True, help="Only these questions; may be repeated."
)
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
            trec = directory / trec
            note_written(library.settings.state, trec)
            with library.snapshot(principals=principals or None, as_owner=as_owner) as snapshot:
                export_questions(questions, "trec", trec, snapshot)
            write_text(trec / "run.txt", trec_run(run))
        if table is not None:
            note_written(library.settings.state, directory / table)
            write_text(directory / table, csv_table(run))
    answer(run, as_json, lambda: _told(run, before, kept))


def questions_of(library: Library, directory: Path, file: Path | None) -> Questions:
    """The questions of ``file`` in ``directory``, else those that the configuration names."""
    if file is None:
        return Questions.load(library.settings.evaluation.questions)
    note_written(library.settings.state, directory / file)
    return Questions.load(directory / file)


def chosen(questions: Questions, only: tuple[str, ...]) -> Questions:
    """Those that have one of ``only`` as their id or a tag; all if nothing is named."""
    if not only:
        return questions
    wanted = set(only)
    found = [each for each in questions if each.id in wanted or wanted & set(each.tags)]
    missing = wanted - {each.id for each in found} - {tag for each in found for tag in each.tags}
    if missing:
        raise NotFoundError(
            "question-not-found",
            f"No question has the id or tag {', '.join(sorted(missing))}.",
            "`merestone questions list` shows ids and tags.",
        )
    return Questions(found)


def _told(run: Run, before: Run | None, kept: Path) -> str:
    parts = [told_run(run)]
    if before is not None:
        parts.append(told_change(before, run))
    parts.append(f"Kept as {kept}.")
    return "\n\n".join(parts)
