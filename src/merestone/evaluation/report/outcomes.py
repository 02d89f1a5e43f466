"""How a question fared in one view, and which questions to look at first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from merestone.evaluation.experiments import comparison
from merestone.evaluation.measures.spans import at
from merestone.evaluation.report.views import COVERAGE
from merestone.evaluation.runs.values import QuestionResult, Run

Outcome = Literal["whole", "part", "missed", "none"]
"""``none``: the question was not scored in this view."""
Group = Literal["different", "missed", "part", "whole", "none", "made"]

GROUPS: tuple[Group, ...] = ("different", "missed", "part", "whole", "none", "made")
"""In the order in which they are shown."""
_OUTCOMES: dict[str, Outcome] = {"whole": "whole", "part": "part", "missed": "missed", "-": "none"}
"""As comparisons name them."""
_SAME = 0.005
"""Shares that differ by less are told as the same number."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question with what each run gave, ``None`` where a run does not have it."""

    id: str
    results: tuple[QuestionResult | None, ...]
    skipped: str = ""
    """Why it could not be scored, where no run has it."""
    is_apart: bool = False
    """True of a made question beside those that people asked: it is in no count of these."""

    @property
    def first(self) -> QuestionResult | None:
        """What says of the question itself is the same in every run that has it."""
        return next((result for result in self.results if result is not None), None)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why it is a miss, of every run, each once."""
        return tuple(dict.fromkeys(r.failure for r in self.results if r and r.failure))


def question_rows(runs: Sequence[Run]) -> tuple[QuestionRow, ...]:
    """Every question that any run has, in the order in which they were asked."""
    scored = [{result.key: result for result in run.results} for run in runs]
    keys = dict.fromkeys(key for results in scored for key in results)
    apart = {result.key for run in runs for result in run.apart}
    rows = [
        QuestionRow(key[0], tuple(results.get(key) for results in scored), is_apart=key in apart)
        for key in keys
    ]
    skipped = {id_: why for run in runs for id_, why in run.skipped.items()}
    for id_ in skipped.keys() & {row.id for row in rows}:
        del skipped[id_]
    nothing = (None,) * len(runs)
    return (*rows, *(QuestionRow(id_, nothing, why) for id_, why in skipped.items()))


def outcome(result: QuestionResult | None, view: str) -> Outcome:
    """Whether the whole answer was served, a part of it, or nothing."""
    return "none" if result is None else _OUTCOMES[comparison.outcome(result, view)]


def share(result: QuestionResult | None, view: str) -> float | None:
    """How much of the answer's text was served; ``None`` if that was not measured."""
    return None if result is None else result.measures.get(at(COVERAGE, view))


def group(row: QuestionRow, view: str) -> Group:
    """``different`` if the runs do not agree, else what they agree on; made questions beside those
    that people asked are a group of their own."""
    if row.is_apart:
        return "made"
    found = {outcome(result, view) for result in row.results}
    if len(found - {"none"}) > 1 or _spread(row, view) >= _SAME:
        return "different"
    agreed = found - {"none"}
    return agreed.pop() if agreed else "none"


def ordered(rows: Sequence[QuestionRow], view: str) -> tuple[int, ...]:
    """Places of ``rows``: the different ones first, the most different of them on top, then those
    that all miss."""

    def key(place: int) -> tuple[int, float, float, int]:
        row = rows[place]
        shares = list(_shares(row.results, view))
        mean = sum(shares) / len(shares) if shares else 0.0
        return GROUPS.index(group(row, view)), -_contrast(row, view), mean, place

    return tuple(sorted(range(len(rows)), key=key))


def _contrast(row: QuestionRow, view: str) -> float:
    """How far the runs are apart: first in whole answers, then in how much of it they have."""
    wholes = {outcome(result, view) == "whole" for result in row.results if result is not None}
    return (len(wholes) > 1) + _spread(row, view)


def _spread(row: QuestionRow, view: str) -> float:
    shares = list(_shares(row.results, view))
    return max(shares) - min(shares) if shares else 0.0


def _shares(results: Iterable[QuestionResult | None], view: str) -> Iterable[float]:
    return (value for result in results if (value := share(result, view)) is not None)
