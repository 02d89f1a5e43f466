"""Which questions a verb asks, and what of the answers is scored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from merestone.config import note_written
from merestone.evaluation.questions.values import Questions
from merestone.library import Library
from merestone.types import NotFoundError, SettingsError

questions_option = click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="The file of questions; else evaluation.questions of the configuration.",
)
_OPTIONS = (
    questions_option,
    click.option(
        "--only", metavar="TAG|ID", multiple=True, help="Only these questions; may be repeated."
    ),
    click.option(
        "-k",
        "ks",
        type=click.IntRange(1, 1000),
        multiple=True,
        help="Hits scored; may be repeated.",
    ),
    click.option(
        "--budget",
        "budgets",
        type=click.IntRange(1),
        multiple=True,
        help="Token budget scored; may be repeated.",
    ),
    click.option(
        "--tokenizer", metavar="T", help="Counts the budgets: a name or a tokenizer.json."
    ),
)


def scoring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which questions are asked, and what of the answers is scored."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def questions_of(library: Library, directory: Path, file: Path | None) -> Questions:
    """The questions of ``file`` in ``directory``, else those that the configuration names; there
    is at least one."""
    path = Path(library.settings.evaluation.questions) if file is None else directory / file
    if file is not None:
        note_written(library.settings.state, path)
    questions = Questions.load(path)
    if not questions:
        raise SettingsError(
            "no-questions",
            f"There are no questions in {path}.",
            "Add one with `merestone questions add`, or let `merestone questions suggest` draft "
            "some.",
        )
    return questions


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
