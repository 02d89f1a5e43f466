"""Paired differences of runs to the first of them, and what can be said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merestone.evaluation.experiments.comparison import Contrast
from merestone.evaluation.measures.spans import is_smaller_better
from merestone.evaluation.measures.units import unit_of
from merestone.evaluation.runs.grouping import groups_of
from merestone.evaluation.runs.values import QuestionKey, QuestionResult, Run, people_first
from merestone.evaluation.statistics.intervals import Difference, corrected, difference
from merestone.evaluation.statistics.verdicts import MARGIN, verdict

_FEWEST = 10
"""Questions of a group below which nothing is said of it."""
_SHARE_OF_TOKENS = 0.05
"""What of a number of tokens nobody would notice."""

_Key = tuple[int, str]
"""A column and a group."""


def contrasts_of(
    runs: Sequence[Run], measures: Sequence[str], *, with_groups: bool = True
) -> list[Contrast]:
    """Each run but the first held against the first, in each measure: over all questions that
    people asked (or, where there are none such, over those that were made), and over each group of
    them that is large enough.

    Only questions that both scored under the same words count. Raises ``SettingsError`` with code
    ``extra-missing`` without SciPy.
    """
    asked = [_by_question(people_first(run.results)) for run in runs]
    groups = _large_groups(runs[0]) if with_groups else {}
    found: list[Contrast] = []
    for measure in measures:
        whole = {
            (column, ""): pairs
            for column in range(1, len(runs))
            if (pairs := _pairs(asked[0], asked[column], measure))
        }
        parts = {
            (column, group): pairs
            for group, members in groups.items()
            for column in range(1, len(runs))
            if len(pairs := _pairs(members, _by_question(runs[column].results), measure)) >= _FEWEST
        }
        for family in (whole, parts):
            found += _judged(family, measure)
    return found


def margin_of(measure: str, baseline: float) -> float:
    """What of a difference to ``baseline`` nobody would notice."""
    if measure.startswith("Tokens@"):
        return _SHARE_OF_TOKENS * max(1.0, baseline)
    return MARGIN


def _judged(family: Mapping[_Key, Sequence[tuple[float, float]]], measure: str) -> list[Contrast]:
    """Differences that are looked at together."""
    single = [
        difference([before for before, _ in pairs], [after for _, after in pairs])
        for pairs in family.values()
    ]
    return [
        Contrast(
            column,
            measure,
            group,
            one,
            verdict(
                one,
                margin=margin_of(measure, _baseline(pairs)),
                smaller_is_better=is_smaller_better(measure),
                unit=unit_of(measure),
            ),
        )
        for ((column, group), pairs), one in zip(family.items(), _corrected(single), strict=True)
    ]


def _corrected(differences: Sequence[Difference]) -> list[Difference]:
    return corrected(differences) if differences else []


def _baseline(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(before for before, _ in pairs) / len(pairs)


def _by_question(results: Sequence[QuestionResult]) -> dict[QuestionKey, QuestionResult]:
    return {result.key: result for result in results}


def _pairs(
    first: Mapping[QuestionKey, QuestionResult],
    second: Mapping[QuestionKey, QuestionResult],
    measure: str,
) -> list[tuple[float, float]]:
    return [
        (result.measures[measure], second[key].measures[measure])
        for key, result in first.items()
        if key in second and measure in result.measures and measure in second[key].measures
    ]


def _large_groups(run: Run) -> dict[str, dict[QuestionKey, QuestionResult]]:
    """Groups that are neither everything nor the same as one before them."""
    groups: dict[str, list[QuestionResult]] = {}
    for result in run.results:
        for group in groups_of(result):
            groups.setdefault(group, []).append(result)
    found: dict[str, dict[QuestionKey, QuestionResult]] = {}
    for group, members in sorted(groups.items(), reverse=True):
        own = _by_question(members)
        is_new = all(own.keys() != other.keys() for other in found.values())
        if is_new and _FEWEST <= len(own) < len(run.results):
            found[group] = own
    return dict(sorted(found.items()))
