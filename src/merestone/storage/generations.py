"""Generations: the rows of one embedder each. One answers, another may be in the making.

Documents, texts, chunks and vectors carry the number of their generation; each generation has a
lexical index of its own, so that statistics of one never reach the scores of another.
"""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from merestone.storage.codec import damaged, from_json, from_sql, to_json, to_sql
from merestone.storage.rows import Row, value_of
from merestone.types import EmbedderIdentity, Generation

# The analyser in ``text`` has already made the terms, so the tokenizer only has to part them at
# white space: every category is a token character but separators (Z) and control codes (Cc).
_TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Cf Cn Co Cs'"

_SLICE = 2000
"""Rows deleted in one transaction."""

_COLUMNS = "number, embedder, embedder_name, dimension, settings, canary"


def lexical_table(generation: int) -> str:
    """Name of the FTS5 table of a generation."""
    return f"lexical_{generation}"


def vocabulary_table(generation: int) -> str:
    """Name of the table of its terms."""
    return f"vocabulary_{generation}"


def instances_table(generation: int) -> str:
    """Name of the temporary table of the places where its terms stand."""
    return f"instances_{generation}"


def add(connection: apsw.Connection, embedder: EmbedderIdentity, *, building: bool) -> int:
    """Make an empty generation; its number."""
    connection.execute(
        "INSERT INTO generation (embedder, embedder_name, dimension, settings, canary, building) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (
            embedder.fingerprint,
            to_sql(embedder.name),
            embedder.dimension,
            to_json(dict(embedder.settings)),
            embedder.canary,
            int(building),
        ),
    )
    number = connection.last_insert_rowid()
    connection.execute(
        f"CREATE VIRTUAL TABLE {lexical_table(number)} USING fts5(terms, content='', "
        f'contentless_delete=1, detail=full, tokenize="{_TOKENIZER}")'
    )
    add_vocabulary(connection, number)
    return number


def add_vocabulary(connection: apsw.Connection, number: int) -> None:
    """Make the view of a lexical index by its terms."""
    connection.execute(
        f"CREATE VIRTUAL TABLE {vocabulary_table(number)} "
        f"USING fts5vocab({lexical_table(number)}, row)"
    )


def add_instances(connection: apsw.Connection, number: int) -> None:
    """Make the view of a lexical index by the places of its terms, for this connection alone."""
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{instances_table(number)} "
        f"USING fts5vocab(main, {lexical_table(number)}, instance)"
    )


def answering(connection: apsw.Connection) -> Generation:
    """The generation that answers."""
    query = f"SELECT {_COLUMNS} FROM generation WHERE number = (SELECT generation FROM meta)"
    return _one(connection.execute(query))


def building(connection: apsw.Connection) -> Generation | None:
    """The generation in the making."""
    query = f"SELECT {_COLUMNS} FROM generation WHERE building = 1 ORDER BY number DESC LIMIT 1"
    row = connection.execute(query).fetchone()
    return _read(row) if row else None


def numbered(connection: apsw.Connection, number: int) -> Generation:
    """The generation of this number."""
    query = f"SELECT {_COLUMNS} FROM generation WHERE number = ?"
    return _one(connection.execute(query, (number,)))


def numbers(connection: apsw.Connection) -> list[int]:
    """Numbers of all generations that are stored, those to be dropped included."""
    return [row[0] for row in connection.execute("SELECT number FROM generation ORDER BY number")]


def abandoned(connection: apsw.Connection) -> list[int]:
    """Numbers of those that neither answer nor are in the making."""
    query = "SELECT number FROM generation WHERE building = 0 AND number <> "
    return [row[0] for row in connection.execute(query + "(SELECT generation FROM meta)")]


def abandon(connection: apsw.Connection) -> None:
    """Give up what is in the making; nobody has seen anything of it, its history included."""
    making = "(SELECT number FROM generation WHERE building = 1)"
    connection.execute(
        "DELETE FROM departed WHERE entry IN "
        f"(SELECT number FROM history WHERE generation IN {making})"
    )
    connection.execute(f"DELETE FROM history WHERE generation IN {making}")
    connection.execute("UPDATE generation SET building = 0 WHERE building = 1")


def drop_some(connection: apsw.Connection, number: int) -> bool:
    """Delete a slice of a generation, and at last itself; true when nothing is left."""
    for table, size in (("chunk", _SLICE), ("dense", 1)):
        rows = f"SELECT number FROM {table} WHERE generation = ? LIMIT ?"
        if _deleted(connection, f"DELETE FROM {table} WHERE number IN ({rows})", (number, size)):
            return False
    documents = "SELECT number FROM document WHERE generation = ? ORDER BY number LIMIT ?"
    bodies = f"DELETE FROM document_body WHERE document IN ({documents})"
    connection.execute(bodies, (number, _SLICE))
    rows = f"DELETE FROM document WHERE number IN ({documents})"
    if _deleted(connection, rows, (number, _SLICE)):
        return False
    connection.execute(f"DROP TABLE IF EXISTS {vocabulary_table(number)}")
    connection.execute(f"DROP TABLE IF EXISTS {lexical_table(number)}")
    connection.execute("DELETE FROM generation WHERE number = ?", (number,))
    return True


def lost_by_flip(connection: apsw.Connection, number: int) -> Iterator[str]:
    """Ids of documents that answer now and are not in the generation ``number``."""
    rows = connection.execute(
        "SELECT id FROM document WHERE generation = (SELECT generation FROM meta) AND id NOT IN "
        "(SELECT id FROM document WHERE generation = ?) ORDER BY id",
        (number,),
    )
    for (identifier,) in rows:
        yield from_sql(identifier)


def has_documents(connection: apsw.Connection, number: int) -> bool:
    """True if a generation holds anything."""
    query = "SELECT EXISTS (SELECT 1 FROM document WHERE generation = ?)"
    return bool(value_of(connection, query, (number,)))


def _deleted(connection: apsw.Connection, query: str, values: tuple[int, ...]) -> bool:
    before = connection.total_changes()
    connection.execute(query, values)
    return connection.total_changes() != before


def _one(rows: Iterator[Row]) -> Generation:
    for row in rows:
        return _read(row)
    raise damaged("the generation that answers")


def _read(row: Row) -> Generation:
    number, fingerprint, name, dimension, settings, canary = row
    return Generation(
        number,
        EmbedderIdentity(fingerprint, from_sql(name), dimension, from_json(settings), canary),
    )
