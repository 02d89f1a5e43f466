"""Putting the same questions to several configurations, or holding saved runs together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike

from merestone.evaluation.experiments.asking import Asking
from merestone.evaluation.experiments.comparability import incomparable, on_common_questions
from merestone.evaluation.experiments.comparison import Comparison, matrix_of
from merestone.evaluation.experiments.configurations import DEFAULT_NAME, Configuration
from merestone.evaluation.experiments.scratch import open_experiments
from merestone.evaluation.measures.spans import NO_ANSWER, at
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.values import PRECISE, Run
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
    limited = on_common_questions(runs)
    notes: tuple[str, ...] = ()
    if limited != list(runs):
        common = len(limited[0].results)
        notes = (
            f"The runs did not score the same questions; {common} {'is' if common == 1 else 'are'} "
            "common to all, in their words and in what answers them, and only "
            f"{'this is' if common == 1 else 'these are'} compared. Costs are of each run as a "
            "whole.",
        )
    return comparison_of(limited, measures, notes=notes)


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
        notes=(*notes, *incomparable(runs)),
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
