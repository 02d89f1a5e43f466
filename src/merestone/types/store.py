"""The one protocol behind which a library is kept. No SQL outside ``storage``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from merestone.types.chunk import Chunk
from merestone.types.document import JSON, Document
from merestone.types.library import (
    Change,
    Counts,
    DocumentRecord,
    Filter,
    HistoryEntry,
    Scored,
)
from merestone.types.protocols import Vectors


@dataclass(frozen=True, slots=True)
class Generation:
    """Which embedder and chunking the current rows were made with."""

    number: int
    embedder: str
    """Fingerprint."""
    embedder_name: str
    dimension: int


class Snapshot(Protocol):
    """One complete state of the library. Every read of it sees the same state."""

    @property
    def library_version(self) -> int:
        """One up per transaction; 0 for a library that was never written to."""

    @property
    def schema(self) -> int: ...

    @property
    def generation(self) -> Generation: ...

    def records(self) -> Iterator[DocumentRecord]:
        """Every document, by id."""

    def record(self, document: str) -> DocumentRecord | None: ...

    def left_out(self) -> frozenset[str]:
        """Ids that were removed by hand and are to stay out."""

    def document(self, document: str) -> Document | None:
        """The document whole, text and blocks included; ``None`` if unknown."""

    def text(self, document: str) -> str | None:
        """The document's text alone, which is quicker; ``None`` if none is stored."""

    def chunk_count(self) -> int: ...

    def inputs(self, document: str) -> dict[str, str]:
        """Chunk id → input hash, of one document."""

    def chunks_of(self, document: str, first: int = 0, last: int | None = None) -> list[Chunk]:
        """Chunks with ``first <= ordinal <= last``, by ordinal."""

    def chunk(self, chunk_id: str) -> Chunk | None: ...

    def by_number(self, numbers: Sequence[int]) -> dict[int, Chunk]:
        """Chunks by number; numbers that no longer live are absent."""

    def lexical(
        self, terms: Sequence[str], limit: int, where: Filter | None = None
    ) -> list[Scored]:
        """Best ``limit`` live chunks by BM25 among those that ``where`` lets through, best first.
        ``terms`` come from ``text.analysis``; a chunk matches if it holds any."""

    def dense(self, vector: Vectors, limit: int, where: Filter | None = None) -> list[Scored]:
        """Best ``limit`` live chunks by dot product with ``vector`` of shape ``(dimension,)``."""

    def lexical_scores(self, terms: Sequence[str], numbers: Sequence[int]) -> dict[int, float]:
        """BM25 of these chunks; those that hold no term are absent."""

    def dense_scores(self, vector: Vectors, numbers: Sequence[int]) -> dict[int, float]: ...

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vectors]:
        """Stored vectors by number, float32 of shape ``(dimension,)`` as kept (float16)."""

    def vectors_of_inputs(self, hashes: Sequence[str]) -> dict[str, Vectors]:
        """Stored vectors by input hash, for those hashes that a live chunk has."""

    def numbers(self) -> list[tuple[int, str, str]]:
        """(number, chunk id, input hash) of every live chunk, by number."""

    def history(self, document: str) -> list[HistoryEntry]:
        """Oldest first."""

    def bytes(self) -> dict[str, int]:
        """Sizes on disk by part."""

    def check(self) -> list[str]:
        """Faults of the file and of the agreement between rows, lexical index and vectors, in
        words; empty if there are none."""


class Writer(Protocol):
    """The one process that may write, while it holds the lease."""

    def apply(self, changes: Sequence[Change]) -> Counts:
        """Carry out ``changes`` in one transaction, whole or not at all.

        A chunk whose id and input hash are stored already keeps its number; only its place is
        brought up to date.
        """

    def maintain(self) -> None:
        """Merge small vector segments, optimise, checkpoint, as far as worth while."""


class Store(Protocol):
    """A library on disk."""

    def exists(self) -> bool:
        """False until the first writer has made the library."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """A read transaction; any number at once, from any thread."""

    def writer(
        self, *, embedder: str, embedder_name: str, dimension: int
    ) -> AbstractContextManager[Writer]:
        """Take the lease and open for writing with this embedder, creating the library if there
        is none.

        Raises :class:`~merestone.types.errors.StoreBusyError` if another process holds it, and
        :class:`~merestone.types.errors.StoreError` if the rows were made with another embedder.
        """

    def journal(self, event: str, detail: JSON) -> None:
        """Note what a run did or what failed."""

    def close(self) -> None: ...
