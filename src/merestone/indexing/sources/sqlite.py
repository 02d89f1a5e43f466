"""Rows of a SQLite database, by Python's own module."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, Self

from merestone.indexing.sources.faults import unreachable
from merestone.indexing.sources.rows import Limit, Oversized, Row, RowSource
from merestone.types import SettingsError, SourceError, SourceSettings

_WAIT_SECONDS = 5.0
_LENGTH = (
    "coalesce(octet_length({0}), 0)"
    if sqlite3.sqlite_version_info >= (3, 43)
    else "coalesce(length(CAST({0} AS BLOB)), 0)"
)
"""Bytes of a column. The newer function finds them without reading the value."""
_READING = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        # Full-text and other virtual tables ask for these of themselves.
        sqlite3.SQLITE_PRAGMA,
    }
)
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def open_source(settings: SourceSettings) -> RowSource:
    """The rows of ``settings.query`` in the file ``settings.location``, which is only read."""
    return RowSource(settings, _Table(settings))


class _Key(NamedTuple):
    """How a row is asked for by its key."""

    place: str
    value: object

    @classmethod
    def of(cls, value: object) -> Self:
        """Of text that is none, though the database calls it so, the bytes are handed over: they
        are found where its encoding is UTF-8, as it is unless someone chose another."""
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else b""
        is_text = not raw or raw.decode("utf-8", "ignore") == value
        return cls("?", value) if is_text else cls("CAST(? AS TEXT)", raw)


class _Table:
    def __init__(self, settings: SourceSettings) -> None:
        self._path = Path(settings.location)
        self._query = settings.query
        self._columns: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return self._path.as_uri()

    def columns(self) -> tuple[str, ...]:
        if not self._columns:
            with self._connection() as connection:
                cursor = connection.execute(self._select("*") + " LIMIT 0")
                self._columns = tuple(each[0] for each in cursor.description)
        return self._columns

    def scan(self, columns: Sequence[str], limit: Limit) -> Iterator[Row | Oversized]:
        yield from self._measured(columns, limit)

    def rows(self, values: Sequence[object], limit: Limit) -> Iterator[Row | Oversized]:
        keys = [_Key.of(value) for value in values]
        places = ", ".join(key.place for key in keys)
        condition = f" WHERE {_quoted(limit.key)} IN ({places})"
        yield from self._measured(self.columns(), limit, condition, [key.value for key in keys])

    def _measured(
        self,
        columns: Sequence[str],
        limit: Limit,
        condition: str = "",
        values: Sequence[object] = (),
    ) -> Iterator[Row | Oversized]:
        """Rows of ``columns``; of one over the limit no column that is over it alone leaves the
        database, and of no row bytes that are part of no document."""
        lengths = {name: _length(name, limit) for name in columns}
        kept = [_kept(name, lengths[name], limit) for name in columns]
        text = _sum(lengths[name] for name in columns if name in limit.text)
        rest = _sum(lengths[name] for name in columns if name not in limit.text)
        place = columns.index(limit.key)
        with self._connection() as connection:
            found = self._select(", ".join((*kept, f"max({text}, {rest})", lengths[limit.key])))
            for *row, size, key_size in connection.execute(found + condition, tuple(values)):
                if size <= limit.bytes:
                    yield row
                else:
                    has_long_key = key_size > limit.bytes
                    yield Oversized(row[place], key_size if has_long_key else size, has_long_key)

    def _select(self, columns: str) -> str:
        # On lines of its own: the query may end with a comment.
        return f"SELECT {columns} FROM (\n{self._query.strip().rstrip(';')}\n)"

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection for one statement: none is held while documents are worked on, so no
        program that writes has to wait."""
        try:
            uri = f"{self._path.as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS)) as connection:
                connection.text_factory = _text
                connection.execute("PRAGMA query_only = ON")
                connection.set_authorizer(_authorize)
                yield connection
        except (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError) as error:
            raise self._told(error) from error

    def _told(self, error: Exception) -> SettingsError | SourceError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return unreachable(str(self._path), str(error))
        if code in _DAMAGED:
            return SourceError(
                "source-failed",
                f"{self._path} cannot be read: {error}.",
                "Mend the database; what is stored of it stays.",
            )
        if code == sqlite3.SQLITE_AUTH or isinstance(error, sqlite3.ProgrammingError):
            return _not_a_query(self._path, str(error))
        if code == sqlite3.SQLITE_ERROR and re.search("syntax|incomplete|authorized", str(error)):
            return _not_a_query(self._path, str(error))
        return query_failed(str(self._path), str(error))


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and second == "load_extension":
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if first == "data_version" else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _length(name: str, limit: Limit) -> str:
    length = _LENGTH.format(_quoted(name))
    if not limit.drops(name):
        return length
    return f"(CASE typeof({_quoted(name)}) WHEN 'blob' THEN 0 ELSE {length} END)"


def _kept(name: str, length: str, limit: Limit) -> str:
    kept = f"{length} <= {limit.bytes}"
    if limit.drops(name):
        kept += f" AND typeof({_quoted(name)}) <> 'blob'"
    return f"CASE WHEN {kept} THEN {_quoted(name)} END"


def _sum(lengths: Iterable[str]) -> str:
    """In pairs of pairs: SQLite takes no expression that is as deep as a table may be wide."""
    terms = ["0", *lengths]
    while len(terms) > 1:
        terms = [f"({' + '.join(terms[at : at + 2])})" for at in range(0, len(terms), 2)]
    return terms[0]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _not_a_query(path: Path, reason: str) -> SettingsError:
    return SettingsError(
        "invalid-query",
        f"The query of {path} is not taken: {reason}.",
        "Give a single SELECT; nothing is ever written to a source.",
    )


def query_failed(place: str, reason: str) -> SourceError:
    """The error that a database did not answer a query to the end."""
    return SourceError(
        "query-failed",
        f"The query of {place} failed: {reason}.",
        "Mend the query or the database; what is stored of it stays.",
    )
