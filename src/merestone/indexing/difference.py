"""What differs between the sources and the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from merestone.indexing.pipeline import Pipeline
from merestone.indexing.sources import content_hash, problem_of, read, unreadable
from merestone.text.hashing import digest
from merestone.types import (
    ChangeKind,
    DocumentRecord,
    Listed,
    Listing,
    MerestoneError,
    Problem,
    Scope,
    Source,
)

_DISTRUST_NS = 2_000_000_000
"""A file written this shortly before it was read may have been written again within the same
tick of its clock: its time proves nothing."""


@dataclass(frozen=True, slots=True)
class Todo:
    """A document to be read, cut and stored."""

    source: Source
    listed: Listed
    change: ChangeKind
    record: DocumentRecord | None
    """What the library holds under this id."""
    moved_from: DocumentRecord | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """All that a sync has to do."""

    todo: tuple[Todo, ...]
    removed: tuple[DocumentRecord, ...]
    touched: tuple[DocumentRecord, ...]
    """Same bytes, other time: only the record changes."""
    unchanged: int
    """Known failures aside."""
    failed_before: frozenset[str]
    """Ids of known failures: what their sources have now can't be read, as the last sync said."""
    problems: tuple[Problem, ...]
    """Of listing and reading; such documents stay as they are."""
    known: int
    """Documents in the library before."""


@dataclass(slots=True)
class _Comparison:
    pipeline: Pipeline
    full_hash: bool
    max_bytes: int
    todo: list[Todo] = field(default_factory=list)
    touched: list[DocumentRecord] = field(default_factory=list)
    unchanged: int = 0
    failed_before: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    is_elsewhere: bool = False
    """The source that is looked at was moved: its documents have other addresses."""

    def begin(self, listing: Listing, known: Mapping[str, DocumentRecord]) -> None:
        """A new source. One known document tells whether it is where it was."""
        self.is_elsewhere = False
        for listed in listing.documents:
            if listed.id in known:
                self.is_elsewhere = listing.source.uri_of(listed) != known[listed.id].uri
                return

    def look_at(self, source: Source, listed: Listed, record: DocumentRecord | None) -> None:
        """Put one listed document where it belongs."""
        if record is None:
            self.todo.append(Todo(source, listed, "added", None))
            return
        if self._is_known_failure(listed, record):
            self.failed_before.add(listed.id)
            return
        if not record.failed_hash and self._is_trusted(listed, record):
            if self._is_current(record):
                self.unchanged += 1
                if self.is_elsewhere:
                    self.touched.append(replace(record, uri=source.uri_of(listed)))
            else:
                self.todo.append(Todo(source, listed, "changed", record))
            return
        try:
            source_hash = hash_of(source, listed, self.max_bytes)
        except OSError as error:
            self.problems.append(unreadable(listed.id, error))
            return
        except MerestoneError as error:
            self.problems.append(problem_of(listed.id, error))
            return
        if self._is_known_failure(listed, record, source_hash):
            self.failed_before.add(listed.id)
        elif (
            record.source_hash == source_hash
            and not record.failed_hash
            and self._is_current(record)
        ):
            self.unchanged += 1
            is_same_look = (record.mtime_ns, record.stamp) == (listed.mtime_ns, listed.stamp)
            if not is_same_look or self.is_elsewhere:
                self.touched.append(_touched(record, source, listed))
        else:
            change: ChangeKind = "changed" if record.version else "added"
            self.todo.append(Todo(source, listed, change, record))

    def _is_trusted(self, listed: Listed, record: DocumentRecord) -> bool:
        """True if the document need not be read: its stamp is that of the last look, or where the
        source has none, time and size are, and the time is old enough to prove something."""
        if self.full_hash or listed.fault or not record.indexed_at:
            return False
        if listed.size > self.max_bytes:
            # By a limit of today.
            return False
        if listed.stamp or record.stamp:
            return listed.stamp == record.stamp
        if not listed.mtime_ns:
            return False
        if (record.mtime_ns, record.size) != (listed.mtime_ns, listed.size):
            return False
        read_ns = int(datetime.fromisoformat(record.indexed_at).timestamp() * 1e9)
        return listed.mtime_ns + _DISTRUST_NS < read_ns

    def _is_current(self, record: DocumentRecord) -> bool:
        return record.pipeline == self.pipeline.fingerprint(record.media_type)

    def _is_known_failure(
        self, listed: Listed, record: DocumentRecord, source_hash: str | None = None
    ) -> bool:
        """True if the same bytes failed before and will again; where a stamp tells that they are
        the same, without having read them."""
        if record.problem is None or not record.problem.is_lasting:
            return False
        if source_hash is None and (self.full_hash or not listed.stamp):
            return False
        return record.failed_hash == self.pipeline.failure_key(failed_on(listed, source_hash or ""))


def failed_on(listed: Listed, source_hash: str) -> str:
    """What a failure is remembered by: the stamp where there is one, else the hash."""
    return digest("stamp", listed.stamp) if listed.stamp else source_hash


def _touched(record: DocumentRecord, source: Source, listed: Listed) -> DocumentRecord:
    return replace(
        record,
        uri=source.uri_of(listed),
        mtime_ns=listed.mtime_ns,
        size=listed.size,
        stamp=listed.stamp,
        indexed_at=timestamp(),
    )


def compare(
    listings: Sequence[Listing],
    records: Iterable[DocumentRecord],
    left_out: frozenset[str],
    scope: Scope,
    pipeline: Pipeline,
    *,
    full_hash: bool,
    max_bytes: int,
) -> Difference:
    """Hold the sources against the records; only what is in ``scope`` is looked at."""
    known = {record.id: record for record in records}
    comparison = _Comparison(pipeline, full_hash, max_bytes)
    listed_ids: set[str] = set()
    unlisted: list[str] = []
    for listing in listings:
        unlisted.extend(listing.unlisted)
        # Of a folder or source that could not be listed, also where the scope is a part of it.
        comparison.problems.extend(p for p in listing.problems if scope.reaches(p.document))
        # A file that could not even be looked at is not gone.
        listed_ids.update(problem.document for problem in listing.problems)
        comparison.begin(listing, known)
        for listed in listing.documents:
            listed_ids.add(listed.id)
            is_out = listed.id in left_out and not scope.names(listed.id)
            if scope.holds(listed.id) and not is_out:
                comparison.look_at(listing.source, listed, known.get(listed.id))
    hidden = Scope(tuple(unlisted))
    gone = [
        record
        for record in known.values()
        if record.id not in listed_ids
        and scope.holds(record.id)
        and not (unlisted and hidden.holds(record.id))
    ]
    todo, gone = _pair_moves(comparison.todo, gone, max_bytes)
    return Difference(
        todo=tuple(todo),
        removed=tuple(gone),
        touched=tuple(comparison.touched),
        unchanged=comparison.unchanged,
        failed_before=frozenset(comparison.failed_before),
        problems=tuple(comparison.problems),
        known=sum(1 for record in known.values() if record.version),
    )


def _pair_moves(
    todo: Sequence[Todo], gone: Sequence[DocumentRecord], max_bytes: int
) -> tuple[list[Todo], list[DocumentRecord]]:
    """Documents that came with the bytes of one that went are moved, each of them once."""
    by_hash: dict[str, list[DocumentRecord]] = {}
    for record in sorted(gone, key=lambda record: record.id, reverse=True):
        if record.version:
            by_hash.setdefault(record.source_hash, []).append(record)
    sizes = {record.size for records in by_hash.values() for record in records}
    moved: set[str] = set()
    paired = []
    for item in todo:
        if item.change == "added" and by_hash and _may_be_one_of(item.listed, sizes):
            candidates = by_hash.get(_hash_or_nothing(item, max_bytes))
            if candidates:
                origin = candidates.pop()
                moved.add(origin.id)
                item = replace(item, change="moved", moved_from=origin)
        paired.append(item)
    return paired, [record for record in gone if record.id not in moved]


def _may_be_one_of(listed: Listed, sizes: set[int]) -> bool:
    """True unless sizes tell already that the bytes are none of those; 0 is an unknown size."""
    return not listed.size or 0 in sizes or listed.size in sizes


def _hash_or_nothing(item: Todo, max_bytes: int) -> str:
    try:
        return hash_of(item.source, item.listed, max_bytes)
    except (OSError, MerestoneError):
        # Told of when it is read to be stored.
        return ""


def hash_of(source: Source, listed: Listed, max_bytes: int) -> str:
    """Hash of what a source holds of a document; of what is known of it where it can't be read or
    is too large to be. Raises what passes by: it tells nothing of the document."""
    if listed.fault:
        return hash_of_fault(listed.fault)
    if listed.size > max_bytes:
        return digest("too-large", str(listed.size), str(listed.mtime_ns), listed.stamp)
    try:
        return content_hash(read(source, listed, max_bytes))
    except MerestoneError as error:
        problem = problem_of(listed.id, error)
        if not problem.is_lasting:
            raise
        return hash_of_fault(problem)


def hash_of_fault(problem: Problem) -> str:
    """Stands for the bytes of a document that a source does not hand out."""
    return digest("fault", problem.code, problem.message)


def timestamp() -> str:
    """Now, in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat()
