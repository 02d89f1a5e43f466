"""A disk that can lose its power: what was not synced is lost, whole or in part.

``Recorder`` is a VFS that passes everything on to the system's own and notes what SQLite does to
files; what Merestone itself does to names is noted by an audit hook. ``Disk`` plays such notes and
says at any point what could be found after the power went: of each file what was synced, and of the
later writes any part by sectors; of the names those up to the last sync of their folder, and some
of the later ones, in their order, as a journal of a file system keeps them.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512

Note = tuple[Any, ...]
"""What was done, the path it was done to, and more."""


class Recorder(apsw.VFS):
    """The system's VFS, with notes of what changes files."""

    def __init__(self, note: Callable[..., None]) -> None:
        self._note = note
        super().__init__("merestone-recorder", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name if isinstance(name, str) or name is None else name.filename()
        is_new = path is not None and not os.path.exists(path)
        file = _File(self._note, path, name, flags)
        if is_new and os.path.exists(path):
            # What SQLite does on Unix: the first sync of a new journal or log syncs its folder.
            is_log = flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL)
            self._note("create", path, bool(is_log))
        return file

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802
        super().xDelete(name, sync_folder)
        self._note("delete", name)
        if sync_folder:
            self._note("sync folder", os.path.dirname(name))


class _File(apsw.VFSFile):
    def __init__(
        self, note: Callable[..., None], path: str | None, name: Any, flags: list[int]
    ) -> None:
        self._note = note
        self._path = path
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._note("write", self._path, offset, bytes(data))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        self._note("truncate", self._path, size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._note("sync", self._path)


class Recording:
    """Notes of one process, from now on. Noted are ``folder`` and what is in it."""

    def __init__(self, folder: Path) -> None:
        self.notes: list[Note] = []
        self._folder = str(folder)
        self._around = (self._folder, os.path.dirname(self._folder))
        self._vfs = Recorder(self.note)
        sys.addaudithook(self._audit)
        self._fsync, os.fsync = os.fsync, self._synced

    def note(self, what: str, path: str | None = None, *more: Any) -> None:
        """Add a note; one without a path is a mark."""
        if path is None or path in self._around or path.startswith(self._folder + os.sep):
            self.notes.append((what, path, *more))

    def _audit(self, event: str, values: tuple[Any, ...]) -> None:
        # Told before it is done: what then fails is noted all the same, and does no harm.
        if event == "os.rename":
            self.note("rename", os.fspath(values[0]), os.fspath(values[1]))
        elif event == "os.remove":
            self.note("delete", os.fspath(values[0]))
        elif event == "os.mkdir":
            self.note("mkdir", os.fspath(values[0]))
        elif event == "open" and isinstance(values[0], str | os.PathLike):
            path = os.fspath(values[0])
            if values[2] & (os.O_WRONLY | os.O_RDWR) and not os.path.exists(path):
                self.note("create", path, False)

    def _synced(self, descriptor: int) -> None:
        self._fsync(descriptor)
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        self.note("sync folder" if os.path.isdir(path) else "sync", path)


@dataclass(eq=False)
class _Node:
    """A file or a folder, whatever its name."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Writes at an offset, and truncations to a size, in their order."""
    syncs_folder: bool = False
    is_folder: bool = False


class Disk:
    """Plays notes; ``cut`` says what a power cut would leave now."""

    def __init__(self, folder: Path) -> None:
        """Nothing is there; ``folder`` is to hold all that comes."""
        self._folder = str(folder)
        self._names: dict[str, _Node] = {}
        self._durable: dict[str, _Node] = {}
        self._pending: list[tuple[str, str, Any]] = []
        """Changes of names that no sync of their folder has followed."""

    def play(self, note: Note) -> None:
        """Do what the note says."""
        match note:
            case ("create", path, syncs_folder):
                self._rename("add", path, _Node(syncs_folder=syncs_folder))
            case ("mkdir", path):
                if path not in self._names:
                    self._rename("add", path, _Node(is_folder=True))
            case ("delete", path):
                if path in self._names:
                    self._rename("remove", path, None)
            case ("rename", path, new):
                self._rename("move", path, new)
            case ("write", path, offset, data):
                self._names[path].pending.append((offset, data))
            case ("truncate", path, size):
                self._names[path].pending.append((size, None))
            case ("sync", path):
                self._sync(path)
            case ("sync folder", path):
                self._sync_folder(path)

    def cut(self, draw: random.Random) -> dict[str, bytes | None]:
        """Path → what is found there; ``None`` is a folder."""
        names = dict(self._durable)
        kept = draw.choice([0, len(self._pending), draw.randint(0, len(self._pending))])
        for change in self._pending[:kept]:
            _change(names, *change)
        share = draw.choice([0.0, 1.0, draw.random()])
        torn = draw.random() < 0.5
        return {
            path: None if node.is_folder else _content(node, draw, share, torn)
            for path, node in names.items()
            # What lies in a folder whose own name is lost cannot be found.
            if path == self._folder or self._folder in names
        }

    def _rename(self, kind: str, path: str, value: Any) -> None:
        _change(self._names, kind, path, value)
        self._pending.append((kind, path, value))

    def _sync(self, path: str) -> None:
        node = self._names[path]
        for offset, data in node.pending:
            _apply(node.durable, offset, data)
        node.pending.clear()
        if node.syncs_folder:
            node.syncs_folder = False
            self._sync_folder(os.path.dirname(path))

    def _sync_folder(self, folder: str) -> None:
        waiting = []
        for change in self._pending:
            if os.path.dirname(change[1]) == folder:
                _change(self._durable, *change)
            else:
                waiting.append(change)
        self._pending = waiting


def _change(names: dict[str, _Node], kind: str, path: str, value: Any) -> None:
    if kind == "add":
        names[path] = value
    elif kind == "remove":
        names.pop(path, None)
    elif path in names:
        names[value] = names.pop(path)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        if len(content) > offset:
            del content[offset:]
        else:
            content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def _content(node: _Node, draw: random.Random, share: float, torn: bool) -> bytes:
    """What was synced, with a part of what was not: whole writes, or sectors of them."""
    content = bytearray(node.durable)
    for offset, data in node.pending:
        if data is None or not torn:
            if draw.random() < share:
                _apply(content, offset, data)
            continue
        at = 0
        while at < len(data):
            end = min(len(data), at + SECTOR - (offset + at) % SECTOR)
            if draw.random() < share:
                _apply(content, offset + at, data[at:end])
            at = end
    return bytes(content)
