"""Opening a library's file, and keeping connections for readers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import apsw

from merestone.storage import generations, scope
from merestone.storage.failures import no_library, translated, unreachable
from merestone.storage.schema import PAGE_SIZE, SCHEMA, recognise
from merestone.types import StoreError

_BUSY_MILLISECONDS = 5000
_JOURNAL_BYTES = 64 << 20
_CACHE_KIBIBYTES = 16 << 10
_KEPT_IDLE = 8


def open_reader(path: Path) -> apsw.Connection:
    """A connection that cannot write.

    It is opened for writing all the same where the file allows it: only such a connection can
    take part in the write-ahead log and tidy it up when it is the last to close.
    """
    if not path.exists():
        raise no_library(path)
    connection = _open(path) if is_writable(path) else _open_immutable(path)
    schema = _prepared(connection, path, {"cache_size": -_CACHE_KIBIBYTES})
    try:
        if schema < SCHEMA:
            raise OlderSchemaError(
                "schema-too-old",
                f"The library {path} has schema {schema}; this version of Merestone reads "
                f"{SCHEMA}.",
                "Make the folder writable and run `merestone status` once: it is brought up to "
                "date without any embedding.",
            )
        with translated(path):
            scope.prepare(connection)
            for number in generations.numbers(connection):
                generations.add_instances(connection, number)
            _set_pragma(connection, path, "query_only", 1)
    except BaseException:
        connection.close()
        raise
    return connection


class OlderSchemaError(StoreError):
    """The library was made by an older version."""


def open_writer(path: Path) -> apsw.Connection:
    """The connection of the lease's holder."""
    if not path.exists():
        raise no_library(path)
    if not is_writable(path):
        raise StoreError(
            "store-not-writable",
            f"The library {path} cannot be written to.",
            "Give this user the right to write to the state folder and the files in it.",
        )
    pragmas: dict[str, int | str] = {
        "journal_mode": "wal",
        "synchronous": 2,  # FULL: a commit that was reported survives a power cut
        "secure_delete": 1,
        "journal_size_limit": _JOURNAL_BYTES,
        "page_size": PAGE_SIZE,
        "cache_size": -_CACHE_KIBIBYTES,
    }
    connection = _open(path)
    _prepared(connection, path, pragmas)
    return connection


def is_writable(path: Path) -> bool:
    """True if the file and its folder (where SQLite puts its log) can be written to."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _open(path: Path) -> apsw.Connection:
    # By address, since a path that is not UTF-8 can only be given escaped.
    address = f"{path.absolute().as_uri()}?mode=rw"
    with translated(path):
        return apsw.Connection(address, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)


def _open_immutable(path: Path) -> apsw.Connection:
    """Without locks and log, which unwritable media don't allow and don't need."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > 0:
        raise StoreError(
            "unwritable-with-log",
            f"The library {path} cannot be written to, and the log {log.name} beside it holds "
            "changes that are not in it yet.",
            "Make the folder writable and run `merestone status` once, or copy the library "
            "again after the writer has ended.",
        )
    address = f"{path.absolute().as_uri()}?immutable=1"
    with translated(path):
        return apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _prepared(connection: apsw.Connection, path: Path, pragmas: dict[str, int | str]) -> int:
    """Set up a connection, or close it; the schema of the library."""
    try:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        with translated(path):
            schema = recognise(connection, path)
            for name, value in pragmas.items():
                _set_pragma(connection, path, name, value)
    except BaseException:
        connection.close()
        raise
    return schema


def _set_pragma(connection: apsw.Connection, path: Path, name: str, value: int | str) -> None:
    """Set and read back: SQLite answers a pragma that it does not follow with the old value."""
    connection.execute(f"PRAGMA {name} = {value}").fetchall()
    found = connection.pragma(name)
    if found != value:
        raise StoreError(
            "pragma-refused",
            f"The library {path} does not take {name} = {value}; it stays {found}.",
            "Put the state folder on a local disk with an ordinary file system.",
        )


class ReaderPool:
    """Idle reading connections to one path, lent to one caller at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[apsw.Connection] = []
        self._file: tuple[int, int] | None = None
        """Device and inode that the idle ones are connected to."""
        self._lock = Lock()

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """A connection to the file that is at the path now; its transaction ends with the block."""
        file = self._identity()
        connection = self._taken(file) or open_reader(self._path)
        try:
            yield connection
        finally:
            self._give_back(connection, file)

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            self._close_idle()
            self._file = None

    def _identity(self) -> tuple[int, int]:
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self.close()
            raise no_library(self._path) from None
        except OSError as error:
            raise unreachable(self._path, error) from error
        return found.st_dev, found.st_ino

    def _taken(self, file: tuple[int, int]) -> apsw.Connection | None:
        with self._lock:
            if self._file != file:
                # The library was removed and made again under the same name.
                self._close_idle()
                self._file = file
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: apsw.Connection, file: tuple[int, int]) -> None:
        # A connection without locks does not notice when the file changes after all.
        if _at_rest(connection) and is_writable(self._path):
            with self._lock:
                if self._file == file and len(self._idle) < _KEPT_IDLE:
                    self._idle.append(connection)
                    return
        connection.close(True)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()


def _at_rest(connection: apsw.Connection) -> bool:
    """End the transaction; true if the connection would read the newest state next.

    A query that was not read to its end goes on after a rollback, and holds the old state.
    """
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except apsw.Error:
        return False
    return connection.txn_state() == apsw.SQLITE_TXN_NONE
