"""Finding the vectors that exist, and embedding only what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from merestone.embedding.cache import EmbeddingCache
from merestone.embedding.late import chunk_vectors
from merestone.storage import faults
from merestone.types import Embedder, EmbedderIdentity, Snapshot, Vectors

_SLICE = 32
"""Texts embedded between two writes to the cache: what a crash can cost at most."""
CANARY = "A boundary stone stays where it was put, and others can check it."
"""Embedded once with a run's first new text, to tell if the embedder still is what it was."""
_AGREEMENT = 0.999
"""Least cosine between two answers of one embedder on different machines."""


_DROPPED_BYTES = 64 << 20


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
    document: str
    """The text of the document: what is read in mode ``late``."""
    span: tuple[int, int]
    """The chunk's place in it."""


@dataclass(slots=True)
class VectorSupply:
    """Vectors by input hash: from the cache, from the library's own rows, else embedded."""

    embedder: Embedder
    identity: EmbedderIdentity
    cache: EmbeddingCache
    mode: str = "plain"
    """As ``embedding.mode``."""
    donor: Snapshot | None = None
    """Another library, whose vectors are as good where its embedder is the same."""
    tally: Tally = field(default_factory=Tally)
    canary: bytes = b""
    """What the embedder gave in this run for the known text; empty as long as it was not asked."""
    _dropped: dict[str, Vectors] = field(default_factory=dict)
    """Of inputs that this run dropped from the library, and that the cache did not have."""

    def held(self, hashes: list[str], snapshot: Snapshot | None) -> dict[str, Vectors]:
        """Vectors of this embedder that exist already."""
        found = self.cache.get_many(self.identity.fingerprint, hashes)
        found.update({value: self._dropped[value] for value in hashes if value in self._dropped})
        for each in (snapshot, self.donor):
            missing = [value for value in hashes if value not in found]
            if missing and each:
                stored = each.generation.embedder
                if stored.fingerprint == self.identity.fingerprint:
                    found.update(each.vectors_of_inputs(missing))
        return found

    def keep(self, hashes: Iterable[str], snapshot: Snapshot) -> None:
        """Hold on to the vectors of these inputs, which are about to be dropped from the library.

        They go to the cache; as many as have room stay in memory too, for a cache that fails.
        """
        wanted = sorted(hashes)
        if not wanted or snapshot.generation.embedder.fingerprint != self.identity.fingerprint:
            return
        known = self.cache.get_many(self.identity.fingerprint, wanted)
        stored = snapshot.vectors_of_inputs([value for value in wanted if value not in known])
        self.cache.put_many(self.identity.fingerprint, stored)
        room = max(0, _DROPPED_BYTES // (4 * self.identity.dimension) - len(self._dropped))
        self._dropped.update(islice(stored.items(), room))

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
        missing = [item for value, item in wanted.items() if value not in found]
        for part in self._slices(missing):
            faults.reach("before-embed")
            vectors = self._embedded(part)
            faults.reach("after-embed")
            fresh = {item.input_hash: vectors[row] for row, item in enumerate(part)}
            self.cache.put_many(self.identity.fingerprint, fresh)
            faults.reach("after-cache")
            found.update(fresh)
            self.tally.embedded += len(part)
            self.tally.tokens += sum(item.tokens for item in part)
            on_slice()
        return found

    def _slices(self, missing: Sequence[Wanted]) -> Iterator[Sequence[Wanted]]:
        if self.mode == "plain":
            # Neighbours in length share a batch without padding.
            yield from _cut(sorted(missing, key=lambda item: (item.tokens, item.input_hash)))
            return
        # Neighbours in a document share their windows.
        documents: dict[str, list[Wanted]] = {}
        for item in missing:
            documents.setdefault(item.document, []).append(item)
        for parts in documents.values():
            yield from _cut(sorted(parts, key=lambda item: item.span))

    def _embedded(self, part: Sequence[Wanted]) -> Vectors:
        texts = [item.text for item in part]
        is_first = not self.canary
        began = time.perf_counter()
        if self.mode != "plain":
            canary = self.embedder.embed_passages([CANARY])[0] if is_first else None
            spans = [item.span for item in part]
            vectors = chunk_vectors(self.embedder, self.mode, part[0].document, spans, texts)
        else:
            given = self.embedder.embed_passages([*texts, CANARY] if is_first else texts)
            canary = given[-1] if is_first else None
            vectors = given[: len(texts)]
        self.tally.seconds += time.perf_counter() - began
        if canary is not None:
            self._compare(canary)
        return vectors

    def _compare(self, canary: Vectors) -> None:
        self.canary = np.asarray(canary, "<f4").tobytes()
        stored = np.frombuffer(self.identity.canary, "<f4")
        if len(stored) and not float(stored @ canary) >= _AGREEMENT:
            raise EmbedderChangedError(self.canary)


def _cut(items: Sequence[Wanted]) -> Iterator[Sequence[Wanted]]:
    for first in range(0, len(items), _SLICE):
        yield items[first : first + _SLICE]
