"""What one question needs from a library, found once and used by all of its views.

Searching, finding evidence and looking for what was missed put the same calls to the snapshot, the
embedder and the reranker. These stand in their places and remember the answers of one state, so
that what comes out is what would come out without them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np

from merestone.embedding.cache import EmbeddingCache
from merestone.retrieval.candidates import KEPT
from merestone.retrieval.ranking import Ranking, Request, rank
from merestone.retrieval.trace import Trace
from merestone.text.hashing import digest
from merestone.types import (
    Chunk,
    Embedder,
    Filter,
    Reranker,
    RetrievalSettings,
    Scored,
    Snapshot,
    Vectors,
)

_TEXTS = 256
_DOCUMENTS = 64
_CHUNKS = 20_000
_SEARCHES = 8
_RERANKED = 64
_RANKINGS = 8


class RememberedSnapshot:
    """A snapshot that is asked the same things again and again; all else it hands on."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.text = lru_cache(_TEXTS)(snapshot.text)
        self.record = lru_cache(_TEXTS)(snapshot.record)
        self.document = lru_cache(_DOCUMENTS)(snapshot.document)
        self.chunks_of = lru_cache(_CHUNKS)(snapshot.chunks_of)
        self._chunks: dict[int, Chunk] = {}
        self._searches: dict[Hashable, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def by_number(self, numbers: Sequence[int]) -> dict[int, Chunk]:
        missing = [number for number in numbers if number not in self._chunks]
        if len(self._chunks) + len(missing) > _CHUNKS:
            self._chunks.clear()
            missing = list(numbers)
        if missing:
            self._chunks.update(self._snapshot.by_number(missing))
        return {number: self._chunks[number] for number in numbers if number in self._chunks}

    def lexical(
        self, terms: Sequence[str], limit: int, where: Filter | None = None
    ) -> list[Scored]:
        key = ("lexical", tuple(terms), limit, repr(where))
        return self._search(key, partial(self._snapshot.lexical, terms, limit, where))

    def dense(self, vector: Vectors, limit: int, where: Filter | None = None) -> list[Scored]:
        key = ("dense", vector.tobytes(), limit, repr(where))
        return self._search(key, partial(self._snapshot.dense, vector, limit, where))

    def _search(self, key: Hashable, search: partial[list[Scored]]) -> list[Scored]:
        if key not in self._searches:
            if len(self._searches) >= _SEARCHES:
                self._searches.pop(next(iter(self._searches)))
            self._searches[key] = search()
        return list(self._searches[key])


class RememberedQueries:
    """An embedder whose question vectors are made in one batch and kept in the cache; all else it
    hands on."""

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self._vectors: dict[str, Vectors] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def prepare(self, queries: Sequence[str]) -> int:
        """Have the vectors of ``queries`` ready; how many had to be embedded."""
        wanted = {_key(query): query for query in queries if query not in self._vectors}
        if not wanted:
            return 0
        found = self._cache.get_many(self._embedder.fingerprint, list(wanted))
        self._vectors.update({wanted[key]: vector for key, vector in found.items()})
        missing = {key: query for key, query in wanted.items() if key not in found}
        if missing:
            made = self._embedder.embed_queries(list(missing.values()))
            self._vectors.update(zip(missing.values(), made, strict=True))
            self._cache.put_many(self._embedder.fingerprint, dict(zip(missing, made, strict=True)))
        return len(missing)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Float32 of shape ``(len(texts), dimension)``, as the embedder's own."""
        self.prepare(texts)
        vectors: Vectors = np.stack([self._vectors[text] for text in texts])
        return vectors


def _key(query: str) -> str:
    """Tells a question's vector from that of a passage with the same words."""
    return digest("query", query)


class RememberedReranker:
    """A reranker that reads a question and texts once; all else it hands on."""

    def __init__(self, model: Reranker) -> None:
        self._model = model
        self._scores = lru_cache(_RERANKED)(self._rerank)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
        return list(self._scores(query, tuple(texts)))

    def _rerank(self, query: str, texts: tuple[str, ...]) -> list[float | None]:
        return self._model.rerank(query, texts)


class RememberedRanker:
    """Finds the ranking of a question once, for all views that want the same of it."""

    def __init__(self) -> None:
        self._rankings: dict[Hashable, Ranking] = {}

    def __call__(
        self,
        snapshot: Snapshot,
        embedder: Embedder,
        settings: RetrievalSettings,
        request: Request,
        trace: Trace,
    ) -> Ranking:
        """What ``rank`` gives, of one snapshot, embedder and settings."""
        query, k = request.query, request.k
        # All that the candidates depend on; see `find_candidates`.
        sizes = (max(settings.candidates, 2 * k), max(KEPT, k))
        key = (query, *sizes, request.mode, repr(request.where))
        if key not in self._rankings:
            if len(self._rankings) >= _RANKINGS:
                self._rankings.pop(next(iter(self._rankings)))
            least = replace(request, least=0)
            self._rankings[key] = rank(snapshot, embedder, settings, least, trace)
        found = self._rankings[key]
        if len(found.ranked) >= request.least or not found.found.rest:
            return found
        # Copies leave too few: more candidates are looked at.
        return rank(snapshot, embedder, settings, request, trace)


def remembered(snapshot: Snapshot) -> Snapshot:
    """``snapshot``, remembering."""
    return cast("Snapshot", RememberedSnapshot(snapshot))
