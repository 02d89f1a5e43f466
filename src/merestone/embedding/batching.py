"""Batches of similar length, and the way back to the order of the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from merestone.types import Embedder, EmbedderError, Progress, ProgressCallback, Vectors

_Row = TypeVar("_Row", bound=Sized)

_PLAIN_BATCH = 64
"""Texts handed at a time to an embedder that does not batch by itself."""


@runtime_checkable
class BatchEmbedder(Protocol):
    """An embedder that hands out vectors as they are ready, so that they can be stored at once."""

    def embed_batches(
        self, texts: Sequence[str], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Indexes into ``texts`` and their vectors, batch by batch, in any order; each index
        exactly once. ``progress`` is called after each batch."""


def embed_in_batches(
    embedder: Embedder, texts: Sequence[str], progress: ProgressCallback | None = None
) -> Iterator[tuple[list[int], Vectors]]:
    """Passages with any embedder, batch by batch, as :class:`BatchEmbedder` describes."""
    if isinstance(embedder, BatchEmbedder):
        yield from embedder.embed_batches(texts, progress)
        return
    for start in range(0, len(texts), _PLAIN_BATCH):
        part = texts[start : start + _PLAIN_BATCH]
        vectors = checked(embedder.embed_passages(part), (len(part), embedder.dimension))
        yield list(range(start, start + len(part))), vectors
        if progress is not None:
            progress(Progress("embed", start + len(part), len(texts)))


def cut_batches(
    lengths: Sequence[int], batch_tokens: int, most: int | None = None
) -> list[list[int]]:
    """Indexes of rows in batches, longest rows first.

    A batch holds at least one row, no more than fit into ``batch_tokens`` when all are padded to
    its longest, and no more than ``most``.
    """
    batches: list[list[int]] = []
    room = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if not room:
            batches.append([])
            room = max(1, batch_tokens // max(1, lengths[index]))
            room = room if most is None else min(room, max(1, most))
        batches[-1].append(index)
        room -= 1
    return batches


def encode_in_batches(
    inputs: Sequence[Sequence[_Row]],
    encode: Callable[[Sequence[_Row]], Vectors],
    batch_tokens: int,
    progress: ProgressCallback | None = None,
    most: int | None = None,
) -> Iterator[tuple[list[int], Vectors]]:
    """Vectors of texts that are each one row, such as token ids, or several windows of them. The
    length of a row is that in tokens.

    A text of several windows gets the mean of their unit vectors, scaled to length 1, once the
    last of them is there. A text without windows never comes.
    """
    rows = [(text, row) for text, windows in enumerate(inputs) for row in windows]
    missing = [len(windows) for windows in inputs]
    sums: dict[int, Vectors] = {}
    done = tokens = 0
    for batch in cut_batches([len(row) for _, row in rows], batch_tokens, most):
        encoded = encode([rows[number][1] for number in batch])
        finished: list[int] = []
        for number, vector in zip(batch, encoded, strict=True):
            text, row = rows[number]
            tokens += len(row)
            missing[text] -= 1
            sums[text] = sums[text] + vector if text in sums else vector
            if not missing[text]:
                finished.append(text)
        done += len(finished)
        if finished:
            vectors = np.stack([sums.pop(text) for text in finished])
            several = [place for place, text in enumerate(finished) if len(inputs[text]) > 1]
            vectors[several] /= np.linalg.norm(vectors[several], axis=1, keepdims=True)
            yield finished, vectors
        if progress is not None:
            progress(Progress("embed", done, len(inputs), tokens=tokens))


def gather(batches: Iterable[tuple[list[int], Vectors]], count: int, dimension: int) -> Vectors:
    """The vectors of ``batches`` as one array of shape (count, dimension), by index."""
    gathered = np.empty((count, dimension), np.float32)
    for indexes, vectors in batches:
        gathered[indexes] = vectors
    return gathered


def checked(vectors: Vectors, shape: tuple[int, int]) -> Vectors:
    """``vectors`` as float32; ``EmbedderError`` if not of ``shape``, or not finite throughout."""
    vectors = np.asarray(vectors, np.float32)
    if vectors.shape != shape:
        raise EmbedderError(
            "unusable-vectors",
            f"The embedder gave an array of shape {vectors.shape} for {shape[0]} texts; "
            f"{shape} was due.",
            "Report it to the author of the embedder; nothing of this batch was stored.",
        )
    if not np.isfinite(vectors).all():
        bad = int((~np.isfinite(vectors).all(axis=1)).sum())
        raise EmbedderError(
            "unusable-vectors",
            f"{bad} of {shape[0]} vectors hold values that are not finite.",
            "Report it to the author of the embedder; nothing of this batch was stored.",
        )
    return vectors
