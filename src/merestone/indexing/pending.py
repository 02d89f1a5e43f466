"""What file events ask for: which part of the sources to look at, and when."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from merestone.indexing.editors import is_left_by_editor
from merestone.indexing.sources import GIT_IGNORE_FILE, IGNORE_FILE

_RULES = frozenset({IGNORE_FILE, GIT_IGNORE_FILE})
_MANY = 100
"""From so many paths on, one look at all sources is quicker than a scope of each."""

Signature = tuple[int, int] | str | None
"""Modification time in nanoseconds and size of a file; ``None``: there is nothing."""
Glance = Callable[[str], Signature]


def place_of(path: str, root: str) -> str | None:
    """The path to look at after an event at ``path``; ``None`` if it concerns no document.

    Names that begin with a dot are left out of every source, so the swap and lock files of
    editors, version control and the library's own state ask for nothing. The rules of an ignore
    file concern its whole folder.
    """
    if path == root:
        return root
    prefix = root if root.endswith(os.sep) else root + os.sep
    if not path.startswith(prefix):
        return None
    folder, _, name = path.rpartition(os.sep)
    if any(part.startswith(".") for part in folder[len(prefix) :].split(os.sep)):
        return None
    if name in _RULES:
        return folder or root
    return None if name.startswith(".") or is_left_by_editor(name) else path


def without_covered(paths: Iterable[str]) -> list[str]:
    """``paths`` without those below another of them, ascending."""
    kept: list[str] = []
    # With the separator at its end a folder sorts right before what is in it.
    for path in sorted(set(paths), key=lambda path: path.rstrip(os.sep) + os.sep):
        if not kept or not (path + os.sep).startswith(kept[-1].rstrip(os.sep) + os.sep):
            kept.append(path)
    return kept


def glance(path: str) -> Signature:
    """How a path looks now. A folder always looks the same: what is in it has its own events."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return "folder" if stat.S_ISDIR(found.st_mode) else (found.st_mtime_ns, found.st_size)


@dataclass(slots=True)
class _Waiting:
    since: float
    """When the first event came."""
    changed: float
    """When it last changed, as far as events and glances tell."""
    signature: Signature | bool = False
    """At the last glance; ``False``: there was none since the last event."""


@dataclass(slots=True)
class Pending:
    """Paths that changed and were not looked at since. Times are seconds of one steady clock."""

    debounce: float
    """A path is looked at when it has been at rest for so long."""
    patience: float
    """Paths at rest wait at most so long for others, so that both ends of a move come together."""
    is_whole: bool = False
    """True if all sources are to be looked at, as soon as may be."""
    _paths: dict[str, _Waiting] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.is_whole or bool(self._paths)

    def add(self, paths: Iterable[str], now: float) -> None:
        """Something happened at these paths."""
        for path in paths:
            waiting = self._paths.setdefault(path, _Waiting(now, now))
            waiting.changed = now
            waiting.signature = False

    def take(self, now: float, look: Glance = glance) -> list[str] | None:
        """The paths to look at now, which are no longer pending then; ``[]``: all sources.
        ``None``: nothing is due."""
        resting = [path for path, waiting in self._paths.items() if self._rests(path, now, look)]
        if self.is_whole:
            self.is_whole = False
            self._drop(resting)
            return []
        if not resting or not self._is_due(resting, now):
            return None
        self._drop(resting)
        return without_covered(resting)

    def _rests(self, path: str, now: float, look: Glance) -> bool:
        waiting = self._paths[path]
        found = look(path)
        if found != waiting.signature:
            waiting.changed, waiting.signature = now, found
        return now - waiting.changed >= self.debounce

    def _is_due(self, resting: Collection[str], now: float) -> bool:
        """True if nothing else is worth waiting for."""
        if any(now - self._paths[path].since >= self.patience for path in resting):
            return True
        restless = (waiting for path, waiting in self._paths.items() if path not in resting)
        # What never rests, such as a log, holds nothing up.
        return all(now - waiting.since >= self.patience for waiting in restless)

    def _drop(self, paths: Iterable[str]) -> None:
        for path in paths:
            del self._paths[path]


def is_many(paths: Collection[str]) -> bool:
    """True if scopes of so many paths would cost more than looking at everything."""
    return len(paths) >= _MANY
