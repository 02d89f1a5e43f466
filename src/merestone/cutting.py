"""Reading and cutting single documents, without a library."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from merestone.chunking import changes, cut, report
from merestone.chunking.measures import SizeLimits
from merestone.chunking.passages import AnySpan
from merestone.config import chunking_settings
from merestone.embedding import open_embedder
from merestone.extraction import read_document
from merestone.extraction.worker import WorkerPool
from merestone.indexing import raw_document, read_path
from merestone.text.block_tree import fault_in_blocks
from merestone.text.tokenizer_names import tokenizer_named
from merestone.types import (
    JSON,
    Chunk,
    Cutting,
    CuttingChanges,
    CuttingReport,
    Document,
    Dropped,
    Embedder,
    EmbeddingSettings,
    ExtractionSettings,
    RawDocument,
    SettingsError,
    Tokenizer,
)

LIMIT = 256
"""Tokens of a chunk by a tokenizer of which no limit is known."""


def read(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    settings: ExtractionSettings | None = None,
) -> Document:
    """Read one document from a path, or from bytes that are called ``name``.

    Formats that need limits run in a worker process. Raises ``SourceError`` for a path that
    can't be read and ``ExtractionError`` for bytes that can't.
    """
    settings = settings or ExtractionSettings()
    if isinstance(source, bytes):
        raw = RawDocument(id=name or "document", data=source)
    else:
        path = Path(source)
        raw = raw_document(name or path.name, path, read_path(path))
    with WorkerPool() as worker:
        return read_document(raw, settings, worker=worker)


def cut_document(
    document: Document | str,
    *,
    strategy: str = "auto",
    max_tokens: int | None = None,
    target_tokens: int | None = None,
    min_tokens: int | None = None,
    overlap_tokens: int | None = None,
    max_chars: int | None = None,
    overlap_chars: int | None = None,
    torn_overlap_tokens: int | None = None,
    context: Sequence[str] | None = None,
    group: int | None = None,
    separators: Sequence[str] | None = None,
    semantic_weight: float | None = None,
    chunk_size: int | None = None,
    chunk_overlap: int | None = None,
    tokenizer: Tokenizer | str | None = None,
    embedder: Embedder | None = None,
) -> Cutting:
    """Chunks of a document, or of plain text, and what is in none of them.

    Sizes are in tokens of ``tokenizer`` (one, or a name as
    :func:`~merestone.text.tokenizer_names.tokenizer_named` takes it), by default the embedder's (by
    default the bundled one), and in code points; what they mean, and ``context``, ``group``,
    ``separators`` and ``semantic_weight``, is said at :class:`~merestone.types.ChunkingSettings`.
    ``chunk_size`` and ``chunk_overlap`` are what other libraries call ``max_chars`` and
    ``overlap_chars``. Raises ``SettingsError`` (a ``ValueError``) for sizes that can't be met.
    """
    model = _model(tokenizer, embedder)
    settings = chunking_settings(
        {
            "strategy": strategy,
            "max_tokens": max_tokens,
            "target_tokens": target_tokens,
            "min_tokens": min_tokens,
            "overlap_tokens": overlap_tokens,
            "max_chars": _either("max_chars", max_chars, "chunk_size", chunk_size),
            "overlap_chars": _either(
                "overlap_chars", overlap_chars, "chunk_overlap", chunk_overlap
            ),
            "torn_overlap_tokens": torn_overlap_tokens,
            "context": context,
            "group": group,
            "separators": separators,
            "semantic_weight": semantic_weight,
        },
        model.max_tokens,
    )
    return cut(_document(document), settings, model.tokenizer, model.embedder)


def _either(name: str, value: int | None, alias: str, other: int | None) -> int | None:
    if value is not None and other is not None:
        raise SettingsError(
            "invalid-setting", f"{name} and {alias} are one setting and both given.", "Give one."
        )
    return other if value is None else value


def chunk(document: Document | str, **options: JSON) -> list[Chunk]:
    """The chunks of :func:`cut_document`, which names the options."""
    return list(cut_document(document, **options).chunks)


def examine_cutting(
    document: Document | str,
    chunks: Cutting | Iterable[AnySpan],
    *,
    max_tokens: int | None = None,
    target_tokens: int | None = None,
    min_tokens: int | None = None,
    max_chars: int | None = None,
    tokenizer: Tokenizer | str | None = None,
    dropped: Sequence[Dropped] = (),
    max_findings: int = report.MAX_FINDINGS,
) -> CuttingReport:
    """How good a cutting of a document is, without questions: what was torn, parted from what
    explains it, too small or too large, left out or repeated.

    ``chunks`` are those of any cutter: chunks, mappings with ``start`` and ``end``, or pairs of
    offsets in code points. Sizes and limits are in tokens of ``tokenizer``; it and the limits
    are by default those of :func:`cut_document`, where ``target_tokens`` bounds ``min_tokens``.
    Reports on one document with the same limits can be compared. Raises ``SettingsError`` for a
    range outside the text.
    """
    model = _model(tokenizer)
    settings = chunking_settings(
        {
            "max_tokens": max_tokens,
            "target_tokens": target_tokens,
            "min_tokens": min_tokens,
            "max_chars": max_chars,
        },
        model.max_tokens,
    )
    return report.examine_cutting(
        _document(document),
        chunks,
        limits=SizeLimits(settings.max_tokens, settings.min_tokens, settings.max_chars),
        tokenizer=model.tokenizer,
        dropped=dropped,
        max_findings=max_findings,
    )


def changes_between(
    old: Document | str,
    new: Document | str,
    *,
    old_chunks: Cutting | Sequence[Chunk] | None = None,
    new_chunks: Cutting | Sequence[Chunk] | None = None,
    **options: JSON,
) -> CuttingChanges:
    """What became of each chunk between two versions of a document, and which chunks are new.

    Versions whose chunks are not given are cut by :func:`cut_document` with ``options``, both as
    the document that ``new`` is: ids hash the document's id, and files of two versions seldom
    have one name. Chunks that are given have to be cut under one id.
    """
    old, new = _document(old), _document(new)
    if old_chunks is None:
        old_chunks = cut_document(replace(old, id=new.id), **options)
    if new_chunks is None:
        new_chunks = cut_document(new, **options)
    return changes.changes_between(old, old_chunks, new, new_chunks)


class _Model(NamedTuple):
    """What sizes are counted by."""

    tokenizer: Tokenizer
    max_tokens: int
    embedder: Embedder | None


def _model(tokenizer: Tokenizer | str | None, embedder: Embedder | None = None) -> _Model:
    """By default the bundled embedder; a tokenizer alone brings neither vectors nor a limit."""
    if isinstance(tokenizer, str):
        tokenizer = tokenizer_named(tokenizer)
    if tokenizer is not None and embedder is None:
        return _Model(tokenizer, LIMIT, None)
    embedder = embedder or _bundled_embedder()
    return _Model(tokenizer or embedder.tokenizer, embedder.max_tokens, embedder)


@cache
def _bundled_embedder() -> Embedder:
    """Opened once, since what its tokenizer has counted is remembered."""
    return open_embedder(EmbeddingSettings())


def _document(document: Document | str) -> Document:
    if isinstance(document, str):
        return Document(id="text", text=document)
    if not isinstance(document, Document):
        raise SettingsError(
            "invalid-document",
            f"{type(document).__name__} is neither a document nor its text.",
            "Read bytes and files first: merestone.read(path).",
        )
    fault = fault_in_blocks(document)
    if fault is not None:
        raise SettingsError(
            "invalid-document",
            f"{document.id} can't be cut: {fault}.",
            "Give blocks as a reader makes them: in document order, each inside its parent.",
        )
    return document
