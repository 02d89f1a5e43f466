"""The bundled embedder: all-MiniLM-L6-v2, English, 256 tokens, 384 dimensions.

Its weights are int8 with a scale for each output channel (see the NOTICE beside them), its
arithmetic float32. It was trained without prefixes for queries and passages.
"""

from __future__ import annotations

from pathlib import Path

from merestone.embedding.embedder import BertEmbedder
from merestone.types import EmbeddingSettings

FOLDER = Path(__file__).parent / "models" / "minilm"
SCRIPTS = frozenset({"latin"})


def open_embedder(settings: EmbeddingSettings) -> BertEmbedder:
    """The bundled model. Cheap: reads nothing but its ``config.json``."""
    return BertEmbedder("minilm", FOLDER, settings, SCRIPTS)
