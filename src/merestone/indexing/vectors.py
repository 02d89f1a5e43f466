"""Finding the vectors that exist, and embedding only what is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from merestone.embedding.cache import EmbeddingCache
from merestone.types import Embedder, Snapshot, Vectors

_SLICE = 32
"""Texts embedded between two writes to the cache: what a crash can cost at most."""


@dataclass(slots=True)
class Tally:
    """What embedding a run's chunks took."""

    embedded: int = 0
    cached: int = 0
    tokens: int = 0


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
    cache: EmbeddingCache
    tally: Tally = field(default_factory=Tally)

    def held(self, hashes: list[str], snapshot: Snapshot | None) -> dict[str, Vectors]:
        """Vectors of this embedder that exist already."""
        found = self.cache.get_many(self.embedder.fingerprint, hashes)
        missing = [value for value in hashes if value not in found]
        if missing and snapshot and snapshot.generation.embedder == self.embedder.fingerprint:
            found.update(snapshot.vectors_of_inputs(missing))
        return found

    def embed(
        self,
        wanted: Mapping[str, Wanted],
        held: Mapping[str, Vectors],
        on_slice: Callable[[], None],
    ) -> dict[str, Vectors]:
        """Vectors of all that is wanted. Each slice is in the cache before the next is begun, so
        an interrupted run goes on where it was. ``on_slice`` is called after each."""
        found = dict(held)
        self.tally.cached += len(held)
        # Neighbours in length share a batch without padding.
        missing = sorted(
            (item for value, item in wanted.items() if value not in found),
            key=lambda item: (item.tokens, item.input_hash),
        )
        for first in range(0, len(missing), _SLICE):
            part = missing[first : first + _SLICE]
            vectors = self.embedder.embed_passages([item.text for item in part])
            fresh = {item.input_hash: vectors[row] for row, item in enumerate(part)}
            self.cache.put_many(self.embedder.fingerprint, fresh)
            found.update(fresh)
            self.tally.embedded += len(part)
            self.tally.tokens += sum(item.tokens for item in part)
            on_slice()
        return found
