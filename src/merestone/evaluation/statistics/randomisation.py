"""The sign-flip randomisation test of paired differences."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_SEED = 20261130
_MOST_DRAWS = 9999
_LEAST_DRAWS = 1999
_DRAWN_SIGNS = 4_000_000
"""What the draws are limited by for more than a few hundred questions."""
_ALL_SIGNS = 13
"""Differences up to which every way to sign them is tried."""
_ROUNDING = 1e-9
"""Share of the sum of all differences by which two sums may differ and be equal."""


def randomisation_p(differences: NDArray[np.float64]) -> float:
    """Two-sided p, under the hypothesis that each difference could as well have had the other sign
    (Fisher 1935; for rankings Smucker, Allan and Carterette 2007).

    All signs are tried where there are few, else some drawn with a fixed seed and the observed
    ones counted among them (Phipson and Smyth 2010). Ties say nothing; of ties alone p is 1.
    """
    data = differences[differences != 0]
    if not len(data):
        return 1.0
    is_exact = len(data) <= _ALL_SIGNS
    signs = _every_sign(len(data)) if is_exact else _drawn_signs(len(data))
    bound = abs(data.sum()) - _ROUNDING * np.abs(data).sum()
    extreme = int((np.abs(signs @ data) >= bound).sum())
    return extreme / len(signs) if is_exact else (extreme + 1) / (len(signs) + 1)


@lru_cache(maxsize=8)
def _every_sign(count: int) -> NDArray[np.float64]:
    numbers = np.arange(2**count)[:, None]
    return np.asarray(1 - 2 * ((numbers >> np.arange(count)) & 1), np.float64)


@lru_cache(maxsize=4)
def _drawn_signs(count: int) -> NDArray[np.float64]:
    draws = min(_MOST_DRAWS, max(_LEAST_DRAWS, _DRAWN_SIGNS // count))
    generator = np.random.default_rng((_SEED, count))
    return np.asarray(1 - 2 * generator.integers(0, 2, (draws, count), np.int8), np.float64)
