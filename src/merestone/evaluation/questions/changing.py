"""Changing a file of questions that others may be changing at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from merestone.evaluation.questions.values import Questions
from merestone.types import SettingsError, StoreBusyError

_SECONDS = 30.0
"""How long another process may take, which reads and writes one file."""


def change_questions(path: Path, change: Callable[[Questions], Questions]) -> Questions:
    """Put what ``change`` makes of the questions in ``path`` in their place; what it made.

    ``change`` is given what is in the file now, nothing where there is none. Nobody else who comes
    this way writes the file meanwhile, so that of two questions added at once both are kept; it
    should not take long. Raises ``StoreBusyError`` with code ``questions-busy`` if another process
    keeps the file for half a minute.
    """
    with _alone(path):
        known = Questions.load(path) if path.exists() else Questions()
        changed = change(known)
        if changed != known or not path.exists():
            changed.save(path)
    return changed


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock on ``path``: a file beside it, since the file itself is replaced."""
    # Takes 100 ms to import; who only reads never needs it.
    from filelock import FileLock, Timeout

    target = path.resolve()
    lock = FileLock(
        target.with_name(f".{target.name}.lock"), timeout=_SECONDS, fallback_to_soft=False
    )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise StoreBusyError(
            "questions-busy",
            f"{path} is being written to by another process.",
            "Wait until it is done, or end it; nothing was changed.",
        ) from None
    except OSError as error:
        raise SettingsError(
            "file-unwritable", f"{path} cannot be written: {error}.", "Name another file."
        ) from error
    try:
        yield
    finally:
        # Gone while it is still held: whoever waits sees that its file has no name any more, and
        # makes a new one. Where a file in use can't be removed, letting go of it removes it.
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()
