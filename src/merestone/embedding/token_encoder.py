"""Running the graph of :mod:`merestone.embedding.encoder_graph`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.model import TokenIds, padded
from merestone.types import Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_MAX_DISTANCE = 128
"""Distances from here on share the last bucket."""


class TokenEncoder:
    """Rows of token ids to token vectors. Safe in threads."""

    def __init__(
        self,
        session: InferenceSession,
        look_up: Callable[[TokenIds], Vectors],
        places: Vectors,
        padding: int,
        buckets: int = 0,
    ) -> None:
        """``look_up`` gives word vectors (rows, tokens, width) of ids (rows, tokens); ``places``
        are the position vectors, type vector included, (positions, width)."""
        self._session = session
        self._look_up = look_up
        self._places = places
        self._padding = padding
        self._buckets = buckets

    def encode(self, rows: Sequence[TokenIds]) -> list[Vectors]:
        """Of each row its token vectors, float32 of shape (tokens, width)."""
        ids, mask = padded(rows, self._padding)
        embedded = self._look_up(ids).astype(np.float32, copy=False)
        inputs = {"embedded": embedded + self._places[: ids.shape[1]], "attention_mask": mask}
        if self._buckets:
            inputs["buckets"] = distance_buckets(ids.shape[1], self._buckets)
        (tokens,) = self._session.run(["tokens"], inputs)
        return [tokens[number, : len(row)] for number, row in enumerate(rows)]


def distance_buckets(tokens: int, buckets: int) -> NDArray[np.int32]:
    """The bucket of the distance from each token to each other one, (tokens, tokens).

    Half of the buckets are for what stands behind; near distances have one each, farther ones
    share them by logarithm (Raffel et al., "Exploring the Limits of Transfer Learning with a
    Unified Text-to-Text Transformer", 2020).
    """
    half = buckets // 2
    exact = half // 2
    place = np.arange(tokens)
    distance = place[None, :] - place[:, None]
    size = np.abs(distance)
    share = np.log(np.maximum(size, 1) / exact) / math.log(_MAX_DISTANCE / exact)
    far = np.minimum(exact + (share * (half - exact)).astype(np.int32), half - 1)
    bucket = np.where(size < exact, size, far) + half * (distance > 0)
    return np.asarray(bucket, np.int32)
