"""Tokenizers by what people call them."""

from __future__ import annotations

import os
from pathlib import Path

from merestone.text.openai_tokens import ENCODINGS, OpenAITokenizer
from merestone.text.tokenizers import CharacterTokenizer, FileTokenizer, WordTokenizer
from merestone.types import Tokenizer


def tokenizer_named(name: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer of a ``tokenizer.json``, of an encoding of OpenAI's such as ``cl100k_base``, or
    ``words`` or ``characters``. Raises ``SettingsError`` if there is none."""
    if name in ENCODINGS:
        return OpenAITokenizer(str(name))
    if name == WordTokenizer.name:
        return WordTokenizer()
    if name == CharacterTokenizer.name:
        return CharacterTokenizer()
    return FileTokenizer.from_file(Path(name))
