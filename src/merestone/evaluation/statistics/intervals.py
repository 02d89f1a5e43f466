"""How sure a mean over questions is, and whether two configurations differ.

Intervals are of the Bayesian bootstrap (Rubin 1981), which weighs the questions at random instead
of drawing them, with half a made-up question at each end of the scale. On values of 0 and 1 that is
the interval of Jeffreys, on paired ones close to that of Agresti and Min (2005); without the two
ends, resampling says "exactly 1" of twenty questions that all went well. The ends are 0 and 1 if a
value is 1, none is above 0, or all are the same share; else the least and the largest value, since
a precision of .05 is nowhere near 1. Seeds are fixed.

What is here needs numpy only, but for :func:`corrected`, which needs SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from merestone.evaluation.runs.values import Interval
from merestone.evaluation.statistics.randomisation import randomisation_p
from merestone.evaluation.statistics.student import t_quantile

CONFIDENCE = 0.95
POWER = 0.8
FEWEST_TOLD = 6
"""Questions that have to change, all in one direction, to be told from chance: five fall to one
side in one of sixteen cases. With 0 and 1 that is a difference of 6 / n at the least."""

_SEED = 20261130
_MOST_DRAWS = 4000
_LEAST_DRAWS = 500
_DRAWN_WEIGHTS = 4_000_000
"""What the draws are limited by for more than a thousand questions, to save time and memory."""
_PRECISION = 12
"""Decimals; what differs behind them is rounding of floats."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a configuration gives more than another, on the same questions."""

    mean: float
    low: float
    high: float
    """Of the 95 % interval over questions."""
    p: float
    """Of the sign-flip randomisation test, two-sided; 1 if no question differs."""
    count: int
    """Questions."""
    spread: float
    """Standard deviation of the questions' differences."""
    comparisons: int = 1
    """How many were corrected for."""
    adjusted_p: float = 1.0
    """By Holm (1979)."""
    wide_low: float = 0.0
    wide_high: float = 0.0
    """Of the interval that holds in all comparisons at once, in 95 % of cases."""

    @property
    def is_significant(self) -> bool:
        """The test and the interval, which are two ways to ask, both say so."""
        return self._by_test and self._by_interval

    @property
    def is_disputed(self) -> bool:
        """One of the two says so, and the other does not."""
        return self._by_test != self._by_interval

    @property
    def is_tie(self) -> bool:
        """No question differs."""
        return not self.mean and not self.spread

    @property
    def _by_test(self) -> bool:
        return self.adjusted_p <= 1 - CONFIDENCE

    @property
    def _by_interval(self) -> bool:
        return not self.low <= 0 <= self.high


def mean_interval(values: Sequence[float]) -> Interval:
    """The mean of one value a question, at least one, with its 95 % interval.

    With fewer than ten questions the interval is a rough guide.
    """
    data = np.asarray(values, np.float64)
    if not len(data):
        raise ValueError("no values")
    low, high = float(data.min()), float(data.max())
    if not _is_share(data):
        return _interval(data, low, high, _widened(len(data), 3))
    if high in {0.0, 1.0} or low == high:
        return _interval(data, 0.0, 1.0, 1.0)
    found = _interval(data, low, high, _widened(len(data), 3))
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def paired_interval(before: Sequence[float], after: Sequence[float]) -> Interval:
    """``after`` minus ``before``, paired by place: the mean with its 95 % interval."""
    first, second = np.asarray(before, np.float64), np.asarray(after, np.float64)
    data = _paired(first, second)
    are_shares = _is_share(first) and _is_share(second)
    reach = float(np.abs(data).max())
    if not reach and are_shares:
        reach = 1.0
    found = _interval(data, -reach, reach, _widened(len(data), 1))
    if not are_shares:
        return found
    return replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """``after`` minus ``before``, paired by place: one value of each for a question."""
    data = _paired(np.asarray(before, np.float64), np.asarray(after, np.float64))
    p = randomisation_p(data)
    found = paired_interval(before, after)
    low, high = found.low, found.high
    spread = float(data.std(ddof=1)) if len(data) > 1 else 0.0
    return Difference(found.mean, low, high, p, len(data), spread, 1, p, low, high)


def corrected(differences: Sequence[Difference]) -> list[Difference]:
    """The same, looked at together: p by Holm, intervals widened by Bonferroni.

    An interval is widened as Student's t is from 95 % to the level that many comparisons need.
    Without SciPy more than one raise ``SettingsError`` with the code ``extra-missing``.
    """
    total = len(differences)
    adjusted = [1.0] * total
    highest = 0.0
    order = sorted(range(total), key=lambda place: differences[place].p)
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, differences[place].p * (total - rank)))
        adjusted[place] = highest
    return [
        replace(
            one,
            comparisons=total,
            adjusted_p=p,
            wide_low=one.mean - (one.mean - one.low) * _widening(one.count, total),
            wide_high=one.mean + (one.high - one.mean) * _widening(one.count, total),
        )
        for one, p in zip(differences, adjusted, strict=True)
    ]


def questions_needed(spread: float, size: float, *, comparisons: int = 1) -> int:
    """How many questions show a difference of ``size`` in 80 % of cases, where the questions'
    differences have a standard deviation of ``spread``."""
    normal = NormalDist()
    reach = normal.inv_cdf(1 - (1 - CONFIDENCE) / 2 / comparisons) + normal.inv_cdf(POWER)
    return max(2, ceil((reach * spread / size) ** 2))


def _paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(first) != len(second) or not len(first):
        raise ValueError("paired values: as many of each, and one at least")
    return np.round(second - first, _PRECISION)


def _widening(count: int, comparisons: int) -> float:
    if comparisons == 1:
        return 1.0
    tail = (1 - CONFIDENCE) / 2
    freedom = max(1, count - 1)
    return t_quantile(1 - tail / comparisons, freedom) / t_quantile(1 - tail, freedom)


def _is_share(data: NDArray[np.float64]) -> bool:
    return bool(data.min() >= 0 and data.max() <= 1)


def _widened(count: int, missing: int) -> float:
    """What ends that are seen, and not known, are too near: for ``missing`` = 3 about as much as
    Student's interval is wider than the normal one. The ends of differences, as far to both sides
    as any is to one, miss 1."""
    return sqrt((count + missing) / max(1, count - 1))


def _interval(data: NDArray[np.float64], low: float, high: float, widened: float) -> Interval:
    """Of the weighted means, where ``low`` and ``high`` are half a question each."""
    mean = float(data.mean())
    values = np.concatenate([data, [low, high]])
    if (values == values[0]).all():
        return Interval(mean, mean, mean, len(data))
    tail = (1 - CONFIDENCE) / 2
    bottom, top = np.quantile(_weights(len(data)) @ values, [tail, 1 - tail])
    below, above = max(0.0, mean - float(bottom)), max(0.0, float(top) - mean)
    return Interval(mean, mean - widened * below, mean + widened * above, len(data))


@lru_cache(maxsize=4)
def _weights(count: int) -> NDArray[np.float64]:
    """Weights of ``count`` questions and of the two ends, one row a draw; each row sums to 1."""
    draws = min(_MOST_DRAWS, max(_LEAST_DRAWS, _DRAWN_WEIGHTS // count))
    generator = np.random.default_rng((_SEED, count))
    questions = generator.standard_exponential((draws, count))
    ends = generator.standard_gamma(0.5, (draws, 2))
    weights = np.concatenate([questions, ends], axis=1)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float64)
