"""Finding the vectors that exist, and embedding only what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from merestone.embedding.cache import EmbeddingCache
from merestone.storage import faults
from merestone.types import Embedder, EmbedderIdentity, Snapshot, Vectors

_SLICE = 32
"""Texts embedded between two writes to the cache: what a crash can cost at most."""
CANARY = "A boundary stone stays where it was put, and others can check it."
"""Embedded once with a run's first new text, to tell if the embedder still is what it was."""
_AGREEMENT = 0.999
"""Least cosine between two answers of one embedder on different machines."""


class EmbedderChangedError(Exception):
    """The embedder gives other vectors than those stored under its fingerprint."""

    def __init__(self, canary: bytes) -> None:
        super().__init__()
        self.canary = canary


@dataclass(slots=True)
class Tally:
    """What embedding a run's chunks took. The canary is not counted."""

    embedded: int = 0
    cached: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Wall time inside of the embedder."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An embedder input without a vector yet."""

    input_hash: str
    text: str
    tokens: int


@dataclass(slots=True)
class VectorSupply:
    """Vectors by input hash: from the cache, from the library's own rows, else embedded."""

    embedder: Embedder
    identity: EmbedderIdentity
    cache: EmbeddingCache
    tally: Tally = field(default_factory=Tally)
    canary: bytes = b""
    """What the embedder gave in this run for the known text; empty as long as it was not asked."""

    def held(self, hashes: list[str], snapshot: Snapshot | None) -> dict[str, Vectors]:
        """Vectors of this embedder that exist already."""
        found = self.cache.get_many(self.identity.fingerprint, hashes)
        missing = [value for value in hashes if value not in found]
        if missing and snapshot:
            stored = snapshot.generation.embedder
            if stored.fingerprint == self.identity.fingerprint:
                found.update(snapshot.vectors_of_inputs(missing))
        return found

    def keep(self, hashes: Iterable[str], snapshot: Snapshot) -> None:
        """See that the cache has the vectors of these inputs, which are about to be dropped."""
        wanted = sorted(hashes)
        known = self.cache.get_many(self.identity.fingerprint, wanted)
        missing = [value for value in wanted if value not in known]
        if missing and snapshot.generation.embedder.fingerprint == self.identity.fingerprint:
            stored = snapshot.vectors_of_inputs(missing)
            self.cache.put_many(self.identity.fingerprint, stored)

    def embed(
        self,
        wanted: Mapping[str, Wanted],
        held: Mapping[str, Vectors],
        on_slice: Callable[[], None],
    ) -> dict[str, Vectors]:
        """Vectors of all that is wanted. Each slice is in the cache before the next is begun, so
        an interrupted run goes on where it was. ``on_slice`` is called after each.

        Raises :class:`EmbedderChangedError` before anything is kept if the embedder is no longer
        the one that made the stored vectors.
        """
        found = dict(held)
        self.tally.cached += len(held)
        # Neighbours in length share a batch without padding.
        missing = sorted(
            (item for value, item in wanted.items() if value not in found),
            key=lambda item: (item.tokens, item.input_hash),
        )
        for first in range(0, len(missing), _SLICE):
            part = missing[first : first + _SLICE]
            faults.reach("before-embed")
            vectors = self._embedded([item.text for item in part])
            faults.reach("after-embed")
            fresh = {item.input_hash: vectors[row] for row, item in enumerate(part)}
            self.cache.put_many(self.identity.fingerprint, fresh)
            faults.reach("after-cache")
            found.update(fresh)
            self.tally.embedded += len(part)
            self.tally.tokens += sum(item.tokens for item in part)
            on_slice()
        return found

    def _embedded(self, texts: list[str]) -> Vectors:
        is_first = not self.canary
        began = time.perf_counter()
        vectors = self.embedder.embed_passages([*texts, CANARY] if is_first else texts)
        self.tally.seconds += time.perf_counter() - began
        if is_first:
            self._compare(vectors[-1])
        return vectors[: len(texts)]

    def _compare(self, canary: Vectors) -> None:
        self.canary = np.asarray(canary, "<f4").tobytes()
        stored = np.frombuffer(self.identity.canary, "<f4")
        if len(stored) and not float(stored @ canary) >= _AGREEMENT:
            raise EmbedderChangedError(self.canary)
