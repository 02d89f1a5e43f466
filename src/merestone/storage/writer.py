"""Writing: one transaction for each batch, and the upkeep between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from merestone.storage import faults, generations, rows
from merestone.storage.ann_paths import discard_graphs
from merestone.storage.codec import to_json
from merestone.storage.failures import translated
from merestone.storage.readers import readers_of
from merestone.storage.transaction import Transaction
from merestone.types import (
    Change,
    Counts,
    EmbedderIdentity,
    Generation,
    GraphSettings,
    StoreBusyError,
    StoreError,
)

_LEXICAL_PAGES = 500
"""Pages that one call of ``maintain`` may spend on merging the lexical index."""


class SQLiteWriter:
    """What the holder of the lease writes with; made by ``SQLiteStore.writer``."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        generation: Generation,
        graph: GraphSettings | None = None,
    ) -> None:
        self._graph = graph
        self._connection = connection
        self._path = path
        self._generation = generation

    def apply(self, changes: Sequence[Change]) -> Counts:
        """Carry out ``changes`` in their order, in one transaction, whole or not at all.

        The library version goes up by one, or stays if nothing is different afterwards. A kept
        chunk (same id, same input hash) needs no vector; it needs its terms only if the pipeline
        of its document is another than before.
        """
        with translated(self._path):
            faults.reach("before-begin")
            with write_transaction(self._connection) as commit:
                faults.reach("after-begin")
                transaction = Transaction(self._connection, self._generation)
                transaction.carry_out(changes)
                if transaction.changed:
                    faults.reach("before-commit")
                    commit()
                    faults.reach("after-commit")
            return transaction.counts

    @property
    def generation(self) -> Generation:
        """The one that is written to."""
        return self._generation

    def flip(self) -> None:
        """Make the generation that is written to the one that answers, in one transaction."""
        with translated(self._path):
            faults.reach("before-flip")
            with write_transaction(self._connection) as commit:
                Transaction(self._connection, self._generation).flip()
                commit()
            faults.reach("after-flip")

    def drop_others(self) -> None:
        """Delete every generation that neither answers nor is in the making, in slices, so that
        readers and the log never wait for a long transaction."""
        with translated(self._path):
            for number in generations.abandoned(self._connection):
                done = False
                while not done:
                    faults.reach("before-drop")
                    with write_transaction(self._connection) as commit:
                        done = generations.drop_some(self._connection, number)
                        commit()
                    faults.reach("after-drop")

    def note_canary(self, canary: bytes) -> None:
        """Remember what the embedder gave for the known text, if nothing is remembered yet."""
        with translated(self._path), write_transaction(self._connection) as commit:
            self._connection.execute(
                "UPDATE generation SET canary = ? WHERE number = ? AND canary = x''",
                (canary, self._generation.number),
            )
            commit()

    def note_access_rules(self, fingerprint: str | None) -> None:
        """Every document is judged by the policy of this fingerprint now; ``None``: not all are
        judged by one."""
        with translated(self._path), write_transaction(self._connection) as commit:
            self._connection.execute(
                "UPDATE meta SET access_rules = ?1, library_version = library_version + 1 "
                "WHERE access_rules IS NOT ?1",
                (fingerprint,),
            )
            commit()

    def maintain(self) -> None:
        """Merge small vector segments and lexical segments, and move the log into the file.

        Answers stay as they are, so the library version does too.
        """
        with translated(self._path):
            self._merge_vectors()
            faults.reach("before-optimise")
            with write_transaction(self._connection) as commit:
                self._command("merge", _LEXICAL_PAGES)
                commit()
            faults.reach("after-optimise")
            faults.reach("before-checkpoint")
            # Passive: what a reader still needs stays in the log until the next time.
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            faults.reach("after-checkpoint")

    def refresh_index(self) -> None:
        """Bring the approximate index of the vectors up to what answers, as far as worth while; a
        store without one deletes what is left of an earlier one."""
        if self._graph is None:
            discard_graphs(self._path.parent)
            return
        from merestone.storage.ann_upkeep import refresh

        with translated(self._path):
            answering = generations.answering(self._connection)
            state, dimension = self._path.parent, answering.embedder.dimension
            refresh(self._connection, state, answering.number, dimension, self._graph)

    def purge(self) -> None:
        """Leave nothing of what was deleted in the file, nor in its log.

        Vector segments are written anew without their dead rows, the lexical index drops the terms
        of what went, free pages are given back, and the log is cut. Raises ``StoreBusyError`` if a
        reader keeps an old state; what was done until then stays done.
        """
        discard_graphs(self._path.parent)
        with translated(self._path):
            self.drop_others()
            self._clean_vectors()
            with write_transaction(self._connection) as commit:
                self._command("secure-delete", 1)
                self._command("optimize")
                commit()
            self._connection.execute("VACUUM")
            self._truncate_log()

    def _truncate_log(self) -> None:
        busy, *_ = next(self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        if busy:
            holders = ", ".join(str(holder) for holder in readers_of(self._path))
            raise StoreBusyError(
                "reader-keeps-log",
                f"What was deleted is gone from the library {self._path}, but a reader "
                f"({f'process {holders}' if holders else 'unknown'}) still needs the log beside "
                "it, which may hold some of it.",
                "End that reading, then run `merestone gc --purge` again.",
            )

    def _clean_vectors(self) -> None:
        from merestone.storage import dense_upkeep

        for generation in generations.numbers(self._connection):
            for number in dense_upkeep.with_dead_rows(self._connection, generation, self._live):
                self._rewrite_group(generation, [number])

    def _live(self, numbers: Iterable[int]) -> set[int]:
        return rows.live(self._connection, numbers)

    def _command(self, name: str, value: int | None = None) -> None:
        """A special command of FTS5 on the lexical index."""
        table = generations.lexical_table(self._generation.number)
        if value is None:
            self._connection.execute(f"INSERT INTO {table} ({table}) VALUES (?)", (name,))
        else:
            self._connection.execute(
                f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)", (name, value)
            )

    def _merge_vectors(self) -> None:
        from merestone.storage import dense_upkeep

        number, dimension = self._generation.number, self._generation.embedder.dimension
        for group in dense_upkeep.dead_groups(self._connection, number, dimension):
            self._rewrite_group(number, group)
        while groups := dense_upkeep.tier_groups(self._connection, number, dimension):
            for group in groups:
                self._rewrite_group(number, group)

    def _rewrite_group(self, generation: int, group: list[int]) -> None:
        from merestone.storage import dense_upkeep

        with write_transaction(self._connection) as commit:
            dense_upkeep.merge(self._connection, generation, group, self._live)
            faults.reach("before-merge")
            commit()
        faults.reach("after-merge")


class _Commit:
    """Ends a transaction; without it the transaction is undone."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __call__(self) -> None:
        self._connection.execute("COMMIT")


@contextmanager
def write_transaction(connection: apsw.Connection) -> Iterator[_Commit]:
    """A transaction that is undone unless the block calls the value that it is given."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield _Commit(connection)
    finally:
        # SQLite ends it by itself after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def take_generation(
    connection: apsw.Connection, embedder: EmbedderIdentity, *, rebuild: bool
) -> Generation:
    """The generation to write to; raise :class:`StoreError` if there is none of this embedder and
    none may be made."""
    with write_transaction(connection) as commit:
        current = generations.answering(connection)
        if _is_same(current, embedder):
            if rebuild:
                generations.abandon(connection)
            _note_settings(connection, current, embedder)
            commit()
            return generations.numbered(connection, current.number)
        making = generations.building(connection)
        if making is not None and _is_same(making, embedder):
            return making
        if not generations.has_documents(connection, current.number):
            number = _replace_empty(connection, current.number, embedder)
        elif rebuild:
            generations.abandon(connection)
            number = generations.add(connection, embedder, building=True)
        else:
            raise StoreError(
                "embedder-changed",
                f"The library was built with the embedder {current.embedder.name} "
                f"({current.embedder.fingerprint[:12]}), not with {embedder.name} "
                f"({embedder.fingerprint[:12]}): their vectors cannot be compared.",
                "Run `merestone sync` without paths: it builds the new vectors beside the old "
                "ones, which answer meanwhile.",
            )
        commit()
        return generations.numbered(connection, number)


def _is_same(generation: Generation, embedder: EmbedderIdentity) -> bool:
    held = generation.embedder
    return (held.fingerprint, held.dimension) == (embedder.fingerprint, embedder.dimension)


def _note_settings(
    connection: apsw.Connection, generation: Generation, embedder: EmbedderIdentity
) -> None:
    """How the embedder is opened may change without its vectors: threads, a folder that moved."""
    if generation.embedder.settings != embedder.settings:
        connection.execute(
            "UPDATE generation SET settings = ? WHERE number = ?",
            (to_json(dict(embedder.settings)), generation.number),
        )


def _replace_empty(connection: apsw.Connection, number: int, embedder: EmbedderIdentity) -> int:
    """A generation without documents needs nothing beside it."""
    generations.abandon(connection)
    new = generations.add(connection, embedder, building=False)
    connection.execute("UPDATE meta SET generation = ?", (new,))
    generations.drop_some(connection, number)
    return new
