"""What SQLite reports, said as an error of Merestone."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from merestone.types import StoreBusyError, StoreError


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn any error of SQLite inside the block into a :class:`StoreError` about ``path``."""
    try:
        yield
    except apsw.Error as error:
        raise _translate(error, path) from error


@contextmanager
def made(path: Path) -> Iterator[None]:
    """Turn a refusal of the system to make files into a :class:`StoreError` about ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _disk_full(path) from error
        if error.errno in _FORBIDDEN:
            raise _not_writable(path, error.strerror) from error
        raise unreachable(path, error) from error


def _refused(error: apsw.Error, path: Path) -> StoreError:
    """SQLite says of many refusals only that there was one; what can still be seen tells more."""
    if _is_full(path.parent):
        return _disk_full(path)
    limit = _file_size_limit()
    if limit is not None and getattr(error, "extendedresult", 0) in _WRITING:
        return StoreError(
            "file-size-limit",
            f"The library {path} cannot be written, and this process may write no file of more "
            f"than {limit} bytes; what was stored before is untouched.",
            "Raise the limit (`ulimit -f`) and run the command again.",
        )
    return unreachable(path, error)


def _is_full(folder: Path) -> bool:
    """True if the file system has no room for another page, or none for another file."""
    try:
        found = os.statvfs(folder)
    except (AttributeError, OSError):  # Windows says it by its error codes, or the folder is gone
        return False
    return found.f_bavail * found.f_frsize < _PAGE or (found.f_files > 0 and not found.f_favail)


def _file_size_limit() -> int | None:
    """Bytes that a file of this process may have; ``None`` if that is not limited."""
    if os.name == "nt":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


_PAGE = 8192
"""Bytes that SQLite writes at once."""
_WRITING = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE, apsw.SQLITE_IOERR_SHMSIZE)
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)


def _translate(error: apsw.Error, path: Path) -> StoreError:
    match error:
        case apsw.NotADBError():
            return not_a_library(path, "it is not an SQLite file")
        case apsw.CorruptError():
            return StoreError(
                "store-damaged",
                f"The library {path} is damaged: {error}.",
                "Move the file away and run `merestone sync`: it is made again from the sources.",
            )
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusyError(
                "store-busy",
                f"Another program holds the library {path} ({error}).",
                "Try again when it is done.",
            )
        case apsw.FullError():
            return _disk_full(path)
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return _not_writable(path, error)
        case apsw.CantOpenError() | apsw.IOError():
            return _refused(error, path)
        case _:
            return StoreError(
                "store-failed",
                f"SQLite refused an operation on the library {path}: {error}.",
                "Run `merestone doctor`; if it finds nothing, please report this.",
            )


def _disk_full(path: Path) -> StoreError:
    return StoreError(
        "disk-full",
        f"There is no room to write to the library {path}; what was stored before is untouched.",
        "Free some space and run the command again.",
    )


def _not_writable(path: Path, reason: object) -> StoreError:
    return StoreError(
        "store-not-writable",
        f"The library {path} cannot be written to: {reason}.",
        "Give this user the right to write to the state folder.",
    )


def unreachable(path: Path, reason: Exception) -> StoreError:
    """The error for a disk or a system that refuses to read or write."""
    return StoreError(
        "store-unreachable",
        f"The library {path} cannot be read or written: {reason}.",
        "Look at the disk and at the rights of the state folder, then try again.",
    )


def not_a_library(path: Path, reason: str) -> StoreError:
    """The error for a file at the library's place that is something else."""
    return StoreError(
        "not-a-library",
        f"{path} is not a Merestone library: {reason}.",
        "Move the file away, or choose another state folder.",
    )


def no_library(path: Path) -> StoreError:
    """The error for a library that was never made."""
    return StoreError(
        "no-library",
        f"There is no library at {path} yet.",
        "Run `merestone sync` to build it.",
    )
