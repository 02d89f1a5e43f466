"""Keeping a library true while its sources change."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Event
from typing import Protocol

from merestone.indexing.listening import Heard, Listener
from merestone.indexing.pending import Pending, is_many, place_of
from merestone.indexing.resting import Rest
from merestone.indexing.sources import portable_name
from merestone.types import (
    MerestoneError,
    SettingsError,
    Snapshot,
    SourceError,
    SourceSettings,
    StoreBusyError,
    StoreError,
    SyncReport,
)

_TICK = 0.25
_PATIENCE = 10
"""Times the debounce."""
_SHORT_WAIT_SECONDS = 1.0
_FIRST_RETRY_SECONDS = 5.0

_log = logging.getLogger("merestone")


@dataclass(frozen=True, slots=True)
class WatchNote:
    """Something that whoever watches should know, besides what the syncs report."""

    code: str
    """That of an error, which ``explain`` knows; empty for mere news."""
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        code = f"[{self.code}]" if self.code else ""
        return " ".join(part for part in (self.message, self.remedy, code) if part)


class Site(Protocol):
    """The library that is watched, as it is configured at the moment."""

    @property
    def sources(self) -> Sequence[SourceSettings]: ...

    def sync(self, paths: Sequence[str], rest: Rest) -> SyncReport:
        """Look at these paths (none: at everything), but for files that are not at rest."""

    def snapshot(self) -> AbstractContextManager[Snapshot]: ...

    def configuration(self) -> object:
        """Changes when a file that the settings were read from does."""

    def configure(self) -> None:
        """Read the settings again. ``SettingsError`` if they can't be used: the old ones stay."""


@dataclass(slots=True)
class _Place:
    """A source with a folder that can be listened to."""

    root: str
    listener: Listener | None = None
    identity: tuple[int, int] | None = None
    is_told: bool = False
    """True if it was said that it is gone or can't be watched."""
    is_deaf: bool = False
    """True if the system can't watch it."""

    def close(self) -> None:
        if self.listener:
            self.listener.close()
        self.listener = None


@dataclass(slots=True)
class _Configuration:
    """What the configuration files looked like when they were read, and since when they look
    otherwise."""

    read: object
    found: object = None
    since: float = 0.0


@dataclass
class Watch:
    """Syncs all that a library holds, then again and again what changed, until it is stopped.

    File events only say where to look: what is true is read from the sources, by the same code
    as any sync. Each sync takes the lease for itself. A look at everything every ``every``
    seconds finds what no event tells of: sources other than folders, files behind links, changes
    made by other machines, events that the system lost.
    """

    site: Site
    debounce: float = 0.5
    """Seconds that a file has to be at rest before it is read."""
    every: float = 300.0
    on_report: Callable[[SyncReport], None] = lambda _: None
    on_note: Callable[[WatchNote], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    listen: Callable[[str, Callable[[Heard], None]], Listener] = Listener
    rest: Rest | None = None
    """For tests: in place of one that rests for ``debounce`` by the system's clock."""
    _places: dict[str, _Place] = field(default_factory=dict, init=False)
    _inbox: Queue[Heard] = field(default_factory=Queue, init=False)
    _refused: set[str] = field(default_factory=set, init=False)
    """Paths where so much is gone that it was not removed."""
    _not_before: float = field(default=0.0, init=False)
    _retry: float = field(default=_FIRST_RETRY_SECONDS, init=False)
    _told: object = field(default=None, init=False)
    _told_refusal: object = field(default=None, init=False)
    _reported: SyncReport | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._rest = self.rest or Rest(self.debounce)
        self._pending = Pending(self.debounce, _PATIENCE * self.debounce, is_whole=True)
        self._next_whole = self.clock() + self.every
        self._configuration = _Configuration(self.site.configuration())

    def run(self, stop: Event) -> None:
        """Watch until ``stop`` is set. Raises ``SettingsError`` if the first sync does; whatever
        fails later is told and tried again."""
        try:
            while not stop.is_set():
                self.step()
                self.hear(_TICK)
        finally:
            self.close()

    def close(self) -> None:
        """Let go of all folders."""
        for place in self._places.values():
            place.close()
        self._places.clear()

    def hear(self, timeout: float) -> None:
        """Wait for events, and take in all that are there."""
        try:
            heard = self._inbox.get(timeout=timeout) if timeout else self._inbox.get_nowait()
            while True:
                self._take_in(heard)
                heard = self._inbox.get_nowait()
        except Empty:
            return

    def step(self) -> None:
        """Do what is due now."""
        now = self.clock()
        self._look_at_configuration(now)
        self._look_at_roots(now)
        if now >= self._next_whole:
            self._pending.is_whole = True
        if now < self._not_before:
            return
        paths = self._pending.take(now)
        if paths is not None:
            self._sync(paths)

    def _take_in(self, heard: Heard) -> None:
        if heard.is_lost:
            # The place is opened anew by the next step, and looked at as a whole.
            if heard.root in self._places:
                self._places[heard.root].close()
            return
        now = self.clock()
        places = [place for path in heard.paths if (place := place_of(path, heard.root))]
        self._pending.add(places, now)
        if places:
            # Something is different: what failed may go better.
            self._not_before = min(self._not_before, now + _FIRST_RETRY_SECONDS)

    # The surroundings

    def _look_at_configuration(self, now: float) -> None:
        state, found = self._configuration, self.site.configuration()
        if found == state.read:
            state.found = None
        elif found != state.found:
            state.found, state.since = found, now
        elif now - state.since >= self.debounce:
            self._configuration = _Configuration(found)
            try:
                self.site.configure()
            except MerestoneError as error:
                told = _note(error)
                remedy = f"{told.remedy} The settings from before stay in force."
                self.on_note(WatchNote(told.code, told.message, remedy))
            else:
                self.on_note(WatchNote("", "The configuration was read again."))
                self._pending.is_whole = True

    def _look_at_roots(self, now: float) -> None:
        """Listen to each folder that is there, and notice when it goes or comes."""
        roots = {source.path for source in self.site.sources if source.path}
        for root in self._places.keys() - roots:
            self._places.pop(root).close()
        for root in roots:
            place = self._places.setdefault(root, _Place(root))
            identity = _identity(root)
            if identity != place.identity:
                place.close()
                place.is_deaf = False
            if identity is None:
                self._tell_gone(place)
            elif place.listener is None and not place.is_deaf:
                self._open(place)
                if not self._pending.is_whole:
                    self._pending.add([root], now)
            place.identity = identity

    def _tell_gone(self, place: _Place) -> None:
        if not place.is_told:
            place.is_told = True
            self.on_note(
                WatchNote(
                    "path-not-found",
                    f"The source folder {place.root} is not there.",
                    "What is stored stays, and it is synced again as soon as it is back.",
                )
            )

    def _open(self, place: _Place) -> None:
        try:
            place.listener = self.listen(place.root, self._inbox.put)
        except (OSError, ValueError, RuntimeError) as error:
            place.is_deaf = True
            self.on_note(
                WatchNote(
                    "not-watchable",
                    f"The system can't watch {place.root}: {error}.",
                    f"It is looked at every {self.every:g} seconds instead.",
                )
            )
        place.is_told = False

    # Rounds

    def _sync(self, paths: list[str]) -> None:
        """One round. What it could not do stays pending."""
        is_first = self._reported is None
        is_whole = not paths
        if is_whole:
            self._next_whole = self.clock() + self.every
        self._rest.begin()
        try:
            scope = [] if is_whole else self._scope(paths)
            report = self._synced(scope) if scope or is_whole else None
        except SettingsError as error:
            if is_first:
                raise
            if paths and error.code == "embedder-changed":
                # A part can't be synced while the whole is built anew.
                self._pending.is_whole = True
            else:
                self._fail(error, paths)
        except MerestoneError as error:
            if paths and error.code == "path-not-found":
                # It went in the moment between.
                self._pending.add(paths, self.clock())
                self._not_before = self.clock() + _SHORT_WAIT_SECONDS
            else:
                self._fail(error, paths)
        except Exception as error:
            told = f"A sync failed: {type(error).__name__}: {error}."
            if self._fail(MerestoneError("watch-failed", told, "It is tried again."), paths):
                _log.exception("A sync of a watch failed")
        else:
            self._told = None
            self._retry = _FIRST_RETRY_SECONDS
            self._pending.add(self._rest.held, self.clock())
            if report and (is_first or _is_news(report, self._reported)):
                self.on_report(report)
            self._reported = report or self._reported

    def _synced(self, scope: list[str]) -> SyncReport:
        """Sync, if need be without the deletions that are too many."""
        self._rest.keeps_gone = False
        try:
            report = self.site.sync(scope, self._rest)
        except SourceError as error:
            if error.code != "large-deletion":
                raise
            self._refused.update(scope or self._places)
            if self._told_refusal != error.message:
                self._told_refusal = error.message
                self.on_note(_note(error))
            self._rest.keeps_gone = True
            return self.site.sync(scope, self._rest)
        self._refused.clear()
        self._told_refusal = None
        return report

    def _fail(self, error: MerestoneError, paths: list[str]) -> bool:
        """Put off what could not be done; true if the error is a new one, which is told."""
        is_busy = isinstance(error, StoreBusyError)
        told = error.code if is_busy else (error.code, error.message)
        is_new = told != self._told
        if is_new:
            self._told = told
            self.on_note(_note(error))
        now = self.clock()
        self._not_before = now + (_SHORT_WAIT_SECONDS if is_busy else self._retry)
        if not is_busy:
            self._retry = min(2 * self._retry, max(self.every, _FIRST_RETRY_SECONDS))
        if paths:
            self._pending.add(paths, now)
        else:
            self._pending.is_whole = True
        return is_new

    def _scope(self, paths: Iterable[str]) -> list[str]:
        """Those of ``paths`` that a sync can be asked to look at.

        Not those of files that came and went again, such as the temporary ones of an editor, nor
        of documents that were removed by hand: an edit does not name them.
        """
        everything = {*paths, *self._refused}
        with self._snapshot() as snapshot:
            left_out = snapshot.left_out() if snapshot else frozenset()
            scope: list[str] = []
            gone: dict[str, str] = {}
            for path in sorted(everything):
                names = self._names_of(path)
                if len(names) > 1 or is_many(everything):
                    # Of sources that overlap, a path names only the first.
                    return [place.root for place in self._places.values() if place.identity]
                if left_out.isdisjoint(names):
                    if os.path.exists(path):
                        scope.append(path)
                    else:
                        gone.update(dict.fromkeys(names, path))
            if gone and snapshot:
                known = [record.id for record in snapshot.records()]
                scope += [path for name, path in gone.items() if _is_known(name, known)]
        return scope

    def _names_of(self, path: str) -> list[str]:
        """What is at ``path``, as an id or a prefix of ids, in each source that is there."""
        return [
            source.prefix + portable_name(os.path.relpath(path, root))
            for source in self.site.sources
            for root in (source.path,)
            if root in self._places and self._places[root].identity
            if path == root or path.startswith(root.rstrip(os.sep) + os.sep)
        ]

    @contextmanager
    def _snapshot(self) -> Iterator[Snapshot | None]:
        try:
            with self.site.snapshot() as snapshot:
                yield snapshot
        except StoreError as error:
            if error.code != "no-library":
                raise
            yield None


def _identity(root: str) -> tuple[int, int] | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_known(name: str, known: Iterable[str]) -> bool:
    return any(document == name or document.startswith(f"{name}/") for document in known)


def _is_news(report: SyncReport, before: SyncReport | None) -> bool:
    """True if anything changed, or something fails that did not fail before."""
    if any(change.change != "failed" for change in report.changes):
        return True
    if report.notes and (before is None or report.notes != before.notes):
        return True
    known = {(p.document, p.code) for p in before.problems} if before else set()
    return any((p.document, p.code) not in known for p in report.problems)


def _note(error: MerestoneError) -> WatchNote:
    return WatchNote(error.code, error.message, error.remedy)
