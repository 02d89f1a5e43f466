"""How likely a hit is to hold an answer, on a scale that means the same from question to question.

A score ranks within one question: its best hit is always near 1. The relevance of a hit is read off
things that need no other hit: how much of what the question's words weigh stands in the chunk, how
much of it in one place, and how alike the vectors are. A logistic function of these, fitted on
questions whose answers are known and on ones that nothing answers, makes a probability of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Literal, NamedTuple

from merestone.embedding.likeness import Scale, VectorStore, scale_of
from merestone.embedding.scripts import foreign_to
from merestone.retrieval.ranking import Ranked, Ranking, Signals
from merestone.retrieval.signals import read_signals
from merestone.retrieval.trace import Trace
from merestone.types import Embedder, RetrievalSettings, Snapshot, Verdict

Basis = Literal["words", "both", "unknown"]
"""What a relevance is read off; ``unknown``: off nothing, so there is none."""

LOOKED_AT = 10
"""Hits by which it is judged whether anything answers; an answer further behind is not served."""


class Calibration(NamedTuple):
    """Coefficients of a logistic function; none but the first is negative, so that more words and
    more likeness never lower the relevance."""

    intercept: float
    words: float
    near: float
    likeness: float

    def log_odds(self, signals: Signals) -> float:
        return (
            self.intercept
            + self.words * signals.words
            + self.near * signals.near
            + self.likeness * (signals.likeness or 0.0)
        )


BY_WORDS = Calibration(-5.47, 3.51, 3.47, 0.0)
"""Where a question is asked by words alone, or its vector tells nothing."""
BY_BOTH = Calibration(-6.39, 2.88, 1.92, 2.59)
"""Where vectors are compared too."""

NOTHING_BELOW = 0.03
"""Best relevance of a question below which nothing that was found is taken for an answer."""
ANSWERED_FROM = 0.15
"""From here on something is."""
NOTHING = "Nothing here seems to answer this"
"""How the note begins that goes with the verdict *nothing*."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ranking with the relevance of its hits, and what that comes to."""

    whole: Ranking
    """With those that are refused."""
    basis: Basis
    verdict: Verdict | None
    """``None``: nothing is known of the embedder's likeness, so nothing is said."""
    best: float | None = None
    """Of the first :data:`LOOKED_AT` hits."""
    least: float = 0.0
    """Hits of less are refused."""

    @property
    def refused(self) -> tuple[Ranked, ...]:
        return tuple(each for each in self.whole.ranked if self._refuses(each))

    @property
    def ranking(self) -> Ranking:
        """Without those that are refused."""
        refused = {each.candidate.number for each in self.refused}
        if not refused:
            return self.whole
        return replace(
            self.whole,
            ranked=tuple(each for each in self.whole.ranked if not self._refuses(each)),
            units=tuple(u for u in self.whole.units if u.candidate.number not in refused),
        )

    @property
    def refusals(self) -> dict[str, str]:
        """Chunk id → why it is refused."""
        return {
            each.chunk.id: (
                f"its relevance of {shown_relevance(each.relevance or 0.0)} is below {self.least:g}"
            )
            for each in self.refused
        }

    @property
    def notes(self) -> tuple[str, ...]:
        found = []
        if self.verdict == "nothing":
            found.append(_nothing(self.best))
        if self.basis == "unknown" and self.least:
            found.append(
                "retrieval.min_relevance was not applied: on what scale this embedder's likeness "
                "is can't be measured."
            )
        return tuple(found)

    def _refuses(self, each: Ranked) -> bool:
        return each.relevance is not None and each.relevance < self.least


def judge_answer(
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RetrievalSettings,
    ranking: Ranking,
    query: str,
    count: int | None,
    trace: Trace,
    kept: VectorStore | None = None,
) -> Judgement:
    """``ranking`` with the relevance of its first ``count`` hits, at least :data:`LOOKED_AT`, and
    of all of them where ``settings`` refuse some; ``None``: of all."""
    with trace.stage("relevance") as entry:
        ranked = ranking.ranked
        all_of_them = count is None or settings.min_relevance > 0
        looked = len(ranked) if all_of_them else max(count or 0, LOOKED_AT)
        basis, scale = _basis(embedder, ranking, query, kept)
        entry.update(basis=basis, scale=scale._asdict() if scale else None)
        if basis == "unknown":
            verdict_unknown: Verdict | None = None if ranked else "nothing"
            return Judgement(ranking, basis, verdict_unknown, None, settings.min_relevance)
        signals = read_signals(snapshot, ranking, ranked[:looked], query, scale)
        calibration = BY_BOTH if scale else BY_WORDS
        judged = [
            replace(
                each, signals=found, relevance=relevance(calibration, found, settings.relevance)
            )
            for each, found in zip(ranked[:looked], signals, strict=True)
        ]
        best = max((each.relevance or 0.0 for each in judged[:LOOKED_AT]), default=None)
        verdict = verdict_of(best)
        entry.update(best=best, verdict=verdict, least=settings.min_relevance)
        whole = replace(ranking, ranked=(*judged, *ranked[looked:]))
        return Judgement(whole, basis, verdict, best, settings.min_relevance)


def relevance(
    calibration: Calibration, signals: Signals, recalibration: Sequence[float] = ()
) -> float:
    """From 0 to 1. ``recalibration`` is what a library's own questions taught: an intercept and a
    slope for the log-odds (Platt 1999)."""
    odds = calibration.log_odds(signals)
    if recalibration:
        intercept, slope = recalibration
        odds = intercept + slope * odds
    return round(1 / (1 + exp(-max(-50.0, min(50.0, odds)))), 4)


def shown_relevance(relevance: float) -> str:
    """A relevance with two decimals, rounded down: one that is below a threshold never looks as
    if it were not."""
    return f"{round(relevance * 10_000) // 100 / 100:.2f}"


def verdict_of(best: float | None) -> Verdict:
    """What the best relevance of a question comes to; ``None``: nothing was found."""
    if best is None or best < NOTHING_BELOW:
        return "nothing"
    return "answered" if best >= ANSWERED_FROM else "unsure"


def _nothing(best: float | None) -> str:
    if best is None:
        return f"{NOTHING}: nothing was found."
    shown = shown_relevance(best)
    return f"{NOTHING}: the best hit has a relevance of {shown}."


def _basis(
    embedder: Embedder, ranking: Ranking, query: str, kept: VectorStore | None
) -> tuple[Basis, Scale | None]:
    """What is judged by. The vector of a question in a script that the model was not trained for
    says nothing that could be calibrated."""
    if ranking.found.vector is None or foreign_to(embedder, query):
        return "words", None
    scale = scale_of(embedder, kept)
    if scale is None:
        return "unknown", None
    return ("both", scale) if scale.is_telling else ("words", None)
