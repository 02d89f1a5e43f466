"""An embedder without a model, for tests of scale and of crashes.

Words are hashed to one of 64 places with a sign (feature hashing: Weinberger et al., "Feature
Hashing for Large Scale Multitask Learning", ICML 2009). Texts that share words get similar
vectors, and nothing else does: it knows no meaning and is not a default of anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from merestone.embedding.overlong import check_settings, input_too_long
from merestone.text.hashing import digest
from merestone.text.tokenizers import WordTokenizer
from merestone.types import EmbeddingSettings, Progress, ProgressCallback, Tokenizer, Vectors

_REVISION = 1
_DIMENSION = 64
_MAX_TOKENS = 256
_BATCH = 256
_WORD = re.compile(r"\w+")


def open_embedder(settings: EmbeddingSettings) -> HashingEmbedder:
    """The hashing embedder; of ``settings`` only ``on_overlong`` matters to it."""
    return HashingEmbedder(settings)


class HashingEmbedder:
    """Texts to unit vectors of 64 dimensions by their words alone, the same on every machine."""

    name = "hashing"
    dimension = _DIMENSION
    max_tokens = _MAX_TOKENS

    def __init__(self, settings: EmbeddingSettings) -> None:
        check_settings(settings)
        self._on_overlong = settings.on_overlong
        self._tokenizer = WordTokenizer()

    @property
    def fingerprint(self) -> str:
        parts = [] if self._on_overlong == "error" else [self._on_overlong]
        return digest("hashing", str(_REVISION), str(_DIMENSION), str(_MAX_TOKENS), *parts)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape ``(len(texts), 64)``. Of a text beyond the limit, ``truncate`` reads
        the first 256 tokens and ``window`` all."""
        return self._embed(texts, self._on_overlong)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`embed_passages`; a query beyond the limit is read whole."""
        return self._embed(texts, "window")

    def embed_batches(
        self, texts: Sequence[str], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Passages batch by batch, as ``BatchEmbedder`` describes."""
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            yield list(range(start, start + len(part))), self.embed_passages(part)
            if progress is not None:
                progress(Progress("embed", start + len(part), len(texts)))

    def _embed(self, texts: Sequence[str], on_overlong: str) -> Vectors:
        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in _WORD.findall(self._readable(text, on_overlong).lower()):
                place, sign = _place(word)
                row[place] += sign
        empty = ~vectors.any(axis=1)
        vectors[empty, 0] = 1
        scaled: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return scaled

    def _readable(self, text: str, on_overlong: str) -> str:
        """What of ``text`` is embedded."""
        if on_overlong == "window":
            return text
        tokens = text.split(maxsplit=_MAX_TOKENS)
        if len(tokens) <= _MAX_TOKENS:
            return text
        if on_overlong == "error":
            raise input_too_long(text, len(text.split()), _MAX_TOKENS)
        return " ".join(tokens[:_MAX_TOKENS])


@lru_cache(maxsize=100_000)
def _place(word: str) -> tuple[int, int]:
    """Dimension and sign of a word."""
    hashed = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(hashed, "little")
    return number % _DIMENSION, 1 if number >> 63 else -1
