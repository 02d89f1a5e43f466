"""The semantic signal: how alike the sentences on both sides of a boundary are."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.chunking.assembly import Assembly
from merestone.types import Embedder, SettingsError

_WINDOW = 2
"""Sentences looked at on each side."""


def with_meaning(
    assembly: Assembly, prices: Sequence[float], embedder: Embedder | None, weight: float
) -> list[float]:
    """``prices`` raised where neighbouring sentences are alike and lowered where they are not.

    Similarities are the cosines of the mean vectors of two sentences on each side, ranked within
    the document, since their size says little across documents. Each sentence is embedded once.
    """
    if embedder is None:
        raise SettingsError(
            "semantic-needs-embedder",
            "The semantic signal needs an embedder, and none was given.",
            "Give one, or set semantic_weight = 0 and another strategy.",
        )
    count = len(assembly.atoms)
    if count < 3:
        return list(prices)
    import numpy as np

    text = assembly.document.text
    vectors = embedder.embed_passages([text[atom.start : atom.end] for atom in assembly.atoms])
    sums = np.vstack([np.zeros_like(vectors[:1]), np.cumsum(vectors, axis=0, dtype=np.float64)])
    at = np.arange(1, count)
    before = sums[at] - sums[np.maximum(at - _WINDOW, 0)]
    behind = sums[np.minimum(at + _WINDOW, count)] - sums[at]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(behind, axis=1)
    alike = np.einsum("ij,ij->i", before, behind) / np.maximum(lengths, 1e-9)
    ranks = np.argsort(np.argsort(alike, kind="stable"), kind="stable") / max(1, count - 2)
    found = list(prices)
    for index, rank in zip(at.tolist(), ranks.tolist(), strict=True):
        found[index] = max(0.0, found[index] + weight * (rank - 0.5))
    return found
