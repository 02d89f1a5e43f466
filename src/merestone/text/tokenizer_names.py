"""Tokenizers by what people call them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from merestone.text.openai_tokens import ENCODINGS, OpenAITokenizer
from merestone.text.tokenizers import CharacterTokenizer, FileTokenizer, WordTokenizer
from merestone.types import SettingsError, Tokenizer


def tokenizer_given(value: object) -> Tokenizer | None:
    """The tokenizer that ``value`` is, or names; ``None`` for ``None``. Raises ``SettingsError``
    with code ``invalid-tokenizer`` for what is neither."""
    if value is None:
        return None
    if isinstance(value, str | os.PathLike):
        return tokenizer_named(value)
    if not all(hasattr(value, part) for part in ("name", "fingerprint", "counts", "starts")):
        raise SettingsError(
            "invalid-tokenizer",
            f"The tokenizer is given as {value!r}, of the type {type(value).__name__}.",
            "Give the path of a tokenizer.json, a name such as cl100k_base, or a tokenizer.",
        )
    return cast(Tokenizer, value)


def tokenizer_named(name: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer of a ``tokenizer.json``, of an encoding of OpenAI's such as ``cl100k_base``, or
    ``words`` or ``characters``. Raises ``SettingsError`` if there is none."""
    if name in ENCODINGS:
        return OpenAITokenizer(str(name))
    if name == WordTokenizer.name:
        return WordTokenizer()
    if name == CharacterTokenizer.name:
        return CharacterTokenizer()
    path = Path(name)
    if not path.suffix and not path.exists():
        raise SettingsError(
            "invalid-tokenizer",
            f"No tokenizer is called {str(name)!r}, and there is no such file.",
            f"Give {', '.join(ENCODINGS)}, {WordTokenizer.name}, {CharacterTokenizer.name}, or the "
            "path of a tokenizer.json.",
        )
    return FileTokenizer.from_file(path)
