"""Bringing a library up to date with its sources: plan, then apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from merestone.chunking import render
from merestone.embedding.cache import EmbeddingCache
from merestone.indexing.difference import Difference, Todo, compare
from merestone.indexing.pipeline import Pipeline, open_pipeline
from merestone.indexing.preparation import (
    Failed,
    Prepared,
    edits_of,
    fail,
    prepare,
)
from merestone.indexing.resting import Rest
from merestone.indexing.run import Run
from merestone.indexing.sources import (
    Look,
    StoredSource,
    list_sources,
    problem_of,
    scope_of,
)
from merestone.indexing.takeover import take_over
from merestone.indexing.target import Target, target_of
from merestone.indexing.vectors import EmbedderChangedError, Tally, VectorSupply, Wanted
from merestone.storage import faults
from merestone.text.hashing import digest
from merestone.types import (
    OWNER,
    AccessPolicy,
    Change,
    ChunkRow,
    Delete,
    DocumentChange,
    DocumentRecord,
    Embedder,
    EmbedderError,
    EmbedderIdentity,
    LibrarySettings,
    Listing,
    Progress,
    ProgressCallback,
    Put,
    Scope,
    Snapshot,
    SourceError,
    Status,
    Store,
    SyncReport,
    Touch,
    Vectors,
    Writer,
)

_BATCH_DOCUMENTS = 16
_BATCH_CHUNKS = 256
_DELETIONS = 0.3
_FEW = 2


class Indexer:
    """Plans and carries out the changes of one library."""

    def __init__(
        self,
        settings: LibrarySettings,
        store: Store,
        embedder: Embedder,
        cache: EmbeddingCache,
        policy: AccessPolicy,
        rest: Rest | None = None,
        donor: Snapshot | None = None,
    ) -> None:
        """``rest`` keeps files out that are still being written, in watch mode. ``donor`` is a
        state of another library, whose documents are taken in the place of the sources'."""
        self._settings = settings
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._policy = policy
        self._rest = rest
        self._donor = donor

    def plan(
        self,
        paths: Sequence[str | Path] = (),
        *,
        full_hash: bool = False,
        allow_deletions: bool = True,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """What a sync would do. Documents are read and cut; nothing is embedded or stored.

        Without ``allow_deletions`` it refuses what :meth:`sync` would refuse.
        """
        target = self._target(paths)
        with self._pipeline() as pipeline, self._made(target) as snapshot:
            run = self._start(paths, pipeline, target, snapshot, full_hash, progress)
            self._guard(run.difference, allow_deletions)
            supply = run.supply
            seen: set[str] = set()
            for todo in run.difference.todo:
                item = self._prepare(todo, pipeline, snapshot, run)
                if isinstance(item, Prepared):
                    wanted = {
                        value: part for value, part in _wanted([item]).items() if value not in seen
                    }
                    seen.update(wanted)
                    held = supply.held(list(wanted), snapshot)
                    supply.tally.cached += len(held)
                    supply.tally.embedded += len(wanted) - len(held)
                    supply.tally.tokens += sum(
                        part.tokens for value, part in wanted.items() if value not in held
                    )
                run.note(item)
            for record, chunks in run.removed:
                run.remove(record, chunks)
            return run.report(self._library_version())

    def sync(
        self,
        paths: Sequence[str | Path] = (),
        *,
        full_hash: bool = False,
        allow_deletions: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """Make the library equal to a fresh build of its sources, with the least work.

        Documents are stored in batches, each whole or not at all. A document that fails keeps its
        old version; the others go on. Raises ``SourceError`` with code ``large-deletion`` where
        more than 30 % of the documents (and more than two) would go, unless allowed.

        Another embedder than the one that the library was built with makes a new generation of
        everything beside the old one, which answers until the new one is whole. Interrupted, the
        next sync goes on with it.
        """
        target = self._target(paths)
        try:
            return self._sync(target, paths, full_hash, allow_deletions, progress)
        except EmbedderChangedError as changed:
            # It calls itself what it was; its vectors do not fit the stored ones.
            mark = digest(changed.canary)[:8]
            identity = target.identity.marked(changed.canary, mark)
            target = self._target(paths, identity)
            return self._sync(target, paths, full_hash, allow_deletions, progress)

    def _sync(
        self,
        target: Target,
        paths: Sequence[str | Path],
        full_hash: bool,
        allow_deletions: bool,
        progress: ProgressCallback,
    ) -> SyncReport:
        writing = self._store.writer(target.identity, rebuild=not paths)
        with self._pipeline() as pipeline, writing as writer:
            target = replace(target, number=writer.generation.number)
            with self._snapshot(target.number) as snapshot:
                run = self._start(paths, pipeline, target, snapshot, full_hash, progress)
            self._guard(run.difference, allow_deletions)
            self._doubt_rules(writer)
            for batch in self._batches(run, pipeline):
                self._store_batch(batch, writer, run, pipeline)
            self._finish(writer, run, is_whole=not paths, allow_losses=allow_deletions)
        report = run.report(self._library_version())
        if run.changes or run.notes:
            summary = _summary(report, run.supply.tally)
            self._store.journal("sync", {**summary, "embedder": target.identity.base})
        return report

    def _doubt_rules(self, writer: Writer) -> None:
        """Say that documents are about to be judged by other rules than the rest. A run of a part,
        or one that is interrupted, leaves both; should the former rules come back, what it has
        opened must not pass for judged by them."""
        with self._snapshot(None) as answering:
            judged_by = answering.access_rules() if answering else None
        if judged_by not in (None, self._policy.fingerprint):
            writer.note_access_rules(None)

    def _finish(self, writer: Writer, run: Run, *, is_whole: bool, allow_losses: bool) -> None:
        """What comes after the documents: removals, the flip, housekeeping."""
        final: list[Change] = [Touch(record) for record in run.difference.touched]
        final += [Touch(record) for record in run.reclassified]
        for record, chunks in run.removed:
            run.remove(record, chunks)
            final.append(Delete(record.id))
        if final:
            writer.apply(final)
        if run.supply.canary and not run.supply.identity.canary:
            writer.note_canary(run.supply.canary)
        is_answering = not run.is_making or self._flip(writer, run, allow_losses)
        if is_whole and is_answering:
            writer.note_access_rules(self._policy.fingerprint)
            writer.drop_others()
        if run.changes:
            writer.maintain()
        writer.refresh_index()

    def _flip(self, writer: Writer, run: Run, allow_losses: bool) -> bool:
        """Let the new generation answer, unless that would lose a document."""
        with self._snapshot(writer.generation.number) as made, self._snapshot(None) as old:
            built = {record.id for record in made.records() if record.version} if made else set()
            gone = {record.id for record, _ in run.removed}
            gone |= {todo.moved_from.id for todo in run.difference.todo if todo.moved_from}
            held = [record.id for record in old.records() if record.version] if old else []
        lost = [document for document in held if document not in built | gone]
        if lost and not allow_losses:
            run.retry = True
            run.notes.append(
                f"{len(lost)} documents could not be taken over to the new embedder, such as "
                f"{lost[0]}; the old one goes on answering. Sync again, or sync with "
                "--allow-deletions to do without them."
            )
            return False
        writer.flip()
        return True

    def remove(self, documents: Sequence[str]) -> None:
        """Drop documents, and leave them out until a sync names them."""
        with self._store.writer(self._identity_of_library()) as writer:
            writer.apply([Delete(document, leave_out=True) for document in documents])
        self._store.journal("remove", {"documents": list(documents)})

    def tidy(self, *, purge: bool) -> None:
        """Drop generations that no longer answer, and merge what is small.

        ``purge`` leaves no byte of what was deleted: not in the library, nor in its log, nor in
        the cache of vectors, which then holds those of the library alone.
        """
        with self._store.writer(self._identity_of_library()) as writer:
            writer.drop_others()
            writer.maintain()
            if purge:
                with self._store.snapshot(OWNER) as snapshot:
                    fingerprint = snapshot.generation.embedder.fingerprint
                    hashes = [value for _, _, value in snapshot.numbers()]
                self._cache.keep_only(fingerprint, hashes)
                writer.purge()
            writer.refresh_index()

    def _target(
        self, paths: Sequence[str | Path], identity: EmbedderIdentity | None = None
    ) -> Target:
        with self._snapshot(None) as snapshot:
            return target_of(snapshot, self._embedder, self._settings.embedding, paths, identity)

    def _identity_of_library(self) -> EmbedderIdentity:
        with self._store.snapshot(OWNER) as snapshot:
            return snapshot.generation.embedder

    def _library_version(self) -> int:
        with self._snapshot(None) as snapshot:
            return snapshot.library_version if snapshot else 0

    def _pipeline(self) -> AbstractContextManager[Pipeline]:
        return open_pipeline(self._settings, self._embedder)

    @contextmanager
    def _snapshot(self, generation: int | None) -> Iterator[Snapshot | None]:
        """Everything of a generation, or of the one that answers; ``None`` without a library."""
        if not self._store.exists():
            yield None
            return
        with self._store.snapshot(OWNER, generation=generation) as snapshot:
            yield snapshot

    def _made(self, target: Target) -> AbstractContextManager[Snapshot | None]:
        """What there is of the generation that a run is about."""
        if target.is_making and target.number is None:
            return nullcontext()
        return self._snapshot(target.number)

    def _start(
        self,
        paths: Sequence[str | Path],
        pipeline: Pipeline,
        target: Target,
        snapshot: Snapshot | None,
        full_hash: bool,
        progress: ProgressCallback,
    ) -> Run:
        """Scan the sources and compare."""
        progress(Progress("scan", 0, 0))
        with self._snapshot(None) as answering:
            known = answering.document_ids() if answering else []
            sources = self._settings.sources
            scope = scope_of(paths, sources, known, Path.cwd()) if paths else Scope()
            served = {
                record.id: record
                for record in (answering.records(scope.prefixes) if answering else ())
            }
            left_out = answering.left_out() if answering else frozenset()
            records = list(served.values())
            if target.is_making:
                records = list(snapshot.records()) if snapshot else []
            listings = self._listings(scope, {} if full_hash else served)

            def difference_to(known: Iterable[DocumentRecord]) -> Difference:
                return compare(
                    listings,
                    known,
                    left_out,
                    scope,
                    pipeline,
                    full_hash=full_hash,
                    max_bytes=self._settings.extraction.max_document_bytes,
                )

            difference = difference_to(records)
            if paths:
                # A few of many are no large deletion.
                difference = replace(difference, known=len(known))
            if target.is_making:
                seen = difference_to(served.values())
                difference = _as_readers_see(difference, seen, served)
            removed = [
                (record, _chunk_count(answering, record.id)) for record in difference.removed
            ]
        supply = VectorSupply(
            self._embedder, target.identity, self._cache, pipeline.mode, self._donor
        )
        run = Run(difference, supply, progress, target.number, target.is_making, removed)
        self._judge(run, records, scope)
        for problem in difference.problems:
            run.problems.append(problem)
            run.changes.append(DocumentChange(problem.document, "failed"))
            run.failed += 1
            run.retry = True
        return run

    def _judge(self, run: Run, records: Sequence[DocumentRecord], scope: Scope) -> None:
        """Give every document that stays as it is to those whom today's rules name."""
        others = {todo.listed.id for todo in run.difference.todo}
        others |= {record.id for record, _ in run.removed}
        others |= {todo.moved_from.id for todo in run.difference.todo if todo.moved_from}
        touched = {record.id: record for record in run.difference.touched}
        for held in records:
            if held.id in others or not scope.holds(held.id):
                continue
            record = touched.get(held.id, held)
            judged = self._judged(record)
            if judged.access != record.access:
                run.reclassified.append(judged)
                run.changes.append(DocumentChange(record.id, "access"))

    def _judged(self, record: DocumentRecord) -> DocumentRecord:
        allow = self._policy.allow(record.id, record.metadata)
        return record if allow == record.access else replace(record, access=allow)

    def _listings(self, scope: Scope, known: Mapping[str, DocumentRecord]) -> list[Listing]:
        stamps = {record.id: record.stamp for record in known.values() if record.stamp}
        max_bytes = self._settings.extraction.max_document_bytes
        if self._donor:
            return [StoredSource(self._donor).scan(Look(scope))]
        faults.reach("before-list")
        listings = list_sources(self._settings.sources, Look(scope, stamps, max_bytes))
        faults.reach("after-list")
        return [self._rest.settle(each) for each in listings] if self._rest else listings

    def _guard(self, difference: Difference, allowed: bool) -> None:
        gone = sum(1 for record in difference.removed if record.version)
        if not allowed and gone > _FEW and gone > _DELETIONS * difference.known:
            raise SourceError(
                "large-deletion",
                f"{gone} of {difference.known} documents are gone from the sources.",
                "If that is right, sync with --allow-deletions; nothing was changed.",
            )

    def _prepare(
        self, todo: Todo, pipeline: Pipeline, snapshot: Snapshot | None, run: Run
    ) -> Prepared | Failed:
        item = prepare(todo, pipeline, snapshot, self._settings.extraction.max_document_bytes)
        if isinstance(item, Failed) and run.is_making and not item.record.version:
            run.retry |= item.first_time or not item.problem.is_lasting
            with self._snapshot(None) as answering:
                item = take_over(item, pipeline, answering)
        run.tell("read", todo.listed.id)
        return replace(item, record=self._judged(item.record))

    def _batches(self, run: Run, pipeline: Pipeline) -> Iterator[list[Prepared | Failed]]:
        todo = iter(run.difference.todo)
        while batch := self._batch(todo, run, pipeline):
            yield batch

    def _batch(self, todo: Iterator[Todo], run: Run, pipeline: Pipeline) -> list[Prepared | Failed]:
        """The next documents, read and cut; empty at the end."""
        batch: list[Prepared | Failed] = []
        chunks = 0
        with self._snapshot(run.generation) as snapshot:
            for each in todo:
                item = self._prepare(each, pipeline, snapshot, run)
                if self._rest and not self._rest.is_still(each.listed):
                    continue
                batch.append(item)
                chunks += len(item.rows) if isinstance(item, Prepared) else 0
                if len(batch) >= _BATCH_DOCUMENTS or chunks >= _BATCH_CHUNKS:
                    break
        return batch

    def _store_batch(
        self,
        batch: list[Prepared | Failed],
        writer: Writer,
        run: Run,
        pipeline: Pipeline,
    ) -> None:
        """Embed what is new, then store the batch in one transaction."""
        changes: list[Change] = []
        try:
            ready = self._embedded(batch, run)
        except EmbedderError:
            ready = [self._embedded_alone(item, run, pipeline) for item in batch]
        with self._snapshot(run.generation) as made, self._snapshot(None) as answering:
            if made is not None:
                run.supply.keep(_dropped(ready, made), made)
            for item, vectors in ready:
                if isinstance(item, Failed):
                    # Renamed or not, what the library holds of it stays.
                    changes.append(Touch(item.record))
                    continue
                if item.todo.moved_from:
                    changes.append(Delete(item.todo.moved_from.id))
                put = _put(item, vectors)
                changes.append(replace(put, edits=edits_of(item, made, answering)))
        writer.apply(changes)
        for item, _ in ready:
            run.note(item)
        run.tell("stored")

    def _embedded(
        self, batch: Sequence[Prepared | Failed], run: Run
    ) -> list[tuple[Prepared | Failed, dict[str, Vectors]]]:
        wanted = _wanted([item for item in batch if isinstance(item, Prepared)])
        with self._snapshot(run.generation) as snapshot:
            held = run.supply.held(list(wanted), snapshot)
        # No transaction is open while embedding.
        vectors = run.supply.embed(wanted, held, lambda: run.tell("embed"))
        return [(item, vectors) for item in batch]

    def _embedded_alone(
        self, item: Prepared | Failed, run: Run, pipeline: Pipeline
    ) -> tuple[Prepared | Failed, dict[str, Vectors]]:
        """One document by itself, so that what fails is known and the rest is not lost."""
        try:
            return self._embedded([item], run)[0]
        except EmbedderError as error:
            problem = replace(problem_of(item.todo.listed.id, error), status=Status.CRASHED)
            hashed = item.document.source_hash if isinstance(item, Prepared) else ""
            failed = fail(item.todo, pipeline, hashed, problem)
            return replace(failed, record=self._judged(failed.record)), {}


def _wanted(items: Sequence[Prepared]) -> dict[str, Wanted]:
    """Distinct embedder inputs of the items' new chunks, by hash."""
    found: dict[str, Wanted] = {}
    for item in items:
        for row in item.rows:
            if row.chunk.id in item.new and row.input_hash not in found:
                chunk = row.chunk
                found[row.input_hash] = Wanted(
                    row.input_hash,
                    render(chunk),
                    chunk.tokens,
                    item.document.text,
                    (chunk.start, chunk.end),
                )
    return found


def _put(item: Prepared, vectors: dict[str, Vectors]) -> Put:
    rows: list[ChunkRow] = []
    for row in item.rows:
        is_new = row.chunk.id in item.new
        rows.append(replace(row, vector=vectors[row.input_hash]) if is_new else row)
    return Put(item.record, item.document, tuple(rows))


def _dropped(items: Iterable[tuple[Prepared | Failed, object]], snapshot: Snapshot) -> set[str]:
    """Hashes of inputs that stored documents had and will not have: another document of a later
    batch may be about to need their vectors, as when two exchange their names."""
    found: set[str] = set()
    for item, _ in items:
        if isinstance(item, Prepared):
            origin = item.todo.moved_from
            for document in (item.record.id, *([origin.id] if origin else ())):
                found.update(snapshot.inputs(document).values())
            found.difference_update(row.input_hash for row in item.rows)
    return found


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


def _summary(report: SyncReport, tally: Tally) -> dict[str, object]:
    answer = report.to_json()
    del answer["changes"]
    return {**answer, "seconds": round(tally.seconds, 3)}
