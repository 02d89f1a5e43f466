"""Where scratch libraries lie: those that try out other settings on a library's documents."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from merestone.storage.lease import lease
from merestone.types import StoreBusyError

EXPERIMENTS_FOLDER = "experiments"
_USED = "used"
_KEPT_DAYS = 30


def scratch_state(state: str | Path, fingerprint: str) -> Path:
    """The state folder of a scratch library beside the library in ``state``; made, for its owner
    alone, if it is not there: it will hold the text of documents."""
    folder = Path(state) / EXPERIMENTS_FOLDER / fingerprint
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def note_use(scratch: Path, day: date | None = None) -> None:
    """Remember that a scratch library was used today (UTC), or on ``day``."""
    (scratch / _USED).write_text((day or _today()).isoformat(), "utf-8")


def drop_scratch(state: str | Path, *, everything: bool, today: date | None = None) -> int:
    """Delete the scratch libraries that were not used for thirty days, or all; how many went.

    One that is being written to stays, unless everything was to go: then ``StoreBusyError``.
    """
    dropped = 0
    for scratch in _scratch_folders(Path(state)):
        if not everything and not _is_old(scratch, today or _today()):
            continue
        try:
            with lease(scratch):
                shutil.rmtree(scratch, ignore_errors=os.name != "posix")
        except StoreBusyError:
            if everything:
                raise
            continue
        dropped += not scratch.exists()
    return dropped


def scratch_bytes(state: str | Path) -> int:
    """What the scratch libraries take on disk."""
    return sum(
        file.stat().st_size
        for scratch in _scratch_folders(Path(state))
        for file in scratch.rglob("*")
        if file.is_file()
    )


def _scratch_folders(state: Path) -> Iterator[Path]:
    folder = state / EXPERIMENTS_FOLDER
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if path.is_dir())


def _is_old(scratch: Path, today: date) -> bool:
    try:
        used = date.fromisoformat((scratch / _USED).read_text("utf-8").strip())
    except (OSError, ValueError):
        # Its making was broken off.
        return True
    return (today - used).days > _KEPT_DAYS


def _today() -> date:
    return datetime.now(UTC).date()
