"""The strategy ``auto``: the one that suits the content type, with the sizes of its profile."""

from __future__ import annotations

from typing import ClassVar

from merestone.chunking.registry import cut
from merestone.types import ChunkingSettings, Cutting, Document, Embedder, Tokenizer


class AutoChunker:
    """Hands each document to the strategy of its content type."""

    name: ClassVar[str] = "auto"
    revision: ClassVar[int] = 1

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        return cut(document, settings, tokenizer, embedder)


CHUNKER = AutoChunker()
