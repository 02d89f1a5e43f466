"""Events of the file system below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread

from watchfiles import Change
from watchfiles._rust_notify import RustNotify

_GATHER_MS = 100
_STEP_MS = 25


@dataclass(frozen=True, slots=True)
class Heard:
    """What happened below a folder that is listened to."""

    root: str
    paths: frozenset[str] = frozenset()
    is_lost: bool = False
    """True if events were missed, or the folder itself went: nothing more will be heard of it."""


class Listener:
    """Hears of changes below one folder from its making on, until :meth:`close`.

    ``hear`` is called in a thread of its own. Raises ``OSError`` where the system can't watch:
    the folder is not there, or there are more folders than it can watch.
    """

    def __init__(self, root: str, hear: Callable[[Heard], None]) -> None:
        self._root = root
        # Some systems name what happened by the real path.
        self._real = os.path.realpath(root)
        self._hear = hear
        self._stop = Event()
        self._notify = RustNotify([self._real], False, False, 0, True, False)
        self._thread = Thread(target=self._listen, name="merestone-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        self._stop.set()
        self._thread.join()
        self._notify.close()

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                # With a time limit, what happens in the moment that it runs out would be lost.
                found = self._notify.watch(_GATHER_MS, _STEP_MS, 0, self._stop)
            except Exception:
                # A name that is no Unicode, or a fault of the system's: the rest is lost with it.
                self._hear(Heard(self._root, is_lost=True))
                return
            if isinstance(found, str):
                continue
            if (Change.deleted, self._real) in found:
                self._hear(Heard(self._root, is_lost=True))
                return
            self._hear(Heard(self._root, frozenset(self._named(path) for _, path in found)))

    def _named(self, path: str) -> str:
        inner = os.path.relpath(path, self._real)
        return self._root if inner == os.curdir else os.path.join(self._root, inner)
