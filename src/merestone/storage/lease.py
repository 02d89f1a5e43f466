"""The right to write: one process at a time, by a lock of the operating system.

The lock is on ``writer.lock``; ``writer.json`` beside it says who holds it. The system frees the
lock when its holder dies, but the name stays: that is how the next holder knows of an unclean
stop.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from merestone.files import flush
from merestone.storage.failures import made
from merestone.types import StoreBusyError, StoreError

# SQLite's shared memory works only between processes of one machine, and locks of these file
# systems are not all what they say (sqlite.org/howtocorrupt.html, section 2.1).
NETWORK_FILE_SYSTEMS = frozenset(
    {
        "afs",
        "ceph",
        "cifs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
    }
)
_MOUNTS = Path("/proc/mounts")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes."""

    pid: int
    host: str
    since: str
    """UTC, ISO 8601."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


@contextmanager
def lease(state_dir: Path) -> Iterator[bool]:
    """Hold the right to write to ``state_dir``; the value says if the last holder died.

    Raises :class:`StoreBusyError` at once, without waiting, if another holds it.
    """
    # Takes 100 ms to import; readers never need it.
    from filelock import FileLock, Timeout

    lock = FileLock(
        state_dir / "writer.lock", timeout=0, fallback_to_soft=False, preserve_lock_file=True
    )
    name = state_dir / "writer.json"
    with made(state_dir):
        try:
            lock.acquire()
        except Timeout:
            raise _busy(state_dir, read_holder(name)) from None
    try:
        unclean = name.exists()
        with made(state_dir):
            _write_holder(name)
        try:
            yield unclean
        finally:
            # A name that stays costs the next holder a look at the file, nothing else.
            with suppress(OSError):
                name.unlink(missing_ok=True)
    finally:
        lock.release()


def _write_holder(name: Path) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(),
    }
    name.write_text(json.dumps(holder), "utf-8")


def read_holder(name: Path) -> Holder | None:
    """The holder by its file; ``None`` if it cannot be read just now."""
    try:
        found = json.loads(name.read_text("utf-8"))
        return Holder(int(found["pid"]), str(found["host"]), str(found["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _busy(state_dir: Path, holder: Holder | None) -> StoreBusyError:
    who = str(holder) if holder else "another process"
    return StoreBusyError(
        "store-busy",
        f"The library in {state_dir} is being written to by {who}.",
        "Wait until it is done, or end it; searching goes on meanwhile.",
    )


def prepare_folder(state_dir: Path) -> None:
    """Make the state folder, for its owner alone, and refuse a place that cannot keep it safe."""
    with made(state_dir):
        _make(state_dir)
        if os.name == "posix":
            found = state_dir.stat()
            if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
                state_dir.chmod(0o700)
        ignore = state_dir / ".gitignore"
        if not ignore.exists():
            # Nobody wants an index in version control.
            ignore.write_text("*\n", "utf-8")
    refuse_network(state_dir)


def _make(folder: Path) -> None:
    """Make ``folder``, for its owner alone, and those above it, so that a power cut leaves them.

    A file that is flushed is lost all the same if the name of its folder was not.
    """
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in reversed(missing):
        flush(part.parent)


def refuse_network(state_dir: Path) -> None:
    """Raise :class:`StoreError` if ``state_dir`` is known to be on a network file system.

    Known from ``/proc/mounts``; other systems than Linux are not asked.
    """
    if not _MOUNTS.exists():
        return
    kind = file_system(state_dir.resolve(), _MOUNTS.read_text("utf-8", "surrogateescape"))
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreError(
            "network-file-system",
            f"The state folder {state_dir} is on a network file system ({kind}), where SQLite "
            "cannot keep readers and the writer apart.",
            "Choose a state folder on a local disk; the sources may stay where they are.",
        )


def file_system(path: Path, mounts: str) -> str:
    """Type of the file system that holds ``path``, by a text in the form of ``/proc/mounts``."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[1]))
        # Of two on one point the later hides the earlier.
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind


_OCTAL = re.compile(r"\\([0-7]{3})")
"""How ``/proc/mounts`` writes white space and backslashes."""
