"""One retriever for every cutting, so that the cutting is the only variable.

- bm25: BM25 (k1 = 1.2, b = 0.75, as SQLite has it) over the product's terms of the embedder input
- dense: the bundled embedder on the embedder input, exact search. Inputs over its 256 tokens,
  which only peers and larger limits have, lose their end, as their users' would
- hybrid: the product's fusion, the sum of min-max-scaled scores of both with equal weights; a
  question that is one identifier is searched by words only, as the product does
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import bm25s
import numpy as np
from cuttings import Passage
from gold import Question

from merestone.embedding import open_embedder
from merestone.embedding.cache import EmbeddingCache
from merestone.retrieval.candidates import fuse
from merestone.text.analysis import is_identifier, query_terms, terms
from merestone.text.hashing import digest
from merestone.types import Embedder, EmbeddingSettings, Scored, Tokenizer, Vectors

RETRIEVERS = ("bm25", "dense", "hybrid")

_DEPTH = 100
"""Passages that each side finds."""
_SLICE = 64
"""Texts embedded between two writes to the cache: what an interruption can cost at most."""
_CACHE_BYTES = 20_000_000_000


class CachedEmbedder:
    """The bundled embedder, with vectors kept in a file and inputs over its limit truncated."""

    def __init__(self, file: Path) -> None:
        self._embedder: Embedder = open_embedder(EmbeddingSettings(on_overlong="truncate"))
        self._cache = EmbeddingCache(file, _CACHE_BYTES)
        self.name = self._embedder.name
        self.fingerprint = self._embedder.fingerprint
        self.dimension = self._embedder.dimension
        self.max_tokens = self._embedder.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        return self._embedder.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        keys = [digest("input", text) for text in texts]
        held = self._cache.get_many(self.fingerprint, keys)
        # Neighbours in length share a batch without padding.
        missing = sorted(
            {key: text for key, text in zip(keys, texts, strict=True) if key not in held}.items(),
            key=lambda item: len(item[1]),
        )
        for first in range(0, len(missing), _SLICE):
            part = missing[first : first + _SLICE]
            vectors = self._embedder.embed_passages([text for _, text in part])
            fresh = {key: vectors[row] for row, (key, _) in enumerate(part)}
            self._cache.put_many(self.fingerprint, fresh)
            held.update(fresh)
        found = np.zeros((len(texts), self.dimension), np.float32)
        for row, key in enumerate(keys):
            found[row] = held[key]
        return found

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_queries(texts)


class Index:
    """The passages of one cutting of one set, searched in every way."""

    def __init__(self, passages: Sequence[Passage], embedder: CachedEmbedder) -> None:
        self._passages = passages
        self._embedder = embedder
        self._documents = np.array([passage.document for passage in passages])

    def search(self, questions: Sequence[Question], retriever: str) -> list[list[int]]:
        """For each question the indexes of passages, best first."""
        hybrid = retriever == "hybrid"
        lexical = self._lexical(questions) if retriever != "dense" else [[]] * len(questions)
        dense = self._dense(questions) if retriever != "bm25" else [[]] * len(questions)
        found = []
        for question, near, worded in zip(questions, dense, lexical, strict=True):
            weight = 0.5 if hybrid else float(retriever == "dense")
            if hybrid and is_identifier(question.text.strip()):
                near, weight = [], 0.0
            found.append([item.number for item in fuse(near, worded, weight)])
        return found

    @property
    def postings(self) -> int:
        """Pairs of a passage and a term in it: what a lexical index grows with."""
        return sum(len(set(_terms(passage.input))) for passage in self._passages)

    @cached_property
    def _bm25(self) -> bm25s.BM25:
        model = bm25s.BM25(k1=1.2, b=0.75)
        model.index(
            [list(_terms(passage.input)) or [""] for passage in self._passages],
            show_progress=False,
        )
        return model

    @cached_property
    def _vectors(self) -> Vectors:
        return self._embedder.embed_passages([passage.input for passage in self._passages])

    def _lexical(self, questions: Sequence[Question]) -> list[list[Scored]]:
        found = []
        for question in questions:
            known = [term for term in query_terms(question.text) if term in self._bm25.vocab_dict]
            scores = self._bm25.get_scores(known) if known else np.zeros(len(self._passages))
            found.append(self._best(question, scores, above=0.0))
        return found

    def _dense(self, questions: Sequence[Question]) -> list[list[Scored]]:
        queries = self._embedder.embed_queries([question.text for question in questions])
        scores = queries @ self._vectors.T
        return [
            self._best(question, row, above=-np.inf)
            for question, row in zip(questions, scores, strict=True)
        ]

    def _best(self, question: Question, scores: Vectors, above: float) -> list[Scored]:
        if question.scope:
            scores = np.where(np.isin(self._documents, question.scope), scores, -np.inf)
        order = np.argsort(-scores, kind="stable")[:_DEPTH]
        return [Scored(int(i), float(scores[i])) for i in order if scores[i] > above]


@lru_cache(maxsize=100_000)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(terms(text))
