"""Files that are put in their place whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from merestone.types import SettingsError

_NAMED = 32
"""Characters of a file's name that its draft repeats; names have a limit, too."""
_NO_FLUSH = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM})
"""What is said of folders that can't be flushed, or that may be written to and not be opened."""


@contextmanager
def replacing(path: Path, *, private: bool = False, lasting: bool = True) -> Iterator[Path]:
    """The path of an empty draft, which takes the place of ``path`` at the end of the block.

    If the block fails, the draft goes and ``path`` stays as it was. Of a link the target is
    replaced, not the link. A file keeps its permissions, and its group where that is allowed; a
    new one has those of any new file, a ``private`` one in either case its owner's only. With
    ``lasting`` the contents are on disk before they have the name, and the name is at the end.

    What is no regular file, a pipe for instance, can't be replaced: that itself is to be written
    to. Raises ``OSError``.
    """
    target = Path(os.path.realpath(path))
    held = _status(target)
    if held is not None and not stat.S_ISREG(held.st_mode):
        yield target
        return
    if held is not None and not os.access(target, os.W_OK):
        # The folder would let it be replaced; who made it read-only did not mean that.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    # Nobody who could not read the file may read the draft.
    draft = _new_draft(target, 0o600 if private or held else 0o666)
    try:
        yield draft
        if lasting:
            flush(draft)
        if held is not None and not private:
            _take_permissions(draft, held)
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    if lasting:
        _flush_folder(target.parent)


def write_text(path: Path, text: str) -> None:
    """Put ``text`` in the place of ``path``, in UTF-8; folders are made. Raises ``SettingsError``
    with code ``file-unwritable``."""
    try:
        Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft:
            draft.write_bytes(text.encode("utf-8", "replace"))
    except (OSError, ValueError) as error:  # a name with a zero in it is no value
        raise SettingsError(
            "file-unwritable", f"{path} cannot be written: {error}.", "Name another file."
        ) from error


def flush(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power cut."""
    if path.is_dir() and os.name == "nt":
        return  # Windows has no handle for a folder; NTFS journals the rename
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    try:
        flush(folder)
    except OSError as error:
        if error.errno not in _NO_FLUSH:
            raise


def _status(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _new_draft(target: Path, mode: int) -> Path:
    draft = target.with_name(f".{target.name[:_NAMED]}.{secrets.token_hex(4)}")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    return draft


def _take_permissions(draft: Path, held: os.stat_result) -> None:
    mode = stat.S_IMODE(held.st_mode) & 0o777
    if sys.platform != "win32" and draft.stat().st_gid != held.st_gid:
        try:
            os.chown(draft, -1, held.st_gid)
        except OSError:
            # What was the group's is not for another group.
            mode &= ~0o070
    os.chmod(draft, mode)
