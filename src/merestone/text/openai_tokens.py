"""Tokens as OpenAI's models count them, by the extra ``openai-tokens``."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from merestone.text.hashing import digest
from merestone.text.tokenizers import (
    PieceCounts,
    line_windows,
    without_surrogates,
)
from merestone.types import SettingsError

_JOINT = re.compile(r"(?<=\S)(?= \S)|(?<=[\r\n])(?=[^\S\r\n]*\S)")
"""Where their pre-tokenizers part in any case: before a space between two words, and behind the
last line end before a word."""

ENCODINGS = ("cl100k_base", "o200k_base")


def _pieces(text: str) -> tuple[list[str], int]:
    return _JOINT.split(text), 0


class OpenAITokenizer:
    """One of ``ENCODINGS``; what looks like a special token is counted as the text it is.

    Raises ``SettingsError`` if the extra is not installed.
    """

    special_tokens = 0
    adds_up = False

    def __init__(self, name: str) -> None:
        try:
            from bpe_openai import get_encoding
        except ImportError as error:
            raise SettingsError(
                "extra-missing",
                f"Tokens of {name} need a package that is not installed.",
                "Install it: pip install 'merestone[openai-tokens]'.",
            ) from error
        self.name = name
        self._encoding: Any = get_encoding(name)

    @cached_property
    def fingerprint(self) -> str:
        return digest("tokenizer", "openai", self.name)

    @cached_property
    def _memory(self) -> PieceCounts:
        return PieceCounts(_pieces, self._count_each, ())

    def counts(self, texts: Sequence[str]) -> list[int]:
        return self._memory.counts(texts)

    def _count_each(self, texts: Sequence[str]) -> list[int]:
        # One by one: handing short texts to threads takes several times as long.
        encode = self._encoding.encode_ordinary
        return [len(encode(without_surrogates(text))) for text in texts]

    def starts(self, text: str) -> array[int]:
        found = array("q")
        clean = without_surrogates(text)
        for start, end in line_windows(clean):
            tokens = self._encoding.encode_ordinary(clean[start:end])
            _, offsets = self._encoding.decode_with_offsets(tokens)
            found.extend(start + offset for offset in offsets)
        return found
