"""What ``embedding.mode`` means for the chunks of one document: their keys and their vectors."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.embedding.pooling import shortened
from merestone.text.hashing import digest
from merestone.types import Embedder, SettingsError, SpanEmbedder, Vectors

Spans = Sequence[tuple[int, int]]


def chunk_keys(
    embedder: Embedder, mode: str, text: str, spans: Spans, inputs: Sequence[str]
) -> list[str]:
    """For each chunk a hash of all that its vector depends on, the embedder aside.

    ``text`` is the document's, ``spans`` the chunks' places in it, ``inputs`` the hashes of what
    the embedder would read of each in mode ``plain``. In mode ``late`` the windows of the document
    enter in the place of the input, in ``plain+late`` beside it.
    """
    if mode == "plain":
        return list(inputs)
    keys = span_embedder(embedder).span_keys(text, spans)
    if mode == "late":
        return [digest(mode, key) for key in keys]
    return [digest(mode, key, plain) for key, plain in zip(keys, inputs, strict=True)]


def chunk_vectors(
    embedder: Embedder, mode: str, text: str, spans: Spans, rendered: Sequence[str]
) -> Vectors:
    """Unit vectors of chunks of one document, float32 of shape ``(len(spans), dimension)``.

    ``rendered`` is what the embedder reads of each in mode ``plain``. Give only the chunks whose
    keys are not known yet: windows that none of them needs are not read.
    """
    if mode == "plain":
        return embedder.embed_passages(rendered)
    late = span_embedder(embedder).embed_spans(text, spans)
    if mode == "late" or not len(late):
        return late
    return shortened(embedder.embed_passages(rendered) + late, late.shape[1])


def span_embedder(embedder: Embedder) -> SpanEmbedder:
    """``embedder``, if it has token vectors; else a ``SettingsError``."""
    if not isinstance(embedder, SpanEmbedder):
        raise SettingsError(
            "late-needs-token-vectors",
            f"{embedder.name} gives vectors of texts and none of their tokens.",
            'Leave embedding.mode = "plain" and embedding.units = false, or name a model that '
            "runs here.",
        )
    return embedder
