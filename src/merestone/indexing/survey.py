"""Looking at the sources: what a plan or a sync has to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from merestone.indexing.closing import AccessTally
from merestone.indexing.difference import Difference, Todo, compare
from merestone.indexing.pipeline import Pipeline
from merestone.indexing.preparation import told_with_version
from merestone.indexing.run import Run
from merestone.indexing.setup import Setup
from merestone.indexing.sources import Look, StoredSource, list_sources, scope_of
from merestone.indexing.target import Target
from merestone.indexing.vectors import VectorSupply
from merestone.storage import faults
from merestone.types import (
    DocumentChange,
    DocumentRecord,
    Listing,
    Progress,
    ProgressCallback,
    Scope,
    Snapshot,
    SourceError,
)

_DELETIONS = 0.3
_FEW = 2


def survey(
    setup: Setup,
    paths: Sequence[str | Path],
    pipeline: Pipeline,
    target: Target,
    snapshot: Snapshot | None,
    full_hash: bool,
    progress: ProgressCallback,
) -> Run:
    """Scan the sources and compare them with ``snapshot``, what there is of the target's
    generation."""
    progress(Progress("scan", 0, 0))
    with setup.everything() as answering:
        known = answering.document_ids() if answering else []
        sources = setup.settings.sources
        scope = scope_of(paths, sources, known, Path.cwd()) if paths else Scope()
        served = {
            record.id: record for record in (answering.records(scope.prefixes) if answering else ())
        }
        left_out = answering.left_out() if answering else frozenset()
        records = list(served.values())
        if target.is_making:
            records = list(snapshot.records()) if snapshot else []
        listings = _listings(setup, scope, served, full_hash)

        def difference_to(known: Iterable[DocumentRecord]) -> Difference:
            return compare(
                listings,
                known,
                left_out,
                scope,
                pipeline,
                full_hash=full_hash,
                max_bytes=setup.max_bytes,
            )

        difference = difference_to(records)
        if paths:
            # A few of many are no large deletion.
            difference = replace(difference, known=len(known))
        if target.is_making:
            seen = difference_to(served.values())
            difference = _as_readers_see(difference, seen, served)
        said = answering.said_count() if answering else 0
        removed = [(record, _chunk_count(answering, record.id)) for record in difference.removed]
        problems = [told_with_version(each, answering) for each in difference.problems]
    supply = VectorSupply(setup.embedder, target.identity, setup.cache, pipeline.mode, setup.donor)
    run = Run(difference, supply, progress, target.number, target.is_making, removed)
    run.access = _access_tally(run, records, served, said, len(known))
    _judge(setup, run, records, scope)
    for problem in problems:
        run.problems.append(problem)
        run.outside.append(problem)
        run.changes.append(DocumentChange(problem.document, "failed"))
        run.failed += 1
        run.retry = True
    return run


def _judge(setup: Setup, run: Run, records: Sequence[DocumentRecord], scope: Scope) -> None:
    """Give every document that stays as it is to those whom today's rules name."""
    others = {todo.listed.id for todo in run.difference.todo}
    others |= {record.id for record, _ in run.removed}
    others |= {todo.moved_from.id for todo in run.difference.todo if todo.moved_from}
    touched = {record.id: record for record in run.difference.touched}
    for held in records:
        if held.id in others or not scope.holds(held.id):
            continue
        record = touched.get(held.id, held)
        judged = setup.judged(record)
        if judged.access != record.access:
            run.reclassified.append(judged)
            run.access.judge(judged)
            run.changes.append(DocumentChange(record.id, "access"))


def _access_tally(
    run: Run,
    records: Sequence[DocumentRecord],
    served: Mapping[str, DocumentRecord],
    said: int,
    known: int,
) -> AccessTally:
    """Who may read the documents as they are, without those that are gone. ``said`` of all
    ``known`` ones are stored with a word on that."""
    before = {record.id: record.access for record in served.values() if record.version}
    tally = AccessTally(
        before=before,
        is_anything_said=said > 0,
        elsewhere=known - len(served),
        said_elsewhere=said - sum(1 for record in served.values() if record.access),
    )
    for record in records:
        tally.judge(record)
    for record, _ in run.removed:
        tally.drop(record.id)
    for todo in run.difference.todo:
        if todo.moved_from:
            before[todo.listed.id] = todo.moved_from.access
            tally.drop(todo.moved_from.id)
    return tally


def _listings(
    setup: Setup, scope: Scope, served: Mapping[str, DocumentRecord], full_hash: bool
) -> list[Listing]:
    trusted = () if full_hash else served.values()
    stamps = {record.id: record.stamp for record in trusted if record.stamp}
    held = frozenset(record.id for record in served.values() if record.version)
    if setup.donor:
        return [StoredSource(setup.donor).scan(Look(scope))]
    faults.reach("before-list")
    listings = list_sources(setup.settings.sources, Look(scope, stamps, setup.max_bytes, held))
    faults.reach("after-list")
    return [setup.rest.settle(each) for each in listings] if setup.rest else listings


def guard_deletions(difference: Difference, allowed: bool) -> None:
    """Raise ``SourceError`` if more documents are gone than is likely, unless that is allowed."""
    gone = sum(1 for record in difference.removed if record.version)
    emptied = sum(map(_is_emptied, difference.todo))
    lost = gone + emptied
    if not allowed and lost > _FEW and lost > _DELETIONS * difference.known:
        empty = f", {emptied} of them as empty files" if emptied else ""
        raise SourceError(
            "large-deletion",
            f"{lost} of {difference.known} documents are gone from the sources{empty}.",
            "If that is right, sync with --allow-deletions; nothing was changed.",
        )


def _is_emptied(todo: Todo) -> bool:
    """True of a file that held something and holds nothing now; other sources may not know sizes
    before they read."""
    listed, record = todo.listed, todo.record
    return bool(record and record.version and record.size and listed.mtime_ns and not listed.size)


def _chunk_count(snapshot: Snapshot | None, document: str) -> int:
    return len(snapshot.inputs(document)) if snapshot else 0


def _as_readers_see(
    making: Difference, answering: Difference, served: Mapping[str, DocumentRecord]
) -> Difference:
    """What a generation in the making still lacks, told as what changes for readers once it
    answers: a document that they have is changed, not added; one that was renamed is moved."""
    changes = {todo.listed.id: todo for todo in answering.todo}
    todo = []
    for item in making.todo:
        seen = changes.get(item.listed.id)
        if item.record is None and seen is not None:
            item = replace(item, change=seen.change, moved_from=seen.moved_from)
        elif item.record is None and item.listed.id in served:
            item = replace(item, change="changed")
        todo.append(item)
    return replace(
        making, todo=tuple(todo), removed=_union(making, answering), known=answering.known
    )


def _union(making: Difference, answering: Difference) -> tuple[DocumentRecord, ...]:
    """Documents that are gone from the sources, whichever generation has them."""
    gone = {record.id: record for record in (*making.removed, *answering.removed)}
    return tuple(gone.values())
