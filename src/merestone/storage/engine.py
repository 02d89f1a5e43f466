"""The library in one SQLite file, ``library.db`` in the state folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import apsw

from merestone.storage import faults, integrity, schema
from merestone.storage.codec import to_json, to_sql
from merestone.storage.connection import OlderSchemaError, ReaderPool, open_writer
from merestone.storage.failures import made, translated
from merestone.storage.lease import lease, prepare_folder
from merestone.storage.migration import migrate
from merestone.storage.scope import Judgements
from merestone.storage.snapshot import SQLiteSnapshot
from merestone.storage.term_memory import TermMemory
from merestone.storage.writer import SQLiteWriter, take_generation, write_transaction
from merestone.types import JSON, EmbedderIdentity, GraphSettings, Owner, Reader, StoreError

if TYPE_CHECKING:
    from merestone.storage.ann_upkeep import GraphCache
    from merestone.storage.dense import Segment, SegmentCache

_JOURNAL_ENTRIES = 1000
"""Older ones are forgotten."""


class Segments(Protocol):
    """Gives the vector segments of a state; loads the vector code only when it is called."""

    def __call__(
        self, connection: apsw.Connection, identity: str, version: int, generation: int
    ) -> tuple[Segment, ...]: ...


class SQLiteStore:
    """A :class:`~merestone.types.store.Store`. May be used from several threads."""

    def __init__(self, state_dir: str | Path, graph: GraphSettings | None = None) -> None:
        """``graph``: also keep an approximate index of the vectors, and search by it."""
        self._state = Path(state_dir)
        self._graph = graph
        self._graphs: GraphCache | None = None
        self.path = self._state / "library.db"
        self._pool = ReaderPool(self.path)
        self._cache: SegmentCache | None = None
        self._cache_lock = Lock()
        self._judgements = Judgements()
        self._terms = TermMemory()

    def exists(self) -> bool:
        """False until the first writer has made the library."""
        return self.path.exists()

    @contextmanager
    def snapshot(
        self, reader: Reader, *, generation: int | None = None
    ) -> Iterator[SQLiteSnapshot]:
        """One state of the library, as of now, as ``reader`` may see it.

        Raises :class:`StoreError`, with code ``no-library`` if there is none yet.
        """
        if generation is not None and not isinstance(reader, Owner):
            raise ValueError("Only the owner reads another generation than the one that answers.")
        with self._connection() as connection, translated(self.path):
            connection.execute("BEGIN")
            snapshot = SQLiteSnapshot(
                connection,
                self.path,
                self._segments,
                self._judgements,
                reader,
                generation,
                self._terms,
            )
            if self._graph is not None:
                snapshot.search_by(self._graph, self._graph_cache)
            try:
                yield snapshot
            finally:
                snapshot.end()

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        """A reading connection to a library of this version's schema."""
        try:
            with self._pool.connection() as connection:
                yield connection
                return
        except OlderSchemaError:
            self._migrate()
        with self._pool.connection() as connection:
            yield connection

    def _migrate(self) -> None:
        """Bring an older library up to date, which needs the lease for a moment."""
        with self._writing():
            pass

    @contextmanager
    def writer(
        self, embedder: EmbedderIdentity, *, rebuild: bool = False
    ) -> Iterator[SQLiteWriter]:
        """Hold the lease and write, for the time of the block.

        Raises :class:`~merestone.types.errors.StoreBusyError` at once if another holds it, and
        :class:`StoreError` ``embedder-changed`` if there are rows of another embedder only and
        ``rebuild`` is false.
        """
        prepare_folder(self._state)
        with self._writing(embedder) as connection:
            generation = take_generation(connection, embedder, rebuild=rebuild)
            yield SQLiteWriter(connection, self.path, generation, self._graph)

    @contextmanager
    def _writing(self, embedder: EmbedderIdentity | None = None) -> Iterator[apsw.Connection]:
        """The lease and a writing connection; ``embedder`` is for a library still to be made."""
        with lease(self._state) as unclean, translated(self.path):
            if embedder is not None and not self.path.exists():
                with made(self.path):
                    schema.create(self.path, embedder)
            connection = open_writer(self.path)
            try:
                if unclean:
                    _examine(connection, self.path)
                migrate(connection, self.path)
                yield connection
            finally:
                connection.close(True)

    def journal(self, event: str, detail: JSON) -> None:
        """Note what a run did or what failed. A library that is not there keeps no journal."""
        if not self.path.exists():
            return
        faults.reach("before-journal")
        connection = open_writer(self.path)
        try:
            with translated(self.path), write_transaction(connection) as commit:
                connection.execute(
                    "INSERT INTO journal (time, event, detail) VALUES (?, ?, ?)",
                    (_now(), to_sql(event), to_json(detail)),
                )
                connection.execute(
                    "DELETE FROM journal WHERE number <= (SELECT MAX(number) FROM journal) - ?",
                    (_JOURNAL_ENTRIES,),
                )
                commit()
            faults.reach("after-journal")
        finally:
            connection.close(True)

    def close(self) -> None:
        """Close idle connections and free the vectors. The store can be used again."""
        self._pool.close()
        with self._cache_lock:
            self._cache = self._graphs = None

    def _graph_cache(self) -> GraphCache:
        from merestone.storage.ann_upkeep import GraphCache

        with self._cache_lock:
            if self._graphs is None:
                self._graphs = GraphCache()
            return self._graphs

    def _segments(
        self, connection: apsw.Connection, identity: str, version: int, generation: int
    ) -> tuple[Segment, ...]:
        # numpy and simsimd are loaded here, so that a lexical answer does not wait for them.
        from merestone.storage.dense import SegmentCache

        with self._cache_lock:
            if self._cache is None:
                self._cache = SegmentCache()
            cache = self._cache
        return cache.load(connection, identity, version, generation)


def _examine(connection: apsw.Connection, path: Path) -> None:
    """After a holder died: see that the file is sound before anything is written to it."""
    found = integrity.quick_faults(connection)
    if found:
        raise StoreError(
            "store-damaged",
            f"The library {path} is damaged ({found[0]}); the last writer did not end cleanly.",
            "Move the file away and run `merestone sync`: it is made again from the sources.",
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
