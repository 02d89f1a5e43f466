"""What became of each question between two runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from merestone.evaluation.measures.spans import is_smaller_better
from merestone.evaluation.runs.values import QuestionResult, Run
from merestone.types import JSON


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """A question that two runs asked in the same words, and one measure of it."""

    before: QuestionResult
    after: QuestionResult
    measure: str

    @property
    def values(self) -> tuple[float, float]:
        return self.before.measures[self.measure], self.after.measures[self.measure]

    @property
    def gain(self) -> float:
        """How much better it got; below 0: worse."""
        old, new = self.values
        return old - new if is_smaller_better(self.measure) else new - old

    def to_json(self) -> dict[str, JSON]:
        return {
            "id": self.after.id,
            "before": self.values[0],
            "after": self.values[1],
            "failure_before": self.before.failure,
            "failure": self.after.failure,
        }


def question_key(runs: Sequence[Run]) -> Callable[[QuestionResult], Hashable]:
    """What makes a question the same in all of ``runs``: its id, its words, and, where the
    documents were the same, the passages that answer it. Where documents were edited those move,
    and a baseline does not hold them."""
    are_kept = all(any(result.gold for result in run.results) for run in runs)
    if len({run.documents_hash for run in runs}) > 1 or not are_kept:
        return lambda result: result.key
    return lambda result: (result.key, result.match, result.gold)


def question_changes(before: Run, after: Run, measure: str) -> list[QuestionChange]:
    """The questions that both runs scored by ``measure``, what lost most first. Those that a
    machine made count only where people asked none."""
    key = question_key((before, after))
    old = {key(result): result for result in before.results}
    both = [
        QuestionChange(old[key(new)], new, measure)
        for new in after.results
        if key(new) in old and measure in new.measures and measure in old[key(new)].measures
    ]
    asked = [each for each in both if not each.after.made] or both
    return sorted(asked, key=lambda each: each.gain)
