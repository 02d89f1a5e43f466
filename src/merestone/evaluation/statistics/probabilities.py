"""How good probabilities are that were given to things which then came true or didn't."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merestone.evaluation.calibration.logistic import Floats
from merestone.types import JSON

_BINS = 10
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Goodness:
    """Measures of probabilities, over weighted observations."""

    log_loss: float
    brier: float
    """Mean squared distance from the outcome (Brier 1950)."""
    ece: float
    """Expected calibration error: distance of mean probability and share that came true, over ten
    bins of equal width, weighed by what is in them (Naeini et al. 2015)."""
    auc: float
    """Share of pairs of one that came true and one that didn't in which the first was given more;
    0.5 if there are none."""
    count: int

    def to_json(self) -> dict[str, JSON]:
        return {
            "log_loss": round(self.log_loss, 4),
            "brier": round(self.brier, 4),
            "ece": round(self.ece, 4),
            "auc": round(self.auc, 4),
            "count": self.count,
        }


def goodness(
    chances: Floats, outcomes: NDArray[np.bool_], weights: Floats | None = None
) -> Goodness:
    """Of at least one observation."""
    share = np.full(len(chances), 1.0) if weights is None else np.asarray(weights, np.float64)
    share = share / share.sum()
    return Goodness(
        float(share @ losses(chances, outcomes)),
        float(share @ (chances - outcomes) ** 2),
        sum(
            abs(given - true) * size for given, true, size in reliability(chances, outcomes, share)
        ),
        area(chances, outcomes),
        len(chances),
    )


def losses(chances: Floats, outcomes: NDArray[np.bool_]) -> Floats:
    """Log loss of each observation."""
    clipped = np.clip(chances, _LEAST, 1 - _LEAST)
    return np.asarray(-np.log(np.where(outcomes, clipped, 1 - clipped)), np.float64)


def reliability(
    chances: Floats, outcomes: NDArray[np.bool_], weights: Floats
) -> list[tuple[float, float, float]]:
    """By bin that holds anything: mean probability, share that came true, share of the weight."""
    place = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    found = []
    for number in range(_BINS):
        here = place == number
        size = float(weights[here].sum())
        if size > 0:
            given = float(weights[here] @ chances[here]) / size
            true = float(weights[here] @ outcomes[here]) / size
            found.append((given, true, size / float(weights.sum())))
    return found


def area(values: Floats, outcomes: NDArray[np.bool_]) -> float:
    """Area under the curve of hits against false alarms; ties count half."""
    above, below = np.sort(values[outcomes]), np.sort(values[~outcomes])
    if not len(above) or not len(below):
        return 0.5
    lower = np.searchsorted(below, above, "left") + np.searchsorted(below, above, "right")
    return float(lower.sum()) / (2 * len(above) * len(below))
