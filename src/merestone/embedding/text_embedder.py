"""An embedder around a model that takes text: a service, or a runtime of another package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from merestone.embedding.batching import checked, encode_in_batches, gather
from merestone.embedding.overlong import check_settings, input_too_long, text_windows
from merestone.embedding.pooling import shortened
from merestone.embedding.templates import check_template, fill, with_template
from merestone.text.hashing import canonical_json, digest
from merestone.types import (
    JSON,
    EmbedderError,
    EmbeddingSettings,
    ProgressCallback,
    SettingsError,
    Tokenizer,
    Vectors,
)

_REVISION = 1


class TextModel(Protocol):
    """Texts as they are to vectors as they come."""

    @property
    def width(self) -> int:
        """Values of a vector."""

    @property
    def batch(self) -> int:
        """Texts in a call at most."""

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """float32 of shape (len(texts), width), not scaled. Raises ``EmbedderError``."""

    def keep(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Told what ``encode`` gave before another part of the same call failed."""


@dataclass(frozen=True, slots=True)
class TextLimits:
    """What is known of a model that takes text."""

    max_tokens: int
    tokenizer: Tokenizer
    passage_template: str
    query_template: str
    batch_tokens: int
    """Tokens in a call at most."""
    scripts: frozenset[str] | None = None
    counts_template: bool = True
    """False if the model writes its template itself, and the tokenizer counts it already."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """One text for the model, with its length in tokens."""

    text: str
    tokens: int

    def __len__(self) -> int:
        return self.tokens


class TextEmbedder:
    """Texts to unit vectors. Nothing beyond the limit reaches the model uncounted. May be used by
    several threads if the model may."""

    def __init__(
        self,
        name: str,
        identity: JSON,
        model: TextModel,
        limits: TextLimits,
        settings: EmbeddingSettings,
    ) -> None:
        """``identity``: all that decides a vector but templates and what is done with texts that
        are too long."""
        check_settings(settings)
        if settings.mode != "plain" or settings.units:
            raise SettingsError(
                "late-needs-token-vectors",
                f"{name} gives vectors of texts and none of their tokens.",
                'Leave embedding.mode = "plain" and embedding.units = false, or name a model that '
                "runs here.",
            )
        check_template(limits.passage_template, "passage_template")
        check_template(limits.query_template, "query_template")
        self.name = name
        self.max_tokens = limits.max_tokens
        self.scripts = limits.scripts
        """Writing systems that the model was trained for; ``None``: unknown."""
        self._identity = identity
        self._model = model
        self._limits = limits
        self._on_overlong = settings.on_overlong
        self._wanted = settings.dimension

    @cached_property
    def fingerprint(self) -> str:
        limits = self._limits
        parts = [
            "text",
            str(_REVISION),
            canonical_json(self._identity),
            limits.passage_template,
            limits.query_template,
            str(self._wanted),
        ]
        if self._on_overlong != "error":
            parts += [self._on_overlong, str(limits.max_tokens), limits.tokenizer.fingerprint]
        return digest(*parts)

    @property
    def dimension(self) -> int:
        """Asks the model once if nobody said it."""
        return self._wanted or self._model.width

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Counts as the model reads: a template counts among the special tokens."""
        limits = self._limits
        if not limits.counts_template:
            return limits.tokenizer
        return with_template(limits.tokenizer, limits.passage_template)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape ``(len(texts), dimension)``; row i belongs to text i. A text beyond
        ``max_tokens`` is treated as ``on_overlong`` says, before anything is embedded."""
        # In this order: the first answer shows how long vectors are.
        batches = list(self.embed_batches(texts))
        return gather(batches, len(texts), self.dimension)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`embed_passages`; a query beyond the limit is always windowed."""
        template = self._limits.query_template
        batches = list(self._encoded(texts, template, "window", is_query=True))
        return gather(batches, len(texts), self.dimension)

    def embed_batches(
        self, texts: Sequence[str], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Passages batch by batch, as ``BatchEmbedder`` describes."""
        template = self._limits.passage_template
        yield from self._encoded(texts, template, self._on_overlong, progress, is_query=False)

    def _encoded(
        self,
        texts: Sequence[str],
        template: str,
        on_overlong: str,
        progress: ProgressCallback | None = None,
        *,
        is_query: bool,
    ) -> Iterator[tuple[list[int], Vectors]]:
        inputs = [self._pieces(text, template, on_overlong) for text in texts]
        done: list[tuple[list[str], Vectors]] = []

        def encode(pieces: Sequence[_Piece]) -> Vectors:
            written = [piece.text for piece in pieces]
            vectors = self._model.encode(written, is_query=is_query)
            done.append((written, vectors))
            return shortened(vectors, self._wanted or vectors.shape[1])

        try:
            for indexes, vectors in encode_in_batches(
                inputs, encode, self._limits.batch_tokens, progress, most=self._model.batch
            ):
                yield indexes, checked(vectors, (len(indexes), self.dimension))
        except EmbedderError:
            for written, vectors in done:
                self._model.keep(written, vectors)
            raise

    def _pieces(self, text: str, template: str, on_overlong: str) -> list[_Piece]:
        """What the model is given for ``text``: one input, or its windows."""
        tokenizer, limit = self._limits.tokenizer, self._limits.max_tokens
        filled = fill(template, text)
        tokens = tokenizer.counts([filled])[0] + tokenizer.special_tokens
        if tokens <= limit:
            return [_Piece(filled, tokens)]
        if on_overlong == "error":
            raise input_too_long(text, tokens, limit)
        room = limit - (tokenizer.counts([fill(template, "")])[0] + tokenizer.special_tokens)
        parts = [fill(template, part) for part in text_windows(text, tokenizer, max(1, room))]
        pieces = [
            _Piece(part, count + tokenizer.special_tokens)
            for part, count in zip(parts, tokenizer.counts(parts), strict=True)
        ]
        return pieces[:1] if on_overlong == "truncate" else pieces
