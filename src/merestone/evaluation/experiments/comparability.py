"""Whether runs can be held against each other: which questions they have in common, and what else
differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merestone.evaluation.runs.changes import question_key
from merestone.evaluation.runs.grouping import grouped, mean_documents, mean_measures
from merestone.evaluation.runs.values import QuestionResult, Run, people_first
from merestone.types import SettingsError


def on_common_questions(runs: Sequence[Run]) -> list[Run]:
    """The runs as if they had been asked only what all of them scored; those that scored nothing
    else as they are. Raises ``SettingsError`` with code ``nothing-to-compare`` if they have no
    question in common."""
    key = question_key(runs)
    asked = [{key(result) for result in run.results} for run in runs]
    common = set.intersection(*asked)
    if not common and any(asked):
        raise SettingsError(
            "nothing-to-compare",
            "The runs have no question in common.",
            "Name runs of the same questions.",
        )
    return [
        run
        if own == common
        else _limited(run, [result for result in run.results if key(result) in common])
        for run, own in zip(runs, asked, strict=True)
    ]


def incomparable(runs: Sequence[Run]) -> list[str]:
    """What makes the runs hard to hold against each other."""
    found = []
    if len({run.documents_hash for run in runs}) > 1:
        found.append("The runs were not made on the same state of the documents.")
        if len({run.questions_hash for run in runs}) > 1:
            found.append(
                "The questions were edited between the runs: what differs may come from there."
            )
    for what, values in (
        ("tokenizer of budgets", {run.tokenizer for run in runs}),
        ("asker", {run.asker for run in runs}),
        ("version of Merestone", {run.version for run in runs}),
    ):
        if len(values) > 1:
            found.append(f"The runs differ in the {what}.")
    return found


def _limited(run: Run, results: Sequence[QuestionResult]) -> Run:
    groups = grouped(results)
    return replace(
        run,
        results=tuple(results),
        measures=mean_measures([each for each in results if not each.made]),
        groups={name: mean_measures(members) for name, members in groups.items()},
        documents=mean_documents(people_first(results)),
    )
