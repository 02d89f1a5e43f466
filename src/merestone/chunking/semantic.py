"""The strategy ``semantic``: structure, and between blocks and sentences what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from merestone.chunking.structure import StructureChunker
from merestone.types import ChunkingSettings, Cutting, Document, Embedder, Tokenizer


class SemanticChunker(StructureChunker):
    """As ``structure``, with a semantic weight of 1 unless the settings give another.

    It depends on the arithmetic of the embedder: the same chunks come out on the same machine and
    runtime only.
    """

    name: ClassVar[str] = "semantic"
    revision: ClassVar[int] = 2

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        weighted = replace(settings, semantic_weight=settings.semantic_weight or 1.0)
        return super().cut(document, weighted, tokenizer, embedder)


CHUNKER = SemanticChunker()
