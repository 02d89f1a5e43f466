"""What one stage needs of another, without knowing who provides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

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


ProgressCallback = Callable[[Progress], None]
