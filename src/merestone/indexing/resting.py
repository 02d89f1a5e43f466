"""Which files are at rest. One that is still being written is left for the next look."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from merestone.indexing.sources.folders import FolderSource, changed_ns
from merestone.types import Listed, Listing


@dataclass(slots=True)
class Rest:
    """Keeps files out of a sync that were written to just now, as if they had not been listed;
    what the library holds of them stays as it is.

    A file is at rest when it was last modified at least ``seconds`` ago and did not change
    between two looks. Where its time lies in the future, as on a disk with a clock of its own,
    two looks alone decide.
    """

    seconds: float
    wall: Callable[[], int] = time.time_ns
    """The clock that files are dated by, in nanoseconds."""
    keeps_gone: bool = False
    """Nothing counts as gone, whatever the listing lacks, nor as emptied."""
    held: set[str] = field(default_factory=set)
    """Paths of files that were held back since :meth:`begin`."""
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Time and size at the last look, of files that were not at rest or lie in the future."""
    _listed: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """A new run."""
        self.held = set()
        self._listed = set()

    def settle(self, listing: Listing) -> Listing:
        """``listing`` without the files that are not at rest. Only folders are judged."""
        unlisted = [*listing.unlisted, *([""] if self.keeps_gone else [])]
        if not isinstance(listing.source, FolderSource):
            return replace(listing, unlisted=tuple(unlisted))
        now = self.wall()
        documents = []
        for listed in listing.documents:
            if self.keeps_gone and not listed.size:
                continue
            if listed.fault:
                documents.append(listed)
            elif self._rests(listed, now):
                self._listed.add(listed.id)
                documents.append(listed)
            else:
                self.held.add(listed.location)
                unlisted.append(listed.id)
        return replace(listing, documents=tuple(documents), unlisted=tuple(unlisted))

    def is_still(self, listed: Listed) -> bool:
        """True if the file did not change since it was listed; else it is held back. To be asked
        when it was read: only then are the bytes those of one moment."""
        if listed.id not in self._listed:
            return True
        try:
            found = os.stat(listed.location)
        except OSError:
            found = None
        if found and (changed_ns(found), found.st_size) == (listed.mtime_ns, listed.size):
            return True
        self.held.add(listed.location)
        return False

    def _rests(self, listed: Listed, now: int) -> bool:
        signature = (listed.mtime_ns, listed.size)
        before = self._seen.get(listed.location)
        age = (now - listed.mtime_ns) / 1e9
        is_new = before is not None and before != signature
        if age >= self.seconds and not is_new:
            self._seen.pop(listed.location, None)
            return True
        self._seen[listed.location] = signature
        return age < 0 and before == signature
