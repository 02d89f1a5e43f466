"""Opening libraries, counting what the embedder is given, and comparing two libraries."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from durability.documents import CHUNKING

from merestone import Library
from merestone.embedding.hashing import HashingEmbedder
from merestone.indexing.vectors import CANARY
from merestone.types import EmbeddingSettings, Snapshot, Vectors

BATCH = 4
"""Documents stored in one transaction."""
SLICE = 8
"""Texts that may be embedded twice after a crash: those between two writes to the cache."""


def hash_of(text: str) -> str:
    """By which a log of :class:`CountingEmbedder` knows a text."""
    return hashlib.sha256(text.encode()).hexdigest()


class CountingEmbedder(HashingEmbedder):
    """The hashing embedder, which writes a line to a file for each text that it is given.

    Appended by single writes, so that a process that is killed has told all that it was given.
    """

    def __init__(self, log: Path, on_overlong: str) -> None:
        super().__init__(EmbeddingSettings(model="hashing", on_overlong=on_overlong))
        self._log = log

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        lines = [hash_of(text) + "\n" for text in texts if text != CANARY]
        descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, "".join(lines).encode())
        finally:
            os.close(descriptor)
        return super().embed_passages(texts)


def open_library(
    root: Path,
    *,
    log: Path | None = None,
    chunking: Mapping[str, Any] | None = None,
    on_overlong: str = "error",
) -> Library:
    """The library of ``root`` with the hashing embedder; another ``on_overlong`` makes another
    embedder of it."""
    library = Library.open(
        root,
        embedding={"model": "hashing", "on_overlong": on_overlong},
        chunking=dict(chunking or CHUNKING),
    )
    if log is not None:
        library.__dict__["embedder"] = CountingEmbedder(log, on_overlong)
    return library


def whole(library: Library) -> AbstractContextManager[Snapshot]:
    """A snapshot that sees everything."""
    return library.snapshot(as_owner=True)


def given(log: Path) -> list[str]:
    """Hashes of the texts that embedders were given."""
    return log.read_text().split() if log.exists() else []


def contents(library: Library, words: Sequence[str]) -> dict[str, Any]:
    """All that a reader can see, without numbers, times, places in the file system and history.

    ``words`` are looked up in the lexical index.
    """
    with whole(library) as snapshot:
        ids = {number: chunk for number, chunk, _ in snapshot.numbers()}
        vectors = snapshot.vectors(list(ids))
        records = list(snapshot.records())
        documents = [snapshot.document(record.id) for record in records]
        query = library.embedder.embed_queries([" ".join(words[:5])])[0]
        return {
            "faults": snapshot.check(),
            "records": [
                replace(record, uri="", mtime_ns=0, indexed_at="", moved_from=None)
                for record in records
            ],
            "documents": [document and replace(document, uri="") for document in documents],
            "chunks": {record.id: snapshot.chunks_of(record.id) for record in records},
            "inputs": {record.id: snapshot.inputs(record.id) for record in records},
            "vectors": {ids[number]: row.tobytes() for number, row in vectors.items()},
            "dense": sorted(
                (ids[number], round(score, 5)) for number, score in snapshot.dense(query, 10**6)
            ),
            "lexical": {
                word: sorted(
                    (ids[number], round(score, 5))
                    for number, score in snapshot.lexical([word], 10**6)
                )
                for word in words
            },
        }


def some(words: Sequence[str], count: int = 40) -> list[str]:
    """A sample that is the same every time."""
    return random.Random(1).sample(list(words), min(count, len(words)))
