"""Logistic regression with few coefficients, none of which may be negative but the first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 200
_PRECISION = 1e-9
_RIDGE = 1e-6
"""Keeps coefficients finite where outcomes can be told without a fault."""


def fit_logistic(
    features: Floats,
    outcomes: NDArray[np.bool_],
    weights: Floats | None = None,
    *,
    ridge: float = _RIDGE,
    towards: Floats | None = None,
) -> Floats:
    """Intercept and coefficients that make the outcomes likeliest, as one array.

    ``features`` has a row an observation and no column of ones. Coefficients are held at 0 or
    above; ``ridge`` pulls all but the intercept to ``towards``, by default 0. Newton's method on
    those that are free (Bertsekas 1982), so that the same data always give the same numbers.
    """
    rows = np.hstack([np.ones((len(features), 1)), np.asarray(features, np.float64)])
    share = np.full(len(rows), 1.0) if weights is None else np.asarray(weights, np.float64)
    share = share / share.sum()
    target = np.asarray(outcomes, np.float64)
    pull = np.r_[0.0, np.full(rows.shape[1] - 1, ridge)]
    centre = np.zeros(rows.shape[1]) if towards is None else np.asarray(towards, np.float64)

    def loss(values: Floats) -> float:
        odds = rows @ values
        fit = share @ (np.logaddexp(0, odds) - target * odds)
        return float(fit + 0.5 * pull @ (values - centre) ** 2)

    found = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chance = sigmoid(rows @ found)
        slope = rows.T @ (share * (chance - target)) + pull * (found - centre)
        is_free = np.r_[True, (found[1:] > 0) | (slope[1:] < 0)]
        spread = share * chance * (1 - chance)
        curve = (rows * spread[:, None]).T @ rows + np.diag(pull + 1e-12)
        step = np.zeros(len(found))
        step[is_free] = np.linalg.solve(curve[np.ix_(is_free, is_free)], slope[is_free])
        size, before = 1.0, loss(found)
        while True:
            tried = _bounded(found - size * step)
            if loss(tried) <= before or size < _PRECISION:
                break
            size /= 2
        moved = float(np.abs(tried - found).max())
        found = tried
        if moved < _PRECISION:
            break
    return found


def sigmoid(odds: Floats) -> Floats:
    """Probabilities of log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -50, 50))), np.float64)


def _bounded(values: Floats) -> Floats:
    return np.concatenate([values[:1], np.maximum(values[1:], 0)])
