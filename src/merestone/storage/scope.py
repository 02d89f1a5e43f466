"""What one reader may see: the one place where access is judged.

Temporary views named as the tables are hide, from every query of a reading connection, the rows
of other generations and of documents that the reader may not read: a query cannot forget to ask,
since the names that it uses are those of the views. Which rows are hidden is written into
temporary tables when a snapshot begins; they belong to its transaction and end with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

import apsw

from merestone.storage.codec import from_json, from_sql
from merestone.storage.rows import RECORD_COLUMNS, read_allow, value_of
from merestone.storage.schema import UNSAID_CLASS
from merestone.types import METADATA_KEY, UNSAID, Allow, Asker, Owner, Reader

# The last class of a document that is gone is judged like that of one that is there.
_LAST_CLASS = "SELECT access FROM main.history WHERE document = {0} ORDER BY number DESC LIMIT 1"
_IS_SEEN = """d.generation = (SELECT generation FROM temp.scope)
    AND d.access IN (SELECT class FROM temp.readable)
    AND d.number NOT IN (SELECT document FROM temp.hidden)"""
_MAY_KNOW = f"""CASE
    WHEN EXISTS (SELECT 1 FROM main.document AS d
        WHERE d.generation = (SELECT generation FROM temp.scope) AND d.id = {{0}})
    THEN EXISTS (SELECT 1 FROM main.document AS d WHERE d.id = {{0}} AND {_IS_SEEN})
    ELSE ({_LAST_CLASS}) IN (SELECT class FROM temp.readable)
        AND (({_LAST_CLASS}) <> {UNSAID_CLASS} OR (SELECT is_unsaid_open FROM temp.scope)) END"""
# Where a document came from is the name of another.
_ORIGIN = f"""CASE WHEN {{0}}.moved_from IS NULL THEN NULL
    WHEN (SELECT is_owner FROM temp.scope) OR ({_MAY_KNOW.format("{0}.moved_from")})
    THEN {{0}}.moved_from END AS moved_from"""
_RECORD = ", ".join(
    _ORIGIN.format("own") if column == "moved_from" else f"own.{column}"
    for column in ("number", "generation", *RECORD_COLUMNS.split(", "), "created", "modified")
)

_VIEWS = f"""
CREATE TEMP TABLE scope (
    generation INTEGER NOT NULL,
    is_owner INTEGER NOT NULL,
    is_unsaid_open INTEGER NOT NULL -- for documents that are gone, which no rule of today names
);
CREATE TEMP TABLE readable (class INTEGER PRIMARY KEY);
CREATE TEMP TABLE hidden (document INTEGER PRIMARY KEY);
CREATE TEMP VIEW document AS SELECT {_RECORD} FROM main.document AS own
    WHERE own.generation = (SELECT generation FROM temp.scope)
    AND own.access IN (SELECT class FROM temp.readable)
    AND own.number NOT IN (SELECT document FROM temp.hidden);
CREATE TEMP VIEW document_body AS SELECT * FROM main.document_body AS body
    WHERE EXISTS (SELECT 1 FROM temp.document AS own WHERE own.number = body.document);
CREATE TEMP VIEW chunk AS SELECT * FROM main.chunk
    WHERE generation = (SELECT generation FROM temp.scope)
    AND access IN (SELECT class FROM temp.readable)
    AND document NOT IN (SELECT document FROM temp.hidden);
CREATE TEMP VIEW dense AS SELECT * FROM main.dense
    WHERE generation = (SELECT generation FROM temp.scope);
CREATE TEMP VIEW left_out AS SELECT * FROM main.left_out
    WHERE (SELECT is_owner FROM temp.scope);
CREATE TEMP VIEW journal AS SELECT * FROM main.journal
    WHERE (SELECT is_owner FROM temp.scope);
CREATE TEMP VIEW history AS SELECT number, generation, document, version, library_version, time,
        added, edits, {_ORIGIN.format("h")}
    FROM main.history AS h
    WHERE generation <= (SELECT generation FROM temp.scope)
    AND ((SELECT is_owner FROM temp.scope) OR ({_MAY_KNOW.format("h.document")}));
"""
_MOST_JUDGEMENTS = 64


class Judgements:
    """What today's rules hide from askers, remembered while rules and library stay as they are."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._hidden: dict[tuple[object, ...], frozenset[int]] = {}

    def hidden(
        self, connection: apsw.Connection, asker: Asker, state: tuple[object, ...]
    ) -> frozenset[int]:
        """Numbers of documents that today's rules close to ``asker``; ``state`` names the library
        and its version."""
        key = (*state, asker.policy.fingerprint, asker.principals)
        with self._lock:
            known = self._hidden.get(key)
        if known is None:
            known = _closed_today(connection, asker)
            with self._lock:
                while len(self._hidden) >= _MOST_JUDGEMENTS:
                    self._hidden.pop(next(iter(self._hidden)))
                self._hidden[key] = known
        return known


def prepare(connection: apsw.Connection) -> None:
    """Put the views before the tables. Until :func:`enter` they show nothing."""
    connection.execute("PRAGMA temp_store = memory").fetchall()
    connection.execute(_VIEWS)


def enter(
    connection: apsw.Connection,
    reader: Reader,
    generation: int,
    judgements: Judgements,
    state: tuple[object, ...],
) -> bool:
    """Show ``reader`` what it may see of ``generation``; true if anything could be hidden.

    To be called inside the transaction of the snapshot, whose end undoes it.
    """
    classes = _classes(connection)
    is_owner = isinstance(reader, Owner)
    is_limited = False
    readable: Iterable[int] = classes
    hidden: Iterable[int] = ()
    if not isinstance(reader, Owner):
        something_said = _something_is_said(connection, generation)
        is_limited = something_said or reader.policy.has_rules
        readable = _readable(classes, reader, is_open=not something_said)
    _fill(connection, "scope", [(generation, int(is_owner), int(not is_limited))])
    _fill(connection, "readable", [(number,) for number in readable])
    if not isinstance(reader, Owner):
        judged_by = value_of(connection, "SELECT access_rules FROM meta")
        if judged_by != reader.policy.fingerprint:
            hidden = judgements.hidden(connection, reader, (*state, generation))
            _fill(connection, "hidden", [(number,) for number in hidden])
    return is_limited or bool(hidden)


@contextmanager
def temporary_tables(connection: apsw.Connection) -> Iterator[None]:
    """Let the block write temporary tables, which reading connections refuse as any others."""
    connection.execute("PRAGMA query_only = 0").fetchall()
    try:
        yield
    finally:
        connection.execute("PRAGMA query_only = 1").fetchall()


def _fill(connection: apsw.Connection, table: str, rows: list[tuple[int, ...]]) -> None:
    marks = ", ".join("?" * len(rows[0])) if rows else ""
    with temporary_tables(connection):
        connection.execute(f"DELETE FROM temp.{table}")
        if rows:
            connection.executemany(f"INSERT INTO temp.{table} VALUES ({marks})", rows)


def _classes(connection: apsw.Connection) -> dict[int, Allow]:
    rows = connection.execute("SELECT number, allow FROM main.access_class")
    return {number: read_allow(allow) for number, allow in rows}


def _something_is_said(connection: apsw.Connection, generation: int) -> bool:
    """True if any document says who may read it: then one that does not is closed."""
    query = "SELECT EXISTS (SELECT 1 FROM main.document WHERE generation = ? AND access > ?)"
    return bool(value_of(connection, query, (generation, UNSAID_CLASS)))


def _readable(classes: dict[int, Allow], asker: Asker, *, is_open: bool) -> list[int]:
    return [
        number
        for number, allow in classes.items()
        if (is_open if allow == UNSAID else asker.is_admitted(allow))
    ]


def _closed_today(connection: apsw.Connection, asker: Asker) -> frozenset[int]:
    """Documents that the policy of today closes, whatever it was when they were stored."""
    rows = connection.execute(
        "SELECT number, id, metadata -> ? FROM main.document "
        "WHERE generation = (SELECT generation FROM temp.scope)",
        (f"$.{METADATA_KEY}",),
    )
    allowed: dict[int, Allow] = {}
    for number, identifier, stated in rows:
        metadata = {} if stated is None else {METADATA_KEY: from_json(stated)}
        allowed[number] = asker.policy.allow(from_sql(identifier), metadata)
    is_open = all(allow == UNSAID for allow in allowed.values())
    return frozenset(
        number
        for number, allow in allowed.items()
        if not (is_open if allow == UNSAID else asker.is_admitted(allow))
    )
