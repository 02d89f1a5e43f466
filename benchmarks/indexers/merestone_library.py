"""Merestone's library, with its defaults and an embedder that counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from indexers.embedder import DIMENSION, NamedEmbedder
from indexers.rows import Place, StoredRow, files_in
from merestone import Library, read
from merestone.chunking import cut, render
from merestone.config import chunking_settings
from merestone.embedding import open_embedder
from merestone.indexing.vectors import CANARY
from merestone.types import EmbeddingSettings, Tokenizer, Vectors

MAX_TOKENS = 256


class _Bridge:
    """The counting embedder with the bundled model's tokenizer and limit."""

    dimension = DIMENSION
    max_tokens = MAX_TOKENS

    def __init__(self, embedder: NamedEmbedder, tokenizer: Tokenizer) -> None:
        self._embedder = embedder
        self.name = self.fingerprint = f"benchmark-{embedder.name}"
        self.tokenizer = tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        # Passages of a run, and behind them at most the one text that tells embedders apart.
        passages = [text for text in texts if text != CANARY]
        vectors = self._embedder.embed(passages) + self._embedder.probe(texts[len(passages) :])
        return np.array(vectors, np.float32).reshape(len(texts), DIMENSION)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)


class MerestoneSystem:
    """The files are a source; the state lies in the folder's ``.merestone``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tokenizer = open_embedder(EmbeddingSettings()).tokenizer
        self._last: tuple[int, NamedEmbedder] | None = None

    def sync(self, size: int, embedder: NamedEmbedder, only: Sequence[str] = ()) -> None:
        self._last = size, embedder
        with self._open() as library:
            library.sync([self._folder / name for name in only])

    def rows(self) -> list[StoredRow]:
        found = []
        with self._open() as library, library.snapshot() as snapshot:
            wrong = snapshot.check()
            if wrong:
                raise SystemExit(f"The library is not in step with itself: {wrong}")
            numbers = [number for number, _, _ in snapshot.numbers()]
            for begin in range(0, len(numbers), 1000):
                part = numbers[begin : begin + 1000]
                chunks, vectors = snapshot.by_number(part), snapshot.vectors(part)
                for number in part:
                    chunk = chunks[number]
                    vector = vectors.get(number, np.zeros(DIMENSION, np.float32))
                    found.append(StoredRow(chunk.document, render(chunk), vector.tolist()))
        return found

    def wanted(self, size: int) -> list[Place]:
        settings = chunking_settings({"max_tokens": size}, MAX_TOKENS)
        found = []
        for name, path in files_in(self._folder):
            cutting = cut(read(path), settings, self._tokenizer)
            found += [Place(name, render(chunk)) for chunk in cutting.chunks]
        return found

    def _open(self) -> Library:
        assert self._last is not None
        size, embedder = self._last
        library = Library.open(self._folder, chunking={"max_tokens": size})
        library.embedder = _Bridge(embedder, self._tokenizer)
        return library
