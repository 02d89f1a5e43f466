"""Putting the same questions to several configurations, or holding saved runs together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike

from merestone.evaluation.experiments.asking import Asking
from merestone.evaluation.experiments.comparison import Comparison, matrix_of
from merestone.evaluation.experiments.configurations import DEFAULT_NAME, Configuration
from merestone.evaluation.experiments.scratch import open_experiments
from merestone.evaluation.measures.spans import NO_ANSWER, at
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.changes import question_key
from merestone.evaluation.runs.grouping import grouped, mean_documents, mean_measures
from merestone.evaluation.runs.values import PRECISE, QuestionResult, Run, people_first
from merestone.evaluation.statistics.contrasts import contrasts_of
from merestone.library import Library
from merestone.types import (
    LibrarySettings,
    Progress,
    ProgressCallback,
    SettingsError,
    Tokenizer,
)

_OVERLAP_SHARE = 5
"""The fixed windows of the first comparison overlap by a fifth, as is usual."""


def compare(
    library: Library,
    configurations: Sequence[Configuration] | None,
    questions: Sequence[Question],
    *,
    k: int | Sequence[int] | None = None,
    budgets: Sequence[int] | None = None,
    tokenizer: Tokenizer | str | PathLike[str] | None = None,
    as_owner: bool = False,
    mode: str = "hybrid",
    measures: Sequence[str] | None = None,
    tables: Mapping[str, Sequence[int]] | None = None,
    kept: Callable[[str], Run | None] | None = None,
    progress: ProgressCallback = lambda _: None,
) -> Comparison:
    """Put ``questions`` to each configuration of ``library``, on one state of its documents, and
    hold each against the first.

    Without ``configurations``, the library as it is and one that cuts into fixed windows are
    compared. Other cuttings and embedders are made in scratch libraries; each distinct input is
    embedded once. ``measures`` are those to compare, such as ``GoldCoverage@1000t``, the first of
    which decides. ``tables`` says which configurations vary one setting, see :class:`Comparison`.
    ``kept`` is that of :func:`evaluate`.

    Raises ``SettingsError``: ``owner-only`` once there are rules of access and the owner does not
    ask, since documents are copied; whatever is wrong with a configuration, before anything is
    made; and ``extra-missing`` without SciPy.
    """
    if configurations is None:
        configurations = first_configurations(library.settings)
    if len(configurations) < 2:
        raise SettingsError(
            "nothing-to-compare",
            "A comparison needs two configurations at least.",
            "Name another one, such as --with chunking.max_tokens=128.",
        )
    asking = Asking(k, budgets, tokenizer, as_owner, mode, progress, kept)
    asking.check(library, measures or ())
    runs: list[Run] = []
    embedded: list[int] = []
    notes: list[str] = []
    with open_experiments(library, as_owner=as_owner, progress=progress) as experiments:
        for configuration in configurations:
            experiments.check(configuration)
        for done, configuration in enumerate(configurations):
            progress(Progress("compare", done, len(configurations), item=configuration.name))
            with experiments.trial(configuration) as trial:
                runs.append(asking.ask(trial, questions))
            embedded.append(trial.embedded)
            notes += trial.notes
        return comparison_of(
            runs,
            measures,
            configurations=tuple(configurations),
            embedded=tuple(embedded),
            tables={name: tuple(columns) for name, columns in (tables or {}).items()},
            library_version=experiments.library_version,
            notes=tuple(dict.fromkeys(notes)),
        )


def compare_runs(runs: Sequence[Run], *, measures: Sequence[str] | None = None) -> Comparison:
    """Hold recorded runs against the first of them, on the questions that all of them scored."""
    if len(runs) < 2:
        raise SettingsError(
            "nothing-to-compare", "A comparison needs two runs at least.", "Name another one."
        )
    shared, notes = _on_shared_questions(runs)
    return comparison_of(shared, measures, notes=notes)


def _on_shared_questions(runs: Sequence[Run]) -> tuple[list[Run], tuple[str, ...]]:
    """The runs as if they had been asked only what all of them scored, and what to say of it."""
    key = question_key(runs)
    asked = [{key(result) for result in run.results} for run in runs]
    shared = set.intersection(*asked)
    if all(own == shared for own in asked):
        return list(runs), ()
    if not shared:
        raise SettingsError(
            "nothing-to-compare",
            "The runs have no question in common.",
            "Name runs of the same questions.",
        )
    warning = (
        f"The runs did not score the same questions; {len(shared)} are common to all, in their "
        "words and in what answers them, and only these are compared. Costs are of each run as a "
        "whole."
    )
    return [
        _limited(run, [result for result in run.results if key(result) in shared]) for run in runs
    ], (warning,)


def _limited(run: Run, results: Sequence[QuestionResult]) -> Run:
    groups = grouped(results)
    return replace(
        run,
        results=tuple(results),
        measures=mean_measures([each for each in results if not each.made]),
        groups={name: mean_measures(members) for name, members in groups.items()},
        documents=mean_documents(people_first(results)),
    )


def first_configurations(settings: LibrarySettings) -> tuple[Configuration, ...]:
    """What is compared where nothing is named."""
    return Configuration(DEFAULT_NAME), fixed_windows(settings)


def fixed_windows(settings: LibrarySettings) -> Configuration:
    """The usual first way to cut: windows of as many tokens as the library's chunks may have, a
    fifth of which overlap, without regard to what they hold."""
    limit = settings.chunking.max_tokens
    chunking = {
        "strategy": "fixed",
        "max_tokens": limit,
        "overlap_tokens": limit // _OVERLAP_SHARE,
        "context": [],
    }
    return Configuration("fixed windows", {"chunking": chunking})


def default_measures(run: Run) -> tuple[str, ...]:
    """What is compared unless something else is asked for: in the main view how much of the answer
    is served and what it costs, and of the hits whether they have it, whole and only once."""
    hits = next((view for view in run.views if view.isdigit()), None)
    names = [at(name, run.main) for name in ("GoldCoverage", "FullGold", "Precision")]
    if hits is not None:
        names += [at(name, hits) for name in ("Hit", "FullGold", "Duplication", "nDCG")]
    names += [at("Tokens", view) for view in dict.fromkeys((run.main, hits)) if view]
    if PRECISE in run.views:
        names += [at(name, PRECISE) for name in ("GoldCoverage", "IoU", "Tokens")]
    known = {name for result in run.results for name in result.measures}
    # Last what nothing answers: where all questions are of that kind it decides.
    names.append(at(NO_ANSWER, run.main))
    return tuple(name for name in dict.fromkeys(names) if name in known)


def comparison_of(
    runs: Sequence[Run],
    measures: Sequence[str] | None,
    *,
    configurations: tuple[Configuration, ...] = (),
    embedded: tuple[int, ...] = (),
    tables: Mapping[str, tuple[int, ...]] | None = None,
    library_version: int | None = None,
    notes: tuple[str, ...] = (),
) -> Comparison:
    """``runs`` held against the first of them, in ``measures`` or those that are usual."""
    first = runs[0]
    compared = tuple(measures) if measures else default_measures(first)
    _check_measures(runs, compared)
    return Comparison(
        runs=tuple(runs),
        measures=compared,
        contrasts=tuple(contrasts_of(runs, compared)),
        matrix=matrix_of(runs, first.main, compared[0]),
        configurations=configurations,
        embedded=embedded,
        tables=tables or {},
        library_version=library_version,
        notes=(*notes, *_incomparable(runs)),
    )


def _check_measures(runs: Sequence[Run], measures: Sequence[str]) -> None:
    for run in runs:
        known = {name for result in run.results for name in result.measures}
        missing = [name for name in measures if name not in known]
        if missing or not measures:
            wanted = missing[0] if missing else "any"
            raise SettingsError(
                "unknown-measure",
                f"The run {run.name or run.id[:8]} has no measure {wanted}.",
                f"It has: {', '.join(sorted(known)) or 'none, as no question was scored'}.",
            )


def _incomparable(runs: Sequence[Run]) -> list[str]:
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
    ):
        if len(values) > 1:
            found.append(f"The runs differ in the {what}.")
    return found
