"""The vectors of a library as an examination of its index searches them, and what to ask them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from merestone.evaluation.questions.files import read_questions
from merestone.library import Library
from merestone.storage.dense import Numbers, Segment, most_rows, quantise
from merestone.types import SettingsError, Snapshot, Vectors

_SLICE = 10_000
"""Rows read at a time."""
_HELD_OUT = 10
"""At most one row in so many is held out for a query."""
_NOISE = 0.4
"""Length of what is added to a held-out unit vector: a cosine of about .93 to what it was."""
_LEAST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Examined:
    """What is searched, and for what."""

    vectors: NDArray[np.float16]
    documents: Numbers
    """The document of each row, as a number from 0."""
    queries: Vectors
    queries_from: str
    stored: int


def read_examined(library: Library, rows: int, queries: int, as_owner: bool) -> Examined:
    """At most ``rows`` vectors of a library, and at most ``queries`` queries: its questions, or
    held-out vectors with noise where it has none."""
    with library.serving(as_owner=as_owner) as serving:
        numbers = [number for number, _, _ in serving.snapshot.numbers()]
        if len(numbers) < _LEAST_ROWS:
            raise SettingsError(
                "too-few-chunks",
                f"The library has {len(numbers)} chunks: too few to compare indexes on.",
                "Sync more documents. Below some tens of thousands the exact scan is right.",
            )
        drawn = np.random.default_rng(0)
        order = drawn.permutation(len(numbers))[: rows + queries]
        vectors = _vectors(serving.snapshot, [numbers[at] for at in sorted(order)])
        owners = _documents(serving.snapshot)
        documents = np.array([owners[numbers[at]] for at in sorted(order)], dtype=np.int64)
        texts = _questions(Path(library.settings.evaluation.questions))
        if texts:
            chosen = drawn.permutation(len(texts))[:queries]
            asked = serving.embedder.embed_queries([texts[at] for at in chosen])
            return Examined(vectors[:rows], documents[:rows], asked, "questions", len(numbers))
    return _held_out(vectors, documents, rows, queries, len(numbers))


def _held_out(
    vectors: NDArray[np.float16], documents: Numbers, rows: int, queries: int, stored: int
) -> Examined:
    drawn = np.random.default_rng(1)
    order = drawn.permutation(len(vectors))
    count = min(queries, len(vectors) // _HELD_OUT)
    out, kept = order[:count], np.sort(order[count:][:rows])
    return Examined(vectors[kept], documents[kept], noisy(vectors[out], drawn), "noise", stored)


def noisy(vectors: NDArray[np.float16], drawn: np.random.Generator) -> Vectors:
    """Unit vectors near to those given."""
    noise = drawn.standard_normal(vectors.shape) * (_NOISE / np.sqrt(vectors.shape[1]))
    moved = vectors.astype(np.float32) + noise
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    unit: Vectors = (moved / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def _vectors(snapshot: Snapshot, numbers: Sequence[int]) -> NDArray[np.float16]:
    """Rows of these chunks, in their order."""
    parts = []
    for first in range(0, len(numbers), _SLICE):
        part = numbers[first : first + _SLICE]
        found = snapshot.vectors(part)
        parts.append(np.stack([found[number] for number in part]).astype(np.float16))
    return np.concatenate(parts)


def _documents(snapshot: Snapshot) -> dict[int, int]:
    """Chunk number → a number for its document."""
    owner = {
        chunk: at
        for at, document in enumerate(snapshot.document_ids())
        for chunk in snapshot.inputs(document)
    }
    return {number: owner[chunk] for number, chunk, _ in snapshot.numbers()}


def _questions(path: Path) -> list[str]:
    return [each.question for each in read_questions(path)] if path.is_file() else []


def segments_of(vectors: NDArray[np.float16], documents: Numbers) -> list[Segment]:
    """Rows as a library keeps them, numbered from 0."""
    found = []
    size = most_rows(vectors.shape[1])
    for first in range(0, len(vectors), size):
        rows = np.ascontiguousarray(vectors[first : first + size])
        codes, scales, bounds = quantise(rows)
        chunks = np.arange(first, first + len(rows), dtype=np.int64)
        own = documents[first : first + size]
        found.append(Segment(first, chunks, own, scales, bounds, codes, rows))
    return found
