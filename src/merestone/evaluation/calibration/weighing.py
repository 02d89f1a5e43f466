"""What a library's own questions teach of the weight of its two sides, meaning and words.

Judged by cross-validation, as relevance is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from merestone.evaluation.calibration.learning import (
    FOLDS,
    GoldDesk,
    folds_of,
    open_gold_desk,
    require_enough,
)
from merestone.evaluation.calibration.logistic import Floats
from merestone.evaluation.gold.values import Gold
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.values import Interval
from merestone.evaluation.statistics.intervals import mean_interval
from merestone.library import Library, Principals
from merestone.types import JSON

WEIGHTS = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
_PLAIN = 0.5
_DEPTH = 10
"""Hits among which the first that holds the answer is looked for."""


@dataclass(frozen=True, slots=True)
class WeightFit:
    """What the questions say of ``retrieval.dense_weight``."""

    weight: float
    """The best over all questions."""
    questions: int
    by_weight: tuple[tuple[float, float], ...]
    """Weight → mean reciprocal rank of the first hit that holds the answer."""
    gain: Interval
    """What choosing gains over 0.5 in reciprocal rank, cross-validated."""

    @property
    def is_better(self) -> bool:
        return self.weight != _PLAIN and self.gain.low > 0

    @property
    def settings(self) -> dict[str, JSON]:
        """For the table ``[retrieval]``; empty if nothing should be changed."""
        return {"dense_weight": self.weight} if self.is_better else {}

    @property
    def words(self) -> str:
        gain = f"{self.gain.mean:+.3f} [{self.gain.low:+.3f}, {self.gain.high:+.3f}]"
        if self.is_better:
            return f"A dense weight of {self.weight:g} finds answers earlier: {gain} in RR."
        return f"No dense weight is better than 0.5 beyond chance: {gain} in RR."

    def to_json(self) -> dict[str, JSON]:
        return {
            "weight": self.weight,
            "is_better": self.is_better,
            "questions": self.questions,
            "by_weight": [[weight, value] for weight, value in self.by_weight],
            "gain": asdict(self.gain),
            "settings": self.settings,
            "words": self.words,
        }


def learn_dense_weight(
    library: Library,
    questions: Sequence[Question],
    *,
    weights: Sequence[float] = WEIGHTS,
    principals: Principals = None,
    as_owner: bool = False,
) -> WeightFit:
    """Which weight of the dense side brings answers to the front, by the reciprocal rank of the
    first hit that holds one. Raises as :func:`fit_relevance` does."""
    tried = tuple(dict.fromkeys((*weights, _PLAIN)))
    with open_gold_desk(library, questions, principals, as_owner=as_owner) as asked:
        golds = [gold for gold in asked.golds if gold.spans]
        require_enough(len(golds), "of which an answer is known")
        table = np.array(
            [[_reciprocal_rank(asked, gold, weight) for weight in tried] for gold in golds]
        )
    folds = folds_of(golds)
    plain = tried.index(_PLAIN)
    gains = np.zeros(len(golds))
    for fold in range(FOLDS):
        held = folds == fold
        best = _best(table[~held], tried, plain)
        gains[held] = table[held, best] - table[held, plain]
    means = [round(float(value), 4) for value in table.mean(axis=0)]
    return WeightFit(
        tried[_best(table, tried, plain)],
        len(golds),
        tuple(sorted(zip(tried, means, strict=True))),
        mean_interval(gains.tolist()),
    )


def _reciprocal_rank(asked: GoldDesk, gold: Gold, weight: float) -> float:
    settings = replace(asked.desk.settings, dense_weight=weight)
    ranking = asked.ranking(gold, settings, "hybrid")
    for rank, each in enumerate(ranking.ranked[:_DEPTH], 1):
        if asked.holds(each.chunk, gold):
            return 1 / rank
    return 0.0


def _best(table: Floats, tried: Sequence[float], plain: int) -> int:
    """The column of the best mean; among equals the one nearest to the plain weight."""
    means = table.mean(axis=0).round(9)
    return min(
        range(len(tried)), key=lambda column: (-means[column], abs(tried[column] - tried[plain]))
    )
