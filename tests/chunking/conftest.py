"""Tokenizers to cut by."""

from __future__ import annotations

import pytest

from merestone.embedding import open_embedder
from merestone.text.tokenizers import CharacterTokenizer, FileTokenizer, WordTokenizer
from merestone.types import EmbeddingSettings, Tokenizer

_TAUGHT = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind it at all.",
    "def size(x):\n    return x * 2\n",
    "naïve Übergrößenträger äöü",
]


@pytest.fixture(scope="session")
def bert() -> Tokenizer:
    """The tokenizer of the bundled embedder."""
    return open_embedder(EmbeddingSettings()).tokenizer


@pytest.fixture(scope="session")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A byte-level BPE, as many models have: tokens may be parts of a character, and a space is
    glued to the word behind it. It has learned little, so that most signs are several tokens."""
    from tokenizers import Tokenizer as HuggingFaceTokenizer
    from tokenizers import decoders, models, pre_tokenizers, trainers

    tokenizer = HuggingFaceTokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_TAUGHT, trainer)
    path = tmp_path_factory.mktemp("byte_level") / "tokenizer.json"
    tokenizer.save(str(path))
    return FileTokenizer.from_file(path)


@pytest.fixture(scope="session")
def tokenizers(bert: Tokenizer, byte_level: Tokenizer) -> dict[str, Tokenizer]:
    """One of each kind, by name."""
    return {
        "bert": bert,
        "byte_level": byte_level,
        "words": WordTokenizer(),
        "characters": CharacterTokenizer(),
    }
