"""What each stage did with a question, for people who ask why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from merestone.types import JSON

Entry = dict[str, JSON]


class Trace:
    """One entry a stage, in order, with the milliseconds that it took."""

    def __init__(self, is_wanted: bool) -> None:
        self.is_wanted = is_wanted
        """False: stages need not gather what only the trace would hold."""
        self._entries: list[Entry] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[Entry]:
        """Time the block; what is put into the entry is kept if a trace is wanted."""
        entry: Entry = {}
        began = time.perf_counter()
        yield entry
        if self.is_wanted:
            took = round((time.perf_counter() - began) * 1000, 2)
            self._entries.append({"stage": name, **entry, "milliseconds": took})

    def amend(self, name: str, **facts: JSON) -> None:
        """Put what turned out later into the entry of the stage ``name``."""
        for entry in self._entries:
            if entry["stage"] == name:
                entry.update(facts)

    def copy(self) -> Trace:
        """One that goes on from here by itself."""
        copied = Trace(self.is_wanted)
        copied._entries = [dict(entry) for entry in self._entries]
        return copied

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries)
