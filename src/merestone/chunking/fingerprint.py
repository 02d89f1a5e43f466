"""What a set of chunks was made by."""

from __future__ import annotations

from dataclasses import asdict

from merestone.chunking import render
from merestone.text.hashing import canonical_json, digest
from merestone.types import Chunker, ChunkingSettings, Tokenizer


def chunking_fingerprint(chunker: Chunker, settings: ChunkingSettings, tokenizer: Tokenizer) -> str:
    """Hash of everything that decides chunks and their embedder inputs: strategy, revisions,
    effective sizes and tokenizer. Versions of libraries don't enter."""
    return digest(
        "chunking",
        chunker.name,
        str(chunker.revision),
        str(render.REVISION),
        canonical_json(asdict(settings)),
        tokenizer.fingerprint,
    )
