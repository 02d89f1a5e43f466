"""The one protocol behind which a library is kept. No SQL outside ``storage``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol

from merestone.types.access import Reader
from merestone.types.chunk import Chunk
from merestone.types.document import JSON, Document
from merestone.types.filters import Filter, Selection
from merestone.types.library import (
    Change,
    Counts,
    DocumentRecord,
    HistoryEntry,
    JournalEntry,
    Scored,
    TermCounts,
)
from merestone.types.protocols import Vectors


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which embedder made the rows of a generation, and how to open it again."""

    fingerprint: str
    name: str
    dimension: int
    settings: Mapping[str, JSON] = field(default_factory=dict)
    """Fields of ``EmbeddingSettings``: queries are embedded by the embedder of the rows, whatever
    the configuration says by now."""
    canary: bytes = b""
    """What the embedder gave for a known text: tells one that changed under its name. float32."""

    @property
    def base(self) -> str:
        """The fingerprint that the embedder itself gives; one that changed under its name has a
        mark after it here."""
        return self.fingerprint.partition(_MARK)[0]

    def marked(self, canary: bytes, mark: str) -> EmbedderIdentity:
        """The same embedder by its own account, that gives other vectors than before."""
        return replace(self, fingerprint=f"{self.base}{_MARK}{mark}", canary=canary)


_MARK = "~"


@dataclass(frozen=True, slots=True)
class Generation:
    """All rows of one embedder. One generation answers; another may be in the making."""

    number: int
    embedder: EmbedderIdentity


class Snapshot(Protocol):
    """One complete state of the library. Every read of it sees the same state."""

    @property
    def library_version(self) -> int:
        """One up per transaction; 0 for a library that was never written to."""

    @property
    def schema(self) -> int: ...

    @property
    def generation(self) -> Generation:
        """The one that this snapshot shows."""

    @property
    def is_limited(self) -> bool:
        """True if there are documents, or could be, that the reader may not see: anything is said
        of who may read, and the reader is not the owner."""

    def records(self, within: Sequence[str] = ()) -> Iterator[DocumentRecord]:
        """Documents by id: all, or those that are one of ``within`` or in a folder or source that
        one of them names."""

    def document_ids(self, where: Filter | None = None) -> list[str]:
        """Ids of all documents, or of those that ``where`` lets through, in order."""

    def record(self, document: str) -> DocumentRecord | None: ...

    def left_out(self) -> frozenset[str]:
        """Ids that were removed by hand and are to stay out."""

    def document(self, document: str, *, blocks: bool = True) -> Document | None:
        """The document whole, text and blocks included; ``None`` if unknown. Without blocks, and
        the words of its pages with them, it is read in less time, and can still say where a place
        is in the source."""

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
        ``terms`` come from ``text.analysis``, and may be a :class:`Phrase` of such; a chunk
        matches if it holds any."""

    def selection(self, where: Filter) -> Selection:
        """How many documents ``where`` lets through, and what it asks for in vain."""

    def fields(self) -> list[str]:
        """Names that a filter may use: those that every document has by itself, and those of the
        metadata that a document has a value under; in order."""

    def dense(self, vector: Vectors, limit: int, where: Filter | None = None) -> list[Scored]:
        """Best ``limit`` live chunks by dot product with ``vector`` of shape ``(dimension,)``."""

    def lexical_scores(self, terms: Sequence[str], numbers: Sequence[int]) -> dict[int, float]:
        """BM25 of these chunks; those that hold no term are absent."""

    def term_counts(self, terms: Sequence[str]) -> TermCounts:
        """How many chunks there are and how many hold each term, among those that the reader may
        see. Of a word that very many hold, the share among all chunks may be taken."""

    def dense_scores(self, vector: Vectors, numbers: Sequence[int]) -> dict[int, float]: ...

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vectors]:
        """Stored vectors by number, float32 of shape ``(dimension,)`` as kept (float16)."""

    def vectors_of_inputs(self, hashes: Sequence[str]) -> dict[str, Vectors]:
        """Stored vectors by input hash, for those hashes that a live chunk has."""

    def numbers(self) -> list[tuple[int, str, str]]:
        """(number, chunk id, input hash) of every live chunk, by number."""

    def history(self, document: str) -> list[HistoryEntry]:
        """Oldest first. That of a removed document is judged by who could read it last."""

    def mentions(self, chunk_id: str) -> list[HistoryEntry]:
        """Entries that a chunk went with, oldest first."""

    def arrivals(self, version: str) -> list[HistoryEntry]:
        """Entries of documents that came to ``version``, or were cut anew in it, oldest first."""

    def moves_of(self, document: str) -> list[HistoryEntry]:
        """Entries of documents that came by moving ``document``, oldest first."""

    def said_count(self) -> int:
        """How many documents are stored with a word on who may read them."""

    def access_rules(self) -> str | None:
        """Fingerprint of the policy that every document was last judged by; ``None``: never."""

    def building(self) -> Generation | None:
        """The generation in the making, if there is one."""

    def journal(self, event: str, limit: int = 1) -> list[JournalEntry]:
        """Newest first; nothing for a reader who is not the owner."""

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

    @property
    def generation(self) -> Generation:
        """The one that is written to."""

    def flip(self) -> None:
        """Make the generation that is written to the one that answers; in one transaction."""

    def drop_others(self) -> None:
        """Delete every generation that does not answer and is not written to, in slices."""

    def note_canary(self, canary: bytes) -> None:
        """Remember what the embedder gave for the known text, if nothing is remembered yet."""

    def note_access_rules(self, fingerprint: str | None) -> None:
        """Every document is judged by the policy of this fingerprint now; ``None``: not all are
        judged by one, so that readers judge each by the policy of the moment too."""

    def maintain(self) -> None:
        """Merge small vector segments, optimise, checkpoint, as far as worth while."""

    def refresh_index(self) -> None:
        """Bring what only speeds up reading, if there is such a thing, up to what answers."""

    def purge(self) -> None:
        """Leave nothing of what was deleted in the file, nor in its log.

        Raises :class:`~merestone.types.errors.StoreBusyError` if a reader keeps an old state.
        """


class Store(Protocol):
    """A library on disk."""

    def exists(self) -> bool:
        """False until the first writer has made the library."""

    def snapshot(
        self, reader: Reader, *, generation: int | None = None
    ) -> AbstractContextManager[Snapshot]:
        """A read transaction for ``reader``; any number at once, from any thread.

        This is the one place where access is judged: whatever is read from the snapshot (rows,
        indexes, counts, history) is what the reader may see, by the rules that were stored with
        each document and, where they have changed since, by today's as well. ``generation`` names
        another than the one that answers; only the owner may.
        """

    def writer(
        self, embedder: EmbedderIdentity, *, rebuild: bool = False
    ) -> AbstractContextManager[Writer]:
        """Take the lease and open for writing with this embedder, creating the library if there
        is none.

        Rows of another embedder stay as they are and go on answering: what is written goes to a
        generation in the making, if there is one of this embedder or ``rebuild`` asks for one.

        Raises :class:`~merestone.types.errors.StoreBusyError` if another process holds the lease,
        and :class:`~merestone.types.errors.StoreError` with code ``embedder-changed`` if there are
        only rows of another embedder and ``rebuild`` is false.
        """

    def journal(self, event: str, detail: JSON) -> None:
        """Note what a run did or what failed."""

    def close(self) -> None: ...
