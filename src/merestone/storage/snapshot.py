"""Reading: one state of the library, whatever is written meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from merestone.storage import generations, integrity, lexical, rows, scope
from merestone.storage.ann_paths import graph_files
from merestone.storage.filters import Selected, fields, select
from merestone.storage.schema import UNSAID_CLASS
from merestone.storage.scope import Judgements
from merestone.storage.term_memory import TermMemory
from merestone.types import (
    Chunk,
    Document,
    DocumentRecord,
    Filter,
    Generation,
    GraphSettings,
    HistoryEntry,
    JournalEntry,
    Reader,
    Scored,
    Selection,
    StoreError,
    TermCounts,
    Vectors,
)

if TYPE_CHECKING:
    from merestone.storage.ann_search import Cover
    from merestone.storage.ann_upkeep import GraphCache
    from merestone.storage.dense import Segment
    from merestone.storage.engine import Segments

_PARTS = {
    "document": "documents",
    "document_body": "texts",
    "chunk": "chunks",
    "chunk_order": "chunks",
    "chunk_input": "chunks",
    "dense": "vectors",
    "document_access": "documents",
    "history": "history",
    "history_document": "history",
    "history_moved": "history",
    "departed": "history",
    "departed_chunk": "history",
    "journal": "journal",
}
"""Table or index → part of the library, for the sizes."""


class SQLiteSnapshot:
    """A read transaction; made by ``SQLiteStore.snapshot`` and valid within its block.

    It belongs to the thread that uses it; other threads take snapshots of their own.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        segments: Segments,
        judgements: Judgements,
        reader: Reader,
        generation: int | None,
        terms: TermMemory,
    ) -> None:
        self._open: apsw.Connection | None = connection
        self._path = path
        self._load_segments = segments
        self._segments: tuple[Segment, ...] | None = None
        self._graph: tuple[GraphSettings, Callable[[], GraphCache]] | None = None
        self._last_selected: tuple[Filter, Selected] | None = None
        # The transaction takes its snapshot with its first read: this one.
        row: rows.Row = next(connection.execute("SELECT identity, library_version FROM meta"))
        self._identity: str = row[0]
        self._library_version: int = row[1]
        self._generation = (
            generations.answering(connection)
            if generation is None
            else generations.numbered(connection, generation)
        )
        self._remembered = terms.of((*row, self._generation.number))
        self._is_limited = scope.enter(connection, reader, self._generation.number, judgements, row)

    def search_by(self, graph: GraphSettings, cache: Callable[[], GraphCache]) -> None:
        """Find the nearest vectors by the graph that is kept, where there is one and it pays."""
        self._graph = graph, cache

    def end(self) -> None:
        """Refuse any further use."""
        self._open = None

    @property
    def _connection(self) -> apsw.Connection:
        if self._open is None:
            raise RuntimeError("The snapshot has ended; use it inside its `with` block.")
        return self._open

    @property
    def library_version(self) -> int:
        """One up per transaction that changed anything; 0 for a library never written to."""
        return self._library_version

    @property
    def schema(self) -> int:
        """Number of the schema."""
        return int(self._connection.pragma("user_version"))

    @property
    def generation(self) -> Generation:
        """The one that this snapshot shows."""
        return self._generation

    @property
    def is_limited(self) -> bool:
        """True if there could be documents that the reader may not see."""
        return self._is_limited

    def said_count(self) -> int:
        """How many documents are stored with a word on who may read them."""
        query = "SELECT count(*) FROM document WHERE access > ?"
        found: int = rows.value_of(self._connection, query, (UNSAID_CLASS,))
        return found

    def access_rules(self) -> str | None:
        """Fingerprint of the policy that every document was last judged by; ``None``: never."""
        found: str | None = rows.value_of(self._connection, "SELECT access_rules FROM meta")
        return found

    def building(self) -> Generation | None:
        """The generation in the making, if there is one."""
        return generations.building(self._connection)

    def journal(self, event: str, limit: int = 1) -> list[JournalEntry]:
        """Newest first; nothing for a reader who is not the owner."""
        return rows.journal(self._connection, event, limit)

    def records(self, within: Sequence[str] = ()) -> Iterator[DocumentRecord]:
        """Documents by id: all, or those that are one of ``within`` or in a folder or source that
        one of them names."""
        return rows.records(self._connection, within)

    def document_ids(self, where: Filter | None = None) -> list[str]:
        """Ids of all documents, or of those that ``where`` lets through, in order."""
        permitted = None if where is None else self._selected(where).numbers
        return rows.document_ids(self._connection, permitted)

    def record(self, document: str) -> DocumentRecord | None:
        """What is known of one document."""
        return rows.record(self._connection, document)

    def left_out(self) -> frozenset[str]:
        """Ids that were removed by hand and are to stay out."""
        return rows.left_out(self._connection)

    def document(self, document: str, *, blocks: bool = True) -> Document | None:
        """The document whole, or without its blocks; with an empty text if it could never be
        read."""
        return rows.document(self._connection, document, blocks=blocks)

    def text(self, document: str) -> str | None:
        """The document's text alone; ``None`` if none is stored."""
        return rows.text(self._connection, document)

    def chunk_count(self) -> int:
        """Chunks of all documents."""
        return int(rows.value_of(self._connection, "SELECT COUNT(*) FROM chunk"))

    def inputs(self, document: str) -> dict[str, str]:
        """Chunk id → input hash, of one document."""
        return rows.inputs(self._connection, document)

    def chunks_of(self, document: str, first: int = 0, last: int | None = None) -> list[Chunk]:
        """Chunks with ``first <= ordinal <= last``, by ordinal."""
        return rows.chunks_of(self._connection, document, first, last)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk with this id."""
        return rows.chunk(self._connection, chunk_id)

    def by_number(self, numbers: Sequence[int]) -> dict[int, Chunk]:
        """Chunks by number; numbers that no longer live are absent."""
        return rows.by_number(self._connection, numbers)

    def lexical(
        self, terms: Sequence[str], limit: int, where: Filter | None = None
    ) -> list[Scored]:
        """Best ``limit`` chunks by BM25 among those that ``where`` lets through, best first."""
        permitted = self._selected(where).numbers if where is not None else None
        visible = self._live if self._is_limited else None
        number = self._generation.number
        return lexical.search(
            self._connection, number, terms, limit, permitted, visible, self._remembered
        )

    def lexical_scores(self, terms: Sequence[str], numbers: Sequence[int]) -> dict[int, float]:
        """BM25 of these chunks; those that hold no term are absent."""
        visible = sorted(self._live(numbers))
        number = self._generation.number
        return lexical.scores(self._connection, number, terms, visible, self._remembered)

    def term_counts(self, terms: Sequence[str]) -> TermCounts:
        """Chunks, and how many of them hold each of ``terms``, as far as the reader may know."""
        visible = self.chunk_count() if self._is_limited else None
        number = self._generation.number
        counts = self._remembered.counts
        return lexical.term_counts(self._connection, number, terms, counts, visible)

    def dense(self, vector: Vectors, limit: int, where: Filter | None = None) -> list[Scored]:
        """Best ``limit`` chunks by dot product with ``vector`` of shape ``(dimension,)``, as a
        scan of every stored float16 row gives them; of those that an approximate index proposes,
        if the store was opened with one."""
        import numpy as np

        from merestone.storage import dense

        dense.check_vectors(vector, self._dimension, "The vector of the query")
        documents = None
        if where is not None or self._is_limited:
            documents = np.fromiter(self._permitted(where), dtype=np.int64)
        segments = self._dense_segments()
        cover = self._cover(segments)
        if self._graph is None or cover is None:
            return dense.search(segments, vector, limit, documents, self._live)
        from merestone.storage import ann_search

        width = self._graph[0].width
        return ann_search.search(cover, vector, limit, documents, self._live, width)

    def _cover(self, segments: Sequence[Segment]) -> Cover | None:
        """The graph that is kept over these segments, if there is one and it is to be used."""
        if self._graph is None:
            return None
        cache = self._graph[1]()
        number = self._generation.number
        return cache.cover(self._path.parent, number, segments, self._dimension)

    def selection(self, where: Filter) -> Selection:
        """How many documents ``where`` lets through, and what it asks for in vain."""
        return self._selected(where).selection

    def fields(self) -> list[str]:
        """Names that a filter may use, in order."""
        return fields(self._connection)

    def dense_scores(self, vector: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        """Dot products of these chunks with ``vector``."""
        from merestone.storage import dense

        dense.check_vectors(vector, self._dimension, "The vector of the query")
        return dense.scores(self._dense_segments(), vector, sorted(self._live(numbers)))

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vectors]:
        """Stored vectors by number, float32 of shape ``(dimension,)`` as kept (float16)."""
        from merestone.storage import dense

        return dense.vectors(self._dense_segments(), sorted(self._live(numbers)))

    def vectors_of_inputs(self, hashes: Sequence[str]) -> dict[str, Vectors]:
        """Stored vectors by input hash, for those hashes that a chunk has."""
        found = rows.numbers_of_inputs(self._connection, hashes)
        if not found:
            return {}
        from merestone.storage import dense

        # Not by the segments in memory: a sync asks for a few rows of a library of any size.
        stored = dense.stored_rows(self._connection, self._generation.number, sorted(found))
        return {found[number]: vector for number, vector in stored.items()}

    def numbers(self) -> list[tuple[int, str, str]]:
        """(number, chunk id, input hash) of every chunk, by number."""
        return rows.numbers(self._connection)

    def history(self, document: str) -> list[HistoryEntry]:
        """Oldest first; an entry with an empty version says that the document was removed."""
        return rows.history(self._connection, document)

    def mentions(self, chunk_id: str) -> list[HistoryEntry]:
        """Entries that a chunk went with, oldest first."""
        return rows.mentions(self._connection, chunk_id)

    def arrivals(self, version: str) -> list[HistoryEntry]:
        """Entries of documents that came to ``version``, or were cut anew in it, oldest first."""
        return rows.arrivals(self._connection, version)

    def moves_of(self, document: str) -> list[HistoryEntry]:
        """Entries of documents that came by moving this one, oldest first."""
        return rows.moves_of(self._connection, document)

    def bytes(self) -> dict[str, int]:
        """Sizes on disk by part; ``log`` and ``graph`` are files beside the library, the rest is
        in it.

        Raises :class:`StoreError` with code ``owner-only`` for who may not see everything.
        """
        self._require_owner()
        sizes: dict[str, int] = {}
        pages = self._connection.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE")
        for name, size in pages:
            plain = name.removeprefix("sqlite_autoindex_").rstrip("_0123456789")
            part = "lexical" if name.startswith("lexical_") else _PARTS.get(plain, "other")
            sizes[part] = sizes.get(part, 0) + size
        page_size = int(self._connection.pragma("page_size"))
        sizes["free"] = int(self._connection.pragma("freelist_count")) * page_size
        log = self._path.with_name(self._path.name + "-wal")
        sizes["log"] = log.stat().st_size if log.exists() else 0
        if self._graph is not None:
            sizes["graph"] = sum(path.stat().st_size for path in graph_files(self._path.parent))
        return sizes

    def check(self) -> list[str]:
        """Faults of the file and of the agreement between its tables; empty if there are none.

        Raises :class:`StoreError` with code ``owner-only`` for who may not see everything.
        """
        self._require_owner()
        return integrity.faults_of(self._connection)

    def _require_owner(self) -> None:
        if self._is_limited:
            raise StoreError(
                "owner-only",
                "This looks at the whole library, and there are documents that not everyone "
                "may read.",
                "Ask as the owner.",
            )

    def _selected(self, where: Filter) -> Selected:
        """What ``where`` comes to; both sides of a search ask for the same."""
        if self._last_selected is None or self._last_selected[0] is not where:
            self._last_selected = where, select(self._connection, where)
        return self._last_selected[1]

    def _permitted(self, where: Filter | None) -> Iterable[int]:
        """Numbers of the documents that ``where`` and the reader's rights let through."""
        if where is not None:
            return self._selected(where).numbers
        return (number for (number,) in self._connection.execute("SELECT number FROM document"))

    @property
    def _dimension(self) -> int:
        return self._generation.embedder.dimension

    def _live(self, numbers: Iterable[int]) -> set[int]:
        return rows.live(self._connection, numbers)

    def _dense_segments(self) -> tuple[Segment, ...]:
        if self._segments is None:
            self._segments = self._load_segments(
                self._connection, self._identity, self._library_version, self._generation.number
            )
        return self._segments
