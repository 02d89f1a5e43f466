"""What differs between the sources and the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from merestone.indexing.pipeline import Pipeline
from merestone.indexing.sources import Listed, Listing, Scope, unreadable
from merestone.text.hashing import digest
from merestone.types import ChangeKind, DocumentRecord, Problem

_DISTRUST_NS = 2_000_000_000
"""A file written this shortly before it was read may have been written again within the same
tick of its clock: its time proves nothing."""


@dataclass(frozen=True, slots=True)
class Todo:
    """A document to be read, cut and stored."""

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
    problems: list[Problem] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)

    def look_at(self, listed: Listed, record: DocumentRecord | None) -> None:
        """Put one listed document where it belongs."""
        if record is not None and not record.failed_hash and self._is_trusted(listed, record):
            if record.pipeline == self.pipeline.fingerprint(record.media_type):
                self.unchanged += 1
            else:
                self.todo.append(Todo(listed, "changed", record))
            return
        try:
            source_hash = hash_of(listed, self.max_bytes)
        except OSError as error:
            self.problems.append(unreadable(listed.id, error))
            return
        self.hashes[listed.id] = source_hash
        if record is None:
            self.todo.append(Todo(listed, "added", None))
        elif self._is_known_failure(record, source_hash):
            self.unchanged += 1
        elif (
            record.source_hash == source_hash
            and not record.failed_hash
            and record.pipeline == self.pipeline.fingerprint(record.media_type)
        ):
            self.unchanged += 1
            if record.mtime_ns != listed.mtime_ns:
                self.touched.append(
                    replace(record, mtime_ns=listed.mtime_ns, indexed_at=timestamp())
                )
        else:
            self.todo.append(Todo(listed, "changed" if record.version else "added", record))

    def _is_trusted(self, listed: Listed, record: DocumentRecord) -> bool:
        if self.full_hash or not record.indexed_at:
            return False
        if (record.mtime_ns, record.size) != (listed.mtime_ns, listed.size):
            return False
        read_ns = int(datetime.fromisoformat(record.indexed_at).timestamp() * 1e9)
        return listed.mtime_ns + _DISTRUST_NS < read_ns

    def _is_known_failure(self, record: DocumentRecord, source_hash: str) -> bool:
        if record.problem is None or not record.problem.is_lasting:
            return False
        return record.failed_hash == self.pipeline.failure_key(source_hash)


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
        comparison.problems.extend(p for p in listing.problems if scope.holds(p.document))
        # A file that could not even be looked at is not gone.
        listed_ids.update(problem.document for problem in listing.problems)
        for listed in listing.documents:
            listed_ids.add(listed.id)
            is_out = listed.id in left_out and not scope.names(listed.id)
            if scope.holds(listed.id) and not is_out:
                comparison.look_at(listed, known.get(listed.id))
    hidden = Scope(tuple(unlisted))
    gone = [
        record
        for record in known.values()
        if record.id not in listed_ids
        and scope.holds(record.id)
        and not (unlisted and hidden.holds(record.id))
    ]
    todo, gone = _pair_moves(comparison.todo, gone, comparison.hashes)
    return Difference(
        todo=tuple(todo),
        removed=tuple(gone),
        touched=tuple(comparison.touched),
        unchanged=comparison.unchanged,
        problems=tuple(comparison.problems),
        known=sum(1 for record in known.values() if record.version),
    )


def _pair_moves(
    todo: Sequence[Todo], gone: Sequence[DocumentRecord], hashes: dict[str, str]
) -> tuple[list[Todo], list[DocumentRecord]]:
    """Documents that came with the bytes of one that went are moved, each of them once."""
    by_hash: dict[str, list[DocumentRecord]] = {}
    for record in sorted(gone, key=lambda record: record.id, reverse=True):
        if record.version:
            by_hash.setdefault(record.source_hash, []).append(record)
    moved: set[str] = set()
    paired = []
    for item in todo:
        candidates = by_hash.get(hashes.get(item.listed.id, ""))
        if item.change == "added" and candidates:
            origin = candidates.pop()
            moved.add(origin.id)
            item = replace(item, change="moved", moved_from=origin)
        paired.append(item)
    return paired, [record for record in gone if record.id not in moved]


def hash_of(listed: Listed, max_bytes: int) -> str:
    """Hash of a file's bytes; of its size and time where it is too large to be read."""
    if listed.size > max_bytes:
        return digest("too-large", str(listed.size), str(listed.mtime_ns))
    return digest(Path(listed.path).read_bytes())


def timestamp() -> str:
    """Now, in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat()
