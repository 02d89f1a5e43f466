"""Vectors that were paid for once, in one SQLite file.

A cache: losing it costs time and nothing else. So a damaged file is set aside and begun anew, and
media that cannot be written, a full disk or a busy neighbour only mean that nothing is kept.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, TypeVar

import apsw
import numpy as np

from merestone.types import Vectors

_LOGGER = logging.getLogger("merestone")

_APPLICATION_ID = 0x4D657265  # "Mere"
_SCHEMA_NUMBER = 1
_BUSY_MS = 5000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vector (
    number INTEGER PRIMARY KEY,
    embedder TEXT NOT NULL,
    input TEXT NOT NULL,
    used INTEGER NOT NULL,  -- day since 1970
    checksum INTEGER NOT NULL,
    vector BLOB NOT NULL,  -- float32, little-endian
    UNIQUE (embedder, input)
);
CREATE INDEX IF NOT EXISTS vector_used ON vector (used);
"""

_COLUMNS = "number, embedder, input, used, checksum, vector"

_KEPT_SHARE = 0.9
"""Share of the limit that is left after an eviction, so that not every write evicts."""
_EVICTED_SHARE = 20
"""One row in so many is dropped at a time."""

_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)

_Answer = TypeVar("_Answer")
_Use: TypeAlias = "Callable[[apsw.Connection], _Answer]"


class _UnknownSchemaError(Exception):
    """The file is of another kind, or of another version of Merestone: not ours to touch."""


class EmbeddingCache:
    """(embedder fingerprint, input hash) → float32 vector.

    ``max_bytes`` bounds the file, its write-ahead log aside; beyond it, what was not used for
    longest goes first, by the day. 0 keeps nothing. Any number of threads may share one object
    and any number of processes one file. No method raises because of the state of the file.
    """

    def __init__(
        self, path: str | Path, max_bytes: int, *, today: Callable[[], int] | None = None
    ) -> None:
        """``today`` gives the day since 1970 and is there for tests. The file is opened, and
        made, at the first use."""
        self._path = Path(path)
        self._max_bytes = max_bytes
        self._today = today or _today
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._writable = True
        self._warned = False

    def __enter__(self) -> EmbeddingCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. A later call opens it again."""
        with self._lock:
            self._close()

    def get_many(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Vectors]:
        """Vectors of those ``hashes`` that are held, of shape (dimension,), read-only.

        Notes the day of use, at most once a day and row.
        """
        if not hashes or (self._connection is None and not os.path.lexists(self._path)):
            # Who only looks makes no file.
            return {}
        today = self._today()
        nothing: dict[str, tuple[int, int, Vectors]] = {}
        found = self._use(lambda connection: _read(connection, fingerprint, hashes), nothing)
        stale = [number for number, used, _ in found.values() if used < today]
        if stale and self._writable:
            self._use(lambda connection: _touch(connection, stale, today), None)
        return {value: vector for value, (_, _, vector) in found.items()}

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep ``vectors``, by input hash, in one transaction."""
        if not vectors or self._max_bytes <= 0 or not self._writable:
            return
        today = self._today()

        def write(connection: apsw.Connection) -> None:
            if not self._writable:
                return
            with _transaction(connection):
                _write(connection, fingerprint, vectors, today)
                _evict(connection, self._max_bytes)
            _shrink(connection)

        self._use(write, None)

    def keep_only(self, fingerprint: str, hashes: Iterable[str]) -> None:
        """Drop every vector but those of ``hashes`` of one embedder, and leave nothing of the
        others in the file or its log. A file that was set aside as damaged goes too."""
        kept = [(value,) for value in hashes]

        def drop(connection: apsw.Connection) -> None:
            if not self._writable:
                return
            _pragma(connection, "secure_delete = 1")
            connection.execute("DROP TABLE IF EXISTS temp.kept")
            connection.execute("CREATE TEMP TABLE kept (input TEXT PRIMARY KEY)")
            connection.executemany("INSERT OR IGNORE INTO kept VALUES (?)", kept)
            with _transaction(connection):
                connection.execute(
                    "DELETE FROM vector WHERE embedder <> ? OR input NOT IN "
                    "(SELECT input FROM kept)",
                    (fingerprint,),
                )
            connection.execute("DROP TABLE kept")
            connection.execute("VACUUM")
            _pragma(connection, "wal_checkpoint(TRUNCATE)")

        if self._path.exists():
            self._use(drop, None)
        with suppress(OSError):
            _aside(self._path).unlink(missing_ok=True)

    def _use(self, use: _Use[_Answer], otherwise: _Answer) -> _Answer:
        """What ``use`` gives on the open file; ``otherwise`` if the file hinders it."""
        with self._lock:
            try:
                try:
                    return use(self._opened())
                except _DAMAGE as error:
                    self._set_aside(error)
                    return use(self._opened())
            except (apsw.Error, _UnknownSchemaError, OSError) as error:
                self._warn(error)
                return otherwise

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            self._connection, self._writable = _open(self._path)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _set_aside(self, error: Exception) -> None:
        """Rename the damaged file, so that a new one can be begun."""
        self._close()
        aside = _aside(self._path)
        # The log first: SQLite would play it into the file that is made next.
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.remove(f"{self._path}{suffix}")
        os.replace(self._path, aside)
        _LOGGER.warning(
            "The embedding cache %s was damaged (%s). It is now %s and a new one is begun: "
            "texts are embedded again, nothing else is lost.",
            self._path,
            error,
            aside.name,
        )

    def _warn(self, error: Exception) -> None:
        """Say once that the cache does not serve, then go on without it."""
        level = logging.DEBUG if self._warned else logging.WARNING
        _LOGGER.log(level, "The embedding cache %s cannot be used now: %s", self._path, error)
        self._warned = True


def _aside(path: Path) -> Path:
    """Where a damaged file is put."""
    return path.with_name(path.name + ".damaged")


def _open(path: Path) -> tuple[apsw.Connection, bool]:
    """A connection to the file, made if there is none, and whether it can be written."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        connection = apsw.Connection(str(path))
    except apsw.CantOpenError:
        if not path.is_file():
            raise
        return _open_immutable(path), False
    try:
        connection.set_busy_timeout(_BUSY_MS)
        writable = not connection.readonly("main")
        if writable:
            _prepare(connection)
        else:
            _check_kind(connection)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # A WAL file wants a second file beside it, which read-only media cannot have.
        connection.close()
        return _open_immutable(path), False
    except BaseException:
        connection.close()
        raise
    return connection, writable


def _open_immutable(path: Path) -> apsw.Connection:
    """A connection that takes no locks and needs no file beside: for media nobody writes to."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags)
    try:
        _check_kind(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: apsw.Connection) -> None:
    """Set what a connection needs, and make the table in a new file.

    Every pragma's answer is read, since apsw runs a statement only as far as its rows are.
    """
    if not _number(connection, "page_count"):
        # Set again, SQLite would write a page, for which a full disk has no room.
        _pragma(connection, "page_size = 8192")
        _pragma(connection, "auto_vacuum = INCREMENTAL")
    _pragma(connection, "journal_mode = WAL")
    _pragma(connection, "synchronous = NORMAL")
    _pragma(connection, "journal_size_limit = 16000000")
    with _transaction(connection):
        if not _number(connection, "schema_version"):
            connection.execute(_SCHEMA).fetchall()
            _pragma(connection, f"application_id = {_APPLICATION_ID}")
            _pragma(connection, f"user_version = {_SCHEMA_NUMBER}")
    _check_kind(connection)


def _check_kind(connection: apsw.Connection) -> None:
    found = _pragma(connection, "application_id"), _pragma(connection, "user_version")
    if found != (_APPLICATION_ID, _SCHEMA_NUMBER):
        raise _UnknownSchemaError(f"application id and schema number are {found}")
    try:
        connection.execute(f"SELECT {_COLUMNS} FROM vector LIMIT 0").fetchall()
    except apsw.SQLError as error:
        raise apsw.CorruptError(f"its table is not as it was made: {error}") from error


def _number(connection: apsw.Connection, pragma: str) -> int:
    value = _pragma(connection, pragma)
    return value if isinstance(value, int) else 0


def _pragma(connection: apsw.Connection, pragma: str) -> object:
    rows = connection.execute(f"PRAGMA {pragma}").fetchall()
    return rows[0][0] if rows and rows[0] else None


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    """``BEGIN IMMEDIATE`` … ``COMMIT``; rolled back when left by an error."""
    connection.execute("BEGIN IMMEDIATE").fetchall()
    try:
        yield
        connection.execute("COMMIT").fetchall()
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK").fetchall()


def _read(
    connection: apsw.Connection, fingerprint: str, hashes: Sequence[str]
) -> dict[str, tuple[int, int, Vectors]]:
    """Number, day of last use and vector of each row that is there and whole."""
    found: dict[str, tuple[int, int, Vectors]] = {}
    select = "SELECT number, used, checksum, vector FROM vector WHERE embedder = ? AND input = ?"
    for value in dict.fromkeys(hashes):
        for number, used, checksum, blob in connection.execute(select, (fingerprint, value)):
            # SQLite notices damage to its pages' structure, not to what stands in a row.
            if checksum == _checksum(fingerprint, value, blob):
                found[value] = number, used, np.frombuffer(blob, "<f4")
    return found


def _touch(connection: apsw.Connection, numbers: Sequence[int], today: int) -> None:
    with _transaction(connection):
        connection.executemany(
            "UPDATE vector SET used = ? WHERE number = ?", ((today, number) for number in numbers)
        ).fetchall()


def _write(
    connection: apsw.Connection, fingerprint: str, vectors: Mapping[str, Vectors], today: int
) -> None:
    blobs = {
        value: np.ascontiguousarray(vector, "<f4").tobytes() for value, vector in vectors.items()
    }
    connection.executemany(
        "INSERT OR REPLACE INTO vector (embedder, input, used, checksum, vector) "
        "VALUES (?, ?, ?, ?, ?)",
        (
            (fingerprint, value, today, _checksum(fingerprint, value, blob), blob)
            for value, blob in blobs.items()
        ),
    ).fetchall()


def _evict(connection: apsw.Connection, max_bytes: int) -> None:
    """Drop the rows unused for longest once the file's pages in use exceed ``max_bytes``."""
    held = _bytes_in_use(connection)
    if held <= max_bytes:
        return
    excess = math.ceil(_rows(connection) * (1 - _KEPT_SHARE * max_bytes / held))
    connection.execute(
        "DELETE FROM vector WHERE number IN "
        "(SELECT number FROM vector ORDER BY used, number LIMIT ?)",
        (excess,),
    ).fetchall()


def _shrink(connection: apsw.Connection) -> None:
    """Give the pages that an eviction freed back to the file system."""
    if _number(connection, "freelist_count"):
        _pragma(connection, "incremental_vacuum")


def _rows(connection: apsw.Connection) -> int:
    ((count,),) = connection.execute("SELECT count(*) FROM vector").fetchall()
    return int(count or 0)


def _bytes_in_use(connection: apsw.Connection) -> int:
    pages = _number(connection, "page_count") - _number(connection, "freelist_count")
    return pages * _number(connection, "page_size")


def _checksum(fingerprint: str, value: str, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(f"{fingerprint}/{value}".encode()))


def _today() -> int:
    return int(time.time() // 86_400)
