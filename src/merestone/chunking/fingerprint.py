"""What a set of chunks was made by."""

from __future__ import annotations

from dataclasses import fields

from merestone.chunking import render
from merestone.text.hashing import canonical_json, digest
from merestone.types import Chunker, ChunkingSettings, Embedder, Tokenizer

_SETTINGS = tuple(field.name for field in fields(ChunkingSettings) if field.name != "types")
"""Profiles don't enter: settings that a document is cut with are those of its profile."""


def chunking_fingerprint(
    chunker: Chunker,
    settings: ChunkingSettings,
    tokenizer: Tokenizer,
    embedder: Embedder | None = None,
) -> str:
    """Hash of everything that decides chunks and their embedder inputs: strategy, revisions,
    effective sizes and tokenizer, and the embedder where meaning is asked. Versions of libraries
    don't enter."""
    asked = settings.semantic_weight > 0 or chunker.name == "semantic"
    return digest(
        "chunking",
        chunker.name,
        str(chunker.revision),
        str(render.REVISION),
        canonical_json({name: getattr(settings, name) for name in _SETTINGS}),
        tokenizer.fingerprint,
        embedder.fingerprint if embedder is not None and asked else "",
    )
