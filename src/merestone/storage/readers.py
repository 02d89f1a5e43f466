"""Which processes read a library now, as far as the system tells."""

from __future__ import annotations

import os
from pathlib import Path

_LOCKS = Path("/proc/locks")


def readers_of(library: Path) -> list[int]:
    """Process ids that hold locks on the library's shared index of the log, this one included.

    Known from ``/proc/locks``, whose lines end in holder, device with inode, and range; nothing
    is known on other systems than Linux.
    """
    shared = library.with_name(library.name + "-shm")
    try:
        found = shared.stat()
        lines = _LOCKS.read_text("ascii", "replace").splitlines()
    except OSError:
        return []
    wanted = (os.major(found.st_dev), os.minor(found.st_dev), found.st_ino)
    return sorted({holder for holder, file in map(_parsed, lines) if file == wanted})


def _parsed(line: str) -> tuple[int, tuple[int, int, int] | None]:
    """Holder and file of a line such as ``1: POSIX ADVISORY READ 42 fe:00:1234 123 123``."""
    fields = line.replace("-> ", "").split()
    try:
        major, minor, inode = fields[5].split(":")
        return int(fields[4]), (int(major, 16), int(minor, 16), int(inode))
    except (IndexError, ValueError):
        return 0, None
