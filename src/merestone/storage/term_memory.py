"""What a process remembers of the lexical index, for all snapshots of one state of a library."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from merestone.storage.postings import Postings

_MOST_COUNTS = 100_000
"""Terms whose counts are remembered."""


class TermMemory:
    """What is remembered of the state that was asked for last.

    May be used from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._state: tuple[object, ...] = ()
        self._remembered = Remembered()

    def of(self, state: tuple[object, ...]) -> Remembered:
        """What is known of a state of the library, to be read and added to."""
        with self._lock:
            if state != self._state or len(self._remembered.counts) > _MOST_COUNTS:
                self._state, self._remembered = state, Remembered()
            return self._remembered


class Remembered:
    """What is known of one state."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        """How many chunks hold a term: counting reads the whole list of those that do, and one
        question asks several times."""
        self._is_searched = False
        self._postings: Postings | None = None
        self._lock = Lock()

    def postings(self, connection: apsw.Connection, generation: int) -> Postings | None:
        """The index in memory; ``None`` for the first search of a state: reading what it needs
        costs as much as one search by FTS5, and there may be no second one."""
        with self._lock:
            if self._is_searched and self._postings is None:
                # Loads numpy, which the first lexical answer does not wait for.
                from merestone.storage.postings import Postings

                self._postings = Postings(connection, generation)
            self._is_searched = True
            return self._postings

    def known_postings(self) -> Postings | None:
        """The index in memory, if it was read."""
        return self._postings
