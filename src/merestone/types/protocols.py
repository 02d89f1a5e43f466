"""What one stage needs of another, without knowing who provides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from merestone.types.chunk import Cutting
from merestone.types.document import JSON, Document
from merestone.types.settings import ChunkingSettings, ExtractionSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any


@dataclass(frozen=True, slots=True)
class RawDocument:
    """The bytes of one document, before they are read."""

    id: str
    data: bytes
    uri: str = ""
    media_type: str | None = None
    """As the source says it; ``None``: detect from the name and the bytes."""
    metadata: dict[str, JSON] = field(default_factory=dict)


class Tokenizer(Protocol):
    """Counts and places the tokens of a text. Safe to call from several threads."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Changes when any count could change."""

    @property
    def special_tokens(self) -> int:
        """Tokens that the model adds once to each input."""

    @property
    def adds_up(self) -> bool:
        """True if the counts of parts cut at white space add up to the count of the whole, and
        white space itself counts nothing."""

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens. Nothing is truncated."""

    def starts(self, text: str) -> Sequence[int]:
        """Code point offset at which each token of ``text`` begins, ascending."""


class Embedder(Protocol):
    """Turns texts into unit vectors of one space."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Hash of everything that changes a vector: weights, pooling, prefixes, dimension."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 array of shape ``(len(texts), dimension)``; row i belongs to text i."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`embed_passages`, with the model's query prefix where it has one."""


@runtime_checkable
class SpanEmbedder(Protocol):
    """An embedder that has token vectors, and can pool them over parts of a text.

    Late chunking: Günther et al., "Late Chunking: Contextual Chunk Embeddings Using Long-Context
    Embedding Models", 2024.
    """

    def embed_spans(self, text: str, spans: Sequence[tuple[int, int]]) -> Vectors:
        """Unit vectors of parts of ``text``, read in the whole of it: float32 of shape
        ``(len(spans), dimension)``. ``spans`` are ranges of code points.

        A text beyond the limit is read in overlapping windows; each token's vector comes from the
        window in whose middle it stands best.
        """

    def span_keys(self, text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
        """For each span, a hash of all that its vector depends on: its windows, and its tokens'
        places in them. With the fingerprint it is a key of the cache. Computes no vectors."""

    def embed_units(
        self, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[Vectors, list[Vectors]]:
        """Passages, each with the unit vectors of its parts: what ``embed_passages`` gives, and
        for each text an array of shape ``(parts, dimension)``. Texts must be within the limit."""


class Reranker(Protocol):
    """Says how well each of a few texts answers a query, reading both together.

    Built in or by the entry point group ``merestone.rerankers``.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Changes when any score could change."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """A score for each text, by its place; larger is better, and only the order counts.
        ``None`` for a text that could not be scored. Raises ``RerankerError`` if none could."""


class Extractor(Protocol):
    """Reads one format. Built in or by the entry point group ``merestone.extractors``."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> int:
        """Raised by its author when its output changes."""

    @property
    def media_types(self) -> frozenset[str]: ...

    @property
    def isolated(self) -> bool:
        """True if it must run in a worker process with limits."""

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        """Read ``raw``; raise :class:`~merestone.types.errors.ExtractionError` if it can't be."""


class Chunker(Protocol):
    """Cuts one document. Built in or by the entry point group ``merestone.chunkers``."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> int: ...

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        """Spans of ``document`` and the reason for each boundary. ``embedder`` serves strategies
        that judge by meaning; the others need none."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a long run."""

    stage: str
    done: int
    total: int
    chunks: int = 0
    tokens: int = 0
    item: str = ""
    share: float | None = None
    """Of the work that is done, 0 to 1, where counting to ``total`` says it badly."""


ProgressCallback = Callable[[Progress], None]
