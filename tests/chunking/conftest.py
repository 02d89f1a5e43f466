"""Tokenizers to cut by."""

from __future__ import annotations

import pytest

from merestone.embedding import open_embedder
from merestone.types import EmbeddingSettings, Tokenizer


@pytest.fixture(scope="session")
def bert() -> Tokenizer:
    """The tokenizer of the bundled embedder."""
    return open_embedder(EmbeddingSettings()).tokenizer
