"""What a library's own questions teach of its relevance.

The shipped numbers make log-odds of what is known of a hit. Questions whose answers are known say
how these should be moved and stretched for this library (Platt, "Probabilistic outputs for support
vector machines", 1999). It is judged by cross-validation: what was learned of four fifths of the
questions is tried on the rest, and kept only if it is better there beyond chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from merestone.evaluation.calibration.learning import (
    FOLDS,
    GoldDesk,
    folds_of,
    open_gold_desk,
    too_few,
)
from merestone.evaluation.calibration.logistic import Floats, fit_logistic, sigmoid
from merestone.evaluation.gold.values import Gold
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.values import Interval
from merestone.evaluation.statistics.intervals import mean_interval
from merestone.evaluation.statistics.probabilities import Goodness, goodness, losses
from merestone.library import Library, Principals
from merestone.retrieval.relevance import BY_BOTH, BY_WORDS, LOOKED_AT, judge_answer, verdict_of
from merestone.retrieval.sides import Mode
from merestone.retrieval.trace import Trace
from merestone.types import JSON

_LEAST_OUTCOMES = 10
"""Questions of which a hit holds the answer, and hits that hold none, that must be there."""
_RIDGE = 0.01
"""Pulls the slope to 1, so that few questions change little."""
_SHIPPED = (0.0, 1.0)


class Observation(NamedTuple):
    """A hit of a question: its log-odds by the shipped numbers, and whether it holds the answer."""

    question: int
    odds: float
    holds: bool


@dataclass(frozen=True, slots=True)
class RelevanceFit:
    """What the questions say of ``retrieval.relevance``."""

    numbers: tuple[float, float]
    """Intercept and slope for the log-odds, fitted on all questions."""
    questions: int
    answered: int
    """Of them, those of which a hit holds the answer."""
    answerless: int
    """Of them, those that nothing answers."""
    shipped: Goodness
    """Of the numbers as shipped."""
    fitted: Goodness
    """Of fitted numbers, each question judged by those that were fitted without it."""
    gain: Interval
    """What a question's log loss falls by, cross-validated."""
    wrong_nothing: tuple[float, float]
    """Share of the answered questions whose verdict is ``nothing``: shipped, fitted."""
    right_nothing: tuple[float, float] | None
    """Share of the answerless ones: shipped, fitted; ``None`` if there are none."""

    @property
    def is_better(self) -> bool:
        """True if the fitted numbers are better beyond chance; else keep those as shipped."""
        return self.gain.low > 0

    @property
    def settings(self) -> dict[str, JSON]:
        """For the table ``[retrieval]``; empty if nothing should be changed."""
        return {"relevance": list(self.numbers)} if self.is_better else {}

    @property
    def words(self) -> str:
        figures = (
            f"log loss {self.shipped.log_loss:.3f} as shipped, {self.fitted.log_loss:.3f} fitted, "
            f"on {self.questions} questions"
        )
        if self.is_better:
            return f"Fitted on your questions, relevance says more ({figures})."
        return f"Your questions teach nothing that relevance as shipped does not know ({figures})."

    def to_json(self) -> dict[str, JSON]:
        return {
            "numbers": list(self.numbers),
            "is_better": self.is_better,
            "questions": self.questions,
            "answered": self.answered,
            "answerless": self.answerless,
            "shipped": self.shipped.to_json(),
            "fitted": self.fitted.to_json(),
            "gain": asdict(self.gain),
            "wrong_nothing": list(self.wrong_nothing),
            "right_nothing": None if self.right_nothing is None else list(self.right_nothing),
            "settings": self.settings,
            "words": self.words,
        }


def fit_relevance(
    library: Library,
    questions: Sequence[Question],
    *,
    principals: Principals = None,
    as_owner: bool = False,
    mode: Mode = "hybrid",
) -> RelevanceFit:
    """What ``questions`` teach of how likely a hit is to hold an answer.

    Those that machines wrote are left out. Questions that nothing answers count, and should be
    there: without them it is not learned when to say so. Raises ``SettingsError`` with code
    ``too-few-questions`` below fifty, or if nearly all have one outcome.
    """
    observed: list[Observation] = []
    with open_gold_desk(library, questions, principals, as_owner=as_owner) as asked:
        for number, gold in enumerate(asked.golds):
            observed += _observed(asked, number, gold, mode)
    answered = {each.question for each in observed if each.holds}
    failing = sum(not each.holds for each in observed)
    if len(answered) < _LEAST_OUTCOMES or failing < _LEAST_OUTCOMES:
        raise too_few(len(asked.golds), f"the answer of {len(answered)} of them is found")
    return _relevance_fit(observed, asked.golds)


def _observed(asked: GoldDesk, number: int, gold: Gold, mode: Mode) -> list[Observation]:
    """The first hits of a question, as ``search`` ranks them."""
    desk = asked.desk
    plain = replace(desk.settings, relevance=(), min_relevance=0.0)
    ranking = asked.ranking(gold, plain, mode)
    judged = judge_answer(
        desk.snapshot, desk.embedder, plain, ranking, gold.question.question, 0, Trace(False)
    )
    calibration = BY_BOTH if judged.basis == "both" else BY_WORDS
    return [
        Observation(number, calibration.log_odds(each.signals), asked.holds(each.chunk, gold))
        for each in judged.whole.ranked[:LOOKED_AT]
        if each.signals is not None
    ]


def _relevance_fit(observed: Sequence[Observation], golds: Sequence[Gold]) -> RelevanceFit:
    place = np.array([each.question for each in observed])
    odds = np.array([each.odds for each in observed])
    holds = np.array([each.holds for each in observed], bool)
    folds = folds_of(golds)[place]
    fitted = np.zeros(len(observed))
    for fold in range(FOLDS):
        held = folds == fold
        intercept, slope = _platt(odds[~held], holds[~held])
        fitted[held] = sigmoid(intercept + slope * odds[held])
    shipped = sigmoid(odds)
    saved = losses(shipped, holds) - losses(fitted, holds)
    asked = np.unique(place)
    intercept, slope = _platt(odds, holds)
    answered = [number for number in asked if holds[place == number].any()]
    answerless = [number for number, gold in enumerate(golds) if not gold.question.evidence]
    return RelevanceFit(
        (round(float(intercept), 4), round(float(slope), 4)),
        len(golds),
        len(answered),
        len(answerless),
        goodness(shipped, holds),
        goodness(fitted, holds),
        mean_interval([float(saved[place == number].mean()) for number in asked]),
        (_nothing(shipped, place, answered), _nothing(fitted, place, answered)),
        (_nothing(shipped, place, answerless), _nothing(fitted, place, answerless))
        if answerless
        else None,
    )


def _platt(odds: Floats, holds: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Intercept and slope; a slope of 0 would say that nothing is known, and can't be kept."""
    found = fit_logistic(odds[:, None], holds, ridge=_RIDGE, towards=np.array(_SHIPPED))
    return np.maximum(found, [-np.inf, 0.01])


def _nothing(chances: Floats, place: Floats, questions: Sequence[int]) -> float:
    """Share of ``questions`` whose verdict is that nothing answers."""
    said = 0
    for number in questions:
        own = chances[place == number]
        said += verdict_of(float(own.max()) if len(own) else None) == "nothing"
    return said / max(1, len(questions))
