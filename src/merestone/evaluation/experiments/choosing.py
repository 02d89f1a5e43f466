"""Looking for settings that fit a library's own questions.

They are chosen by one half of the questions and confirmed on the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike

from merestone.evaluation.experiments.asking import Asking
from merestone.evaluation.experiments.comparing import comparison_of, default_measures
from merestone.evaluation.experiments.comparison import Comparison
from merestone.evaluation.experiments.configurations import DEFAULT_NAME, Configuration
from merestone.evaluation.experiments.halves import Halves, split_questions
from merestone.evaluation.experiments.scratch import Experiments, open_experiments
from merestone.evaluation.experiments.search import Search
from merestone.evaluation.experiments.tuning import Tuning, front_of
from merestone.evaluation.experiments.variables import (
    STAGES,
    Stage,
    Variable,
    cutting_variables,
    retrieval_variables,
    type_variables,
)
from merestone.evaluation.measures.spans import at
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.values import PRECISE, QuestionResult, Run
from merestone.evaluation.runs.views import CONTEXT
from merestone.evaluation.statistics.intervals import difference
from merestone.library import Library
from merestone.types import (
    CONTENT_TYPES,
    LibrarySettings,
    ProgressCallback,
    SettingsError,
    Tokenizer,
)

_FEW = 30
_FEW_OF_A_TYPE = 20
"""Questions of a content type, in the half to choose by, below which it is not tuned by itself."""
_CEILING = 0.97
_WHOLE = 1.2
"""Chunks per document up to which cutting decides nothing."""
_LIMIT = 40


def tune(
    library: Library,
    questions: Sequence[Question],
    *,
    seed: int = 0,
    measure: str | None = None,
    k: int | Sequence[int] | None = None,
    budgets: Sequence[int] | None = None,
    tokenizer: Tokenizer | str | PathLike[str] | None = None,
    as_owner: bool = False,
    mode: str = "hybrid",
    stages: Sequence[Stage] = STAGES,
    variables: Sequence[Variable] = (),
    limit: int = _LIMIT,
    kept: Callable[[str], Run | None] | None = None,
    progress: ProgressCallback = lambda _: None,
) -> Tuning:
    """Look for settings under which ``library`` answers ``questions`` better.

    The questions are split in two halves by ``seed``. By the first a configuration is chosen: one
    variable after the other, retrieval first, since that needs nothing made anew, then cutting,
    then content types with enough questions; what falls behind is dropped early. On the second
    half it is held against the library as it is, and advised only if it is significantly better
    there as well. ``measure`` decides; by default GoldCoverage at the middle budget, then FullGold
    there, then tokens. ``variables`` are tried in the place of those of ``stages``; of all no more
    than ``limit`` configurations are. ``kept`` is that of :func:`evaluate`.

    Nothing of the library is changed. Raises ``SettingsError`` as ``compare`` does, with code
    ``invalid-limit`` for a ``limit`` below 2, and ``too-few-questions`` if there are not even two
    to split.
    """
    _check_limit(limit)
    asking = Asking(k, budgets, tokenizer, as_owner, mode, progress, kept)
    asking.check(library, [measure] if measure else [])
    by_id = {question.id: question for question in questions}

    def chosen(ids: Sequence[str]) -> list[Question]:
        return [by_id[id] for id in ids]

    start = Configuration(DEFAULT_NAME)
    with open_experiments(library, as_owner=as_owner, progress=progress) as experiments:
        for option in (each for variable in variables for each in variable.options):
            experiments.check(start.with_values(DEFAULT_NAME, option))
        with experiments.trial(start) as trial:
            run = asking.ask(trial, list(by_id.values()))
        deciding = measure or at("GoldCoverage", run.main)
        usable = _usable(run, deciding)
        halves = split_questions(usable, seed)
        views = _views_for(deciding)
        search = Search(
            experiments,
            lambda tried, ids: asking.ask(tried, chosen(ids), views=views),
            halves.choosing,
            deciding,
            limit,
            progress,
        )
        search.know(start, run.results)
        search.start(start)
        if variables:
            candidate = _stepped(search, start, variables)
        else:
            types = _large_types(usable, halves) if "types" in stages else []
            candidate = _searched(search, start, library, experiments, mode, stages, types)
        confirming = chosen(halves.confirming)
        comparison = _confirmed(experiments, asking, start, candidate, confirming, deciding)
    contrast = comparison.contrast(1, deciding) if comparison else None
    return Tuning(
        measure=deciding,
        seed=seed,
        halves=halves,
        attempts=tuple(search.attempts.values()),
        candidate=candidate,
        chosen=None
        if comparison is None
        else difference(search.values(start, deciding), search.values(candidate, deciding)),
        comparison=comparison,
        is_confirmed=contrast is not None and contrast.verdict.kind == "better",
        front=front_of(list(search.attempts.values())),
        library_version=experiments.library_version,
        warnings=(*trial.notes, *_warnings(run, usable, halves, search)),
    )


def _check_limit(limit: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 2:
        raise SettingsError(
            "invalid-limit",
            f"Within {limit!r} configurations nothing can be tried: the library as it is is one.",
            "Give a limit of 2 or more.",
        )


def _usable(run: Run, deciding: str) -> list[QuestionResult]:
    """Questions to choose by and to confirm on: those of people, or, where these are few and there
    are more of them, made ones; never both together."""
    scored = [result for result in run.results if deciding in result.measures]
    asked = [result for result in scored if not result.made]
    made = [result for result in scored if result.made]
    usable = asked if len(asked) >= min(_FEW, max(1, len(made))) else made
    if len(usable) >= 2:
        return usable
    known = sorted({name for result in run.results for name in result.measures})
    if run.results and deciding not in known:
        raise SettingsError(
            "unknown-measure",
            f"No question was scored by {deciding}, which decides.",
            f"There are: {', '.join(known)}.",
        )
    raise SettingsError(
        "too-few-questions",
        f"{len(usable)} questions can be scored by {deciding}: too few to choose by some and "
        "confirm on others.",
        f"Write more; below {_FEW} little can be told.",
    )


def _whose(run: Run) -> str:
    """Why made questions alone were looked at."""
    asked = sum(not result.made for result in run.results)
    if not asked:
        return "All questions"
    return f"Those that people asked ({asked}) are too few to tune by; the questions that were used"


def _views_for(deciding: str) -> Sequence[str] | None:
    """The views that a search needs: contexts, unless hits decide."""
    return None if deciding.partition("@")[2].isdigit() else (CONTEXT, PRECISE)


def _searched(
    search: Search,
    current: Configuration,
    library: Library,
    experiments: Experiments,
    mode: str,
    stages: Sequence[Stage],
    types: Sequence[str],
) -> Configuration:
    """Stage by stage, each from where the one before it ended; retrieval once more where another
    cutting was taken."""
    reads = library.embedder.max_tokens

    def settled(current: Configuration, variables_of: _VariablesOf) -> Configuration:
        for place in range(len(variables_of(experiments.check(current)))):
            # Sizes that are tried depend on those that were taken.
            variable = variables_of(experiments.check(current))[place]
            current = search.step(current, variable)
        return current

    if "retrieval" in stages:
        current = settled(current, lambda settings: retrieval_variables(settings, mode))
    before = current
    if "cutting" in stages:
        current = settled(current, lambda settings: cutting_variables(settings, reads))
    if "types" in stages:
        current = settled(current, lambda settings: type_variables(settings, reads, types))
    if "retrieval" in stages and current is not before:
        current = settled(current, lambda settings: retrieval_variables(settings, mode))
    return current


_VariablesOf = Callable[[LibrarySettings], Sequence[Variable]]


def _stepped(
    search: Search, current: Configuration, variables: Sequence[Variable]
) -> Configuration:
    for variable in variables:
        current = search.step(current, variable)
    return current


def _large_types(results: Sequence[QuestionResult], halves: Halves) -> list[str]:
    """Content types with enough questions to be tuned by themselves, if there are several."""
    choosing = set(halves.choosing)
    counts = Counter(
        result.content_type
        for result in results
        if result.id in choosing and result.content_type in CONTENT_TYPES
    )
    large = sorted(name for name, count in counts.items() if count >= _FEW_OF_A_TYPE)
    return large if len(counts) > 1 else []


def _confirmed(
    experiments: Experiments,
    asking: Asking,
    start: Configuration,
    candidate: Configuration,
    confirming: Sequence[Question],
    deciding: str,
) -> Comparison | None:
    """The library as it is and the candidate on the other half; ``None`` if they are the same."""
    if candidate.fingerprint == start.fingerprint:
        return None
    runs, embedded = [], []
    for configuration in (start, candidate):
        with experiments.trial(configuration) as trial:
            runs.append(asking.ask(trial, confirming))
        embedded.append(trial.embedded)
    return comparison_of(
        runs,
        tuple(dict.fromkeys((deciding, *default_measures(runs[0])))),
        configurations=(start, candidate),
        embedded=tuple(embedded),
        library_version=experiments.library_version,
    )


def _warnings(
    run: Run, usable: Sequence[QuestionResult], halves: Halves, search: Search
) -> list[str]:
    """What to beware of, the weightiest first."""
    found = []
    if len(usable) < _FEW:
        found.append(
            f"{len(usable)} questions are too few to tune by: half of them choose, half confirm. "
            f"Write {_FEW} at least; 100 are good."
        )
    if all(result.made for result in usable):
        found.append(
            f"{_whose(run)} were made by a machine. They are easier than those that people ask, "
            "and what is best for them need not be best."
        )
    start = next(iter(search.attempts.values()))
    if start.quality >= _CEILING:
        found.append(
            f"The library as it is reaches {start.quality:.2f} of 1: these questions are too easy "
            "to tell what is better. Add harder ones, or measure at a smaller budget."
        )
    if run.costs.get("documents") and run.costs["chunks"] <= _WHOLE * run.costs["documents"]:
        found.append("Nearly every document is one chunk, so that cutting decides nothing here.")
    if halves.shared_documents:
        found.append(
            f"{halves.shared_documents} documents hold answers of both halves: what is confirmed "
            "holds for these documents, less surely for new ones."
        )
    if len(search.attempts) >= search.limit:
        found.append(f"The search ended at {search.limit} configurations, before its end.")
    return found
