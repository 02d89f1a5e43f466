"""Bringing a library of an older schema up to date, in one transaction, without any embedding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw

from merestone.storage.generations import add_vocabulary, lexical_table
from merestone.storage.rows import value_of
from merestone.storage.schema import SCHEMA, TABLES, recognise


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Take the library from its schema to the newest, step by step; nothing if it is there."""
    schema = recognise(connection, path)
    if schema == SCHEMA:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in _STEPS[schema - 1 :]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA}").fetchall()
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _to_generations_and_access(connection: apsw.Connection) -> None:
    """1 to 2: every row belongs to a generation, and who may read is stored."""
    generation: int = value_of(connection, "SELECT generation FROM meta")
    removed = connection.execute("SELECT number, removed FROM history").fetchall()
    for table in ("meta", "generation", "access_class", "document", "chunk", "dense", "history"):
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for index in ("chunk_order", "chunk_input", "history_document"):
        connection.execute(f"DROP INDEX {index}")
    connection.execute("DROP TABLE lexical_vocabulary")
    connection.execute(f"ALTER TABLE lexical RENAME TO {lexical_table(generation)}")
    for statement in TABLES:
        if not any(f"TABLE {kept} " in statement for kept in _KEPT):
            connection.execute(statement)
    connection.execute(
        "INSERT INTO meta SELECT row, identity, library_version, generation, NULL FROM old_meta"
    )
    connection.execute(
        "INSERT INTO generation SELECT number, embedder, embedder_name, dimension, '{}', x'', 0 "
        "FROM old_generation"
    )
    connection.execute("INSERT INTO access_class VALUES (0, '[]')")
    connection.execute(
        f"INSERT INTO document ({_DOCUMENT}, generation, stamp) "
        f"SELECT {_DOCUMENT}, {generation}, '' FROM old_document"
    )
    connection.execute(f"INSERT INTO chunk ({_CHUNK}) SELECT {_CHUNK} FROM old_chunk")
    connection.execute(f"INSERT INTO dense ({_DENSE}) SELECT {_DENSE} FROM old_dense")
    connection.execute(
        f"INSERT INTO history ({_HISTORY}, generation, access) "
        f"SELECT {_HISTORY}, {generation}, 0 FROM old_history"
    )
    # Where those chunks stood was not noted then.
    connection.executemany(
        "INSERT INTO departed SELECT ?1, key, value, 0, 0 FROM json_each(?2)", removed
    )
    for table in ("document", "chunk", "dense", "generation"):
        # Numbers are never used again.
        query = "SELECT IFNULL(MAX(seq), 0) FROM sqlite_sequence WHERE name IN (?1, 'old_' || ?1)"
        last: int = value_of(connection, query, (table,))
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, last))
    for table in ("meta", "generation", "access_class", "document", "chunk", "dense", "history"):
        connection.execute(f"DROP TABLE old_{table}")
    add_vocabulary(connection, generation)


_KEPT = ("document_body", "left_out", "journal")
_DOCUMENT = (
    "number, id, version, uri, source_hash, pipeline, mtime_ns, size, indexed_at, title, language, "
    "media_type, metadata, status, problem, failed_hash, moved_from, access, total"
)
_CHUNK = (
    "number, generation, document, id, input_hash, access, ordinal, span_start, span_end, tokens, "
    "kind, heading_path, context, shed, boundary, lines, pages, boxes, attributes, metadata, "
    "units, config, text"
)
_DENSE = "number, generation, rows, dimension, chunks, documents, scales, bounds, codes, vectors"
_HISTORY = "number, document, version, library_version, time, added, moved_from"

_STEPS: tuple[Callable[[apsw.Connection], None], ...] = (_to_generations_and_access,)
"""From schema ``n`` to ``n + 1`` at index ``n - 1``."""
