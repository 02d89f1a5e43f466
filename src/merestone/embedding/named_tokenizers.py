"""The tokenizer that ``embedding.tokenizer`` names."""

from __future__ import annotations

from merestone.embedding.minilm import FOLDER
from merestone.embedding.services import BERT_UNCASED
from merestone.text.tokenizer_names import tokenizer_named
from merestone.text.tokenizers import FileTokenizer
from merestone.types import Tokenizer


def embedder_tokenizer(name: str) -> Tokenizer:
    """As :func:`~merestone.text.tokenizer_names.tokenizer_named`; beyond it knows
    ``bert-uncased``, that of the bundled model and of many others. Raises ``SettingsError``."""
    if name == BERT_UNCASED:
        return FileTokenizer.from_file(FOLDER / "tokenizer.json")
    return tokenizer_named(name)
