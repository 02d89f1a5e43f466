"""One vector of many: from token vectors to the vector of a text or of a part of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from merestone.types import EmbedderError, SettingsError, Vectors

POOLINGS = ("mean", "cls", "last")


def check_pooling(pooling: str) -> str:
    """``pooling``, if it is one that this code has; else a ``SettingsError``."""
    if pooling not in POOLINGS:
        raise SettingsError(
            "bad-pooling",
            f"There is no pooling {pooling!r}.",
            f"Set embedding.pooling to one of {', '.join(POOLINGS)}, as the model's card says.",
        )
    return pooling


def pool(tokens: Sequence[Vectors], pooling: str) -> Vectors:
    """One vector a text, not scaled. ``tokens``: of each text an array (tokens, width), special
    tokens included."""
    if pooling == "mean":
        return np.stack([each.mean(axis=0, dtype=np.float32) for each in tokens])
    return np.stack([each[0 if pooling == "cls" else -1] for each in tokens])


def shortened(vectors: Vectors, dimension: int) -> Vectors:
    """The first ``dimension`` values of each vector, scaled to length 1.

    Models trained for it put what matters most first (Kusupati et al., "Matryoshka Representation
    Learning", 2022). A vector without direction is an ``EmbedderError``.
    """
    cut = np.asarray(vectors[:, :dimension], np.float32)
    lengths = np.linalg.norm(cut, axis=1, keepdims=True)
    if not lengths.all():
        raise EmbedderError(
            "unusable-vectors",
            f"{int((lengths == 0).sum())} of {len(cut)} vectors are nothing but zeros.",
            "Report it to the author of the embedder; nothing of this batch was stored.",
        )
    scaled: Vectors = cut / lengths
    return scaled
