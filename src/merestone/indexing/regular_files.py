"""Opening files that are files: a pipe may never end, and the opening of one may never return."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class NotRegularError(OSError):
    """What was to be read is a pipe or a device."""


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """The file at ``path`` for reading; ``OSError`` if there is none that can be read.

    What it is is asked of what was opened, so nothing can take its place in between.
    """
    file = open(path, "rb", opener=_open)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotRegularError(errno.EINVAL, "it is no regular file", os.fspath(path))
    return file


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | _WITHOUT_WAITING)
