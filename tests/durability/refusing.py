"""A system that refuses: full disks and failing ones, at one kind of call on one kind of file.

SQLite on Unix makes its system calls through a table that can be changed; there an error number is
set, as the system would. It does not reach syncs, which a VFS answers. What Merestone itself does
is refused by an audit hook.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

CALLS = ("write", "truncate", "open", "delete", "sync")
"""What SQLite can be refused."""
OWN_CALLS = ("mkdir", "rename", "open file", "flush")
"""What Merestone can be refused."""


class Refusal:
    """From the call number ``after`` on, each ``call`` on a file named ``name`` fails."""

    def __init__(self, call: str, name: str, number: int, after: int, *, once: bool) -> None:
        self.call = call
        self._name = name
        self._number = number
        self._after = after
        self._once = once
        self._seen = 0

    def hits(self, call: str, path: str | bytes | None) -> bool:
        """True if this call is to fail."""
        if call != self.call or path is None or Path(os.fsdecode(path)).name != self._name:
            return False
        self._seen += 1
        return self._seen == self._after or (self._seen > self._after and not self._once)

    def raise_if_hit(self, call: str, path: str) -> None:
        if self.hits(call, path):
            raise OSError(self._number, os.strerror(self._number), path)

    @property
    def number(self) -> int:
        """The error number of the system."""
        return self._number

    @property
    def was_met(self) -> bool:
        return self._seen >= self._after


class _Vfs(apsw.VFS):
    def __init__(self, refusal: Refusal) -> None:
        self._refusal = refusal
        super().__init__("merestone-refusing", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name if isinstance(name, str) or name is None else name.filename()
        return _File(self._refusal, path, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, refusal: Refusal, path: str | None, name: Any, flags: list[int]) -> None:
        self._refusal = refusal
        self._path = path
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self._refusal.hits("sync", self._path):
            error = apsw.IOError("refused")
            error.extendedresult = apsw.SQLITE_IOERR_FSYNC
            raise error
        super().xSync(flags)


_Write = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)
_Truncate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, use_errno=True)
_Open = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, use_errno=True)
_Delete = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, use_errno=True)
_kept: list[object] = []
"""The table of system calls holds addresses only."""


def refuse(refusal: Refusal) -> None:
    """Let ``refusal`` have its way with this process, to its end."""
    # Only where it must: a VFS in Python passes an error on where SQLite would pass over it.
    vfs = _Vfs(refusal) if refusal.call == "sync" else apsw.VFS("merestone-calls", "unix")
    _kept.append(vfs)

    def of_descriptor(descriptor: int, *_: object) -> str:
        return os.readlink(f"/proc/self/fd/{descriptor}")

    def of_name(name: bytes, *_: object) -> bytes:
        return name

    _replace(vfs, refusal, "write", ("pwrite64", "pwrite"), _Write, of_descriptor)
    _replace(vfs, refusal, "truncate", ("ftruncate",), _Truncate, of_descriptor)
    _replace(vfs, refusal, "open", ("open",), _Open, of_name)
    _replace(vfs, refusal, "delete", ("unlink",), _Delete, of_name)
    _refuse_own(refusal)


def _replace(
    vfs: apsw.VFS,
    refusal: Refusal,
    call: str,
    names: tuple[str, ...],
    kind: Any,
    path_of: Callable[..., str | bytes],
) -> None:
    name = next(name for name in names if vfs.xGetSystemCall(name))
    original = kind(vfs.xGetSystemCall(name))

    def answer(*values: Any) -> int:
        if refusal.hits(call, path_of(*values)):
            ctypes.set_errno(refusal.number)
            return -1
        return original(*values)  # type: ignore[no-any-return]

    replacement = kind(answer)
    _kept.append(replacement)
    vfs.xSetSystemCall(name, ctypes.cast(replacement, ctypes.c_void_p).value)


def _refuse_own(refusal: Refusal) -> None:
    def hook(event: str, values: tuple[Any, ...]) -> None:
        if event == "os.mkdir":
            refusal.raise_if_hit("mkdir", os.fspath(values[0]))
        elif event == "os.rename":
            refusal.raise_if_hit("rename", os.fspath(values[1]))
        elif event == "open" and isinstance(values[0], str | os.PathLike):
            refusal.raise_if_hit("open file", os.fspath(values[0]))

    sys.addaudithook(hook)
    flush = os.fsync

    def fsync(descriptor: int) -> None:
        refusal.raise_if_hit("flush", os.readlink(f"/proc/self/fd/{descriptor}"))
        flush(descriptor)

    os.fsync = fsync


def number_of(name: str) -> int:
    """The error number that is called ``name``."""
    return int(getattr(errno, name))
