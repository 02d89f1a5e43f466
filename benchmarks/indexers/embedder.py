"""An embedder without a model that counts what it is given."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIMENSION = 64
_SAME = 0.99
"""Cosine of vectors that are taken for one; vectors of two texts or two names are far apart, and
a store that rounds them to sixteen bits stays far closer."""


class NamedEmbedder:
    """Unit vectors of 64 dimensions that depend on its name and the text, and on nothing else."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.given = 0
        """Texts that it was asked to embed, repetitions included."""
        self.probed = 0
        """Texts that are of no document: by their vectors a system knows an embedder again."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of ``texts``, as lists: what every system takes."""
        self.given += len(texts)
        return self._vectors(texts)

    def probe(self, texts: Sequence[str]) -> list[list[float]]:
        """As :meth:`embed`, counted apart."""
        self.probed += len(texts)
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        return [vector_of(self.name, text).tolist() for text in texts]

    def made(self, text: str, vector: Sequence[float]) -> bool:
        """True if ``vector`` is this embedder's of ``text``."""
        found = np.asarray(vector, np.float32)
        length = float(np.linalg.norm(found))
        return float(found @ vector_of(self.name, text)) > _SAME * length > 0


def vector_of(name: str, text: str) -> NDArray[np.float32]:
    """The vector of a text by the embedder of that name."""
    data = f"{name}/{text}".encode("utf-8", "surrogatepass")
    bytes_ = np.frombuffer(hashlib.blake2b(data, digest_size=DIMENSION).digest(), np.uint8)
    vector = bytes_.astype(np.float32) - 127.5
    return vector / np.float32(np.linalg.norm(vector))
