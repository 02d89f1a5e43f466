"""Maximal marginal relevance (Carbonell and Goldstein 1998), over the chunks' own vectors."""

from __future__ import annotations

from collections.abc import Mapping

from merestone.types import Vectors


def redundancies(
    vectors: Mapping[int, Vectors], scores: Mapping[int, float], weight: float
) -> dict[int, float]:
    """For each number the greatest cosine to those that were chosen before it, 0 for the first.

    Chosen is by turns what has the greatest ``weight * score - (1 - weight) * cosine``. A number
    without a vector is like nothing.
    """
    nearest = dict.fromkeys(scores, 0.0)
    left = dict(scores)
    found: dict[int, float] = {}
    while left:
        chosen = max(left, key=lambda n: (weight * left[n] - (1 - weight) * nearest[n], -n))
        found[chosen] = nearest[chosen]
        del left[chosen]
        own = vectors.get(chosen)
        if own is None:
            continue
        for number in left:
            other = vectors.get(number)
            if other is not None:
                nearest[number] = max(nearest[number], float(own @ other))
    return found
