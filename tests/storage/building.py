"""Small libraries for the tests of storage. Vectors and terms follow from a passage's words."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from merestone.storage.engine import SQLiteStore
from merestone.storage.writer import SQLiteWriter
from merestone.types import (
    OWNER,
    Block,
    Chunk,
    ChunkRow,
    Document,
    DocumentRecord,
    EmbedderIdentity,
    Put,
    Segments,
    Unit,
    Vectors,
)

DIMENSION = 24


def writing(store: SQLiteStore, embedder: str = "e1") -> AbstractContextManager[SQLiteWriter]:
    return store.writer(EmbedderIdentity(embedder, "test", DIMENSION))


def key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def vector(text: str) -> Vectors:
    """A unit vector that depends on ``text`` alone."""
    drawn = np.random.default_rng(int(key(text), 16)).standard_normal(DIMENSION)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def put(
    document: str,
    passages: Sequence[str],
    *,
    heading: str = "",
    vectors: bool | Mapping[str, Vectors] = True,
    **record: Any,
) -> Put:
    """A document of ``passages``, one chunk each; ``heading`` enters the embedder input."""
    text = "\n".join(passages)
    version = key("\0".join([*passages, heading, repr(sorted(record.items()))]))
    rows: list[ChunkRow] = []
    seen: Counter[str] = Counter()
    start = 0
    for ordinal, passage in enumerate(passages):
        seen[passage] += 1
        chunk = Chunk(
            id=key(f"{document}|{passage}|{seen[passage]}"),
            document=document,
            version=version,
            ordinal=ordinal,
            total=len(passages),
            start=start,
            end=start + len(passage),
            text=passage,
            tokens=len(passage.split()) + 2,
            kind="prose",
            heading_path=(heading,) if heading else (),
            metadata=record.get("metadata", {}),
            units=(Unit(start, start + len(passage), "sentence", "", start, start),),
            config="c1",
        )
        embedded = f"{heading}\n{passage}"
        given = vectors.get(passage) if isinstance(vectors, Mapping) else None
        if vectors is True:
            given = vector(embedded)
        terms = tuple(f"{heading} {passage}".lower().split())
        rows.append(ChunkRow(chunk, key(embedded), terms, given))
        start += len(passage) + 1
    shared: dict[str, Any] = {"media_type": "text/markdown", **record}
    of_document = {
        name: value
        for name, value in shared.items()
        if name in ("media_type", "title", "language", "metadata", "source_hash", "uri", "status")
    }
    return Put(
        DocumentRecord(document, version=version, **shared),
        Document(
            document,
            text,
            blocks=(Block("paragraph", 0, len(text)),) if text else (),
            segments=Segments.identity(len(text)),
            line_starts=(0,),
            version=version,
            **of_document,
        ),
        tuple(rows),
    )


def numbers_by_id(store: SQLiteStore) -> dict[str, int]:
    with store.snapshot(OWNER) as snapshot:
        return {chunk: number for number, chunk, _ in snapshot.numbers()}


def contents(store: SQLiteStore) -> dict[str, Any]:
    """All that a reader can see, without chunk numbers, versions of the library and history."""
    with store.snapshot(OWNER) as snapshot:
        ids = {number: chunk for number, chunk, _ in snapshot.numbers()}
        vectors = snapshot.vectors(list(ids))
        words = sorted({word for record in snapshot.records() for word in _words(snapshot, record)})
        return {
            "records": list(snapshot.records()),
            "left out": snapshot.left_out(),
            "documents": [snapshot.document(record.id) for record in snapshot.records()],
            "chunks": {record.id: snapshot.chunks_of(record.id) for record in snapshot.records()},
            "inputs": {record.id: snapshot.inputs(record.id) for record in snapshot.records()},
            "vectors": {ids[number]: row.tobytes() for number, row in vectors.items()},
            "lexical": {
                word: sorted(
                    (ids[number], round(score, 6)) for number, score in snapshot.lexical([word], 99)
                )
                for word in words
            },
        }


def _words(snapshot: Any, record: DocumentRecord) -> set[str]:
    return {word for chunk in snapshot.chunks_of(record.id) for word in chunk.text.lower().split()}
