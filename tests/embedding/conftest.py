from __future__ import annotations

import pytest

from merestone.embedding.embedder import BertEmbedder
from merestone.embedding.minilm import open_embedder
from merestone.types import EmbeddingSettings


@pytest.fixture(scope="session")
def minilm() -> BertEmbedder:
    return open_embedder(EmbeddingSettings(threads=1))
