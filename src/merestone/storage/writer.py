"""Writing: one transaction for each batch, and the upkeep between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from merestone.storage import faults, rows
from merestone.storage.failures import translated
from merestone.storage.transaction import Transaction
from merestone.types import Change, Counts, Generation, StoreError

_LEXICAL_PAGES = 500
"""Pages that one call of ``maintain`` may spend on merging the lexical index."""


class SQLiteWriter:
    """What the holder of the lease writes with; made by ``SQLiteStore.writer``."""

    def __init__(self, connection: apsw.Connection, path: Path, generation: Generation) -> None:
        self._connection = connection
        self._path = path
        self._generation = generation

    def apply(self, changes: Sequence[Change]) -> Counts:
        """Carry out ``changes`` in their order, in one transaction, whole or not at all.

        The library version goes up by one, or stays if nothing is different afterwards. A kept
        chunk (same id, same input hash) needs no vector; it needs its terms only if the language
        or media type of its document is another than before.
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

    def maintain(self) -> None:
        """Merge small vector segments and lexical segments, and move the log into the file.

        Answers stay as they are, so the library version does too.
        """
        with translated(self._path):
            self._merge_vectors()
            with write_transaction(self._connection) as commit:
                self._connection.execute(
                    "INSERT INTO lexical (lexical, rank) VALUES ('merge', ?)", (_LEXICAL_PAGES,)
                )
                commit()
            # Passive: what a reader still needs stays in the log until the next time.
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _merge_vectors(self) -> None:
        from merestone.storage import dense

        number, dimension = self._generation.number, self._generation.dimension
        self._rewrite_vectors(dense.dead_groups(self._connection, number, dimension))
        while groups := dense.tier_groups(self._connection, number, dimension):
            self._rewrite_vectors(groups)

    def _rewrite_vectors(self, groups: list[list[int]]) -> None:
        from merestone.storage import dense

        for group in groups:
            with write_transaction(self._connection) as commit:
                dense.merge(
                    self._connection,
                    self._generation.number,
                    group,
                    lambda numbers: rows.live(self._connection, numbers),
                )
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
    connection: apsw.Connection, *, embedder: str, embedder_name: str, dimension: int
) -> Generation:
    """The generation to write to; raise :class:`StoreError` if its rows are of another embedder."""
    with write_transaction(connection) as commit:
        current = read_generation(connection)
        if (current.embedder, current.dimension) == (embedder, dimension):
            return current
        if rows.value_of(connection, "SELECT EXISTS (SELECT 1 FROM chunk)"):
            raise StoreError(
                "embedder-changed",
                f"The library was built with the embedder {current.embedder_name} "
                f"({current.embedder}), not with {embedder_name} ({embedder}): their vectors "
                "cannot be compared.",
                "Go back to that embedder, or remove library.db from the state folder and run "
                "`merestone sync`: sources and cached vectors are untouched.",
            )
        connection.execute("DELETE FROM dense")
        connection.execute("DELETE FROM generation")
        connection.execute(
            "INSERT INTO generation (embedder, embedder_name, dimension) VALUES (?, ?, ?)",
            (embedder, embedder_name, dimension),
        )
        connection.execute("UPDATE meta SET generation = ?", (connection.last_insert_rowid(),))
        generation = read_generation(connection)
        commit()
        return generation


def read_generation(connection: apsw.Connection) -> Generation:
    """The current generation."""
    row: rows.Row = next(
        connection.execute(
            "SELECT number, embedder, embedder_name, dimension FROM generation "
            "WHERE number = (SELECT generation FROM meta)"
        )
    )
    return Generation(*row)
