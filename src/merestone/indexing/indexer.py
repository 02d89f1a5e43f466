"""Bringing a library up to date with its sources: plan, then apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from merestone.chunking import render
from merestone.embedding.cache import EmbeddingCache
from merestone.indexing.difference import Difference, Todo, compare
from merestone.indexing.pipeline import Pipeline, open_pipeline
from merestone.indexing.preparation import Failed, Prepared, fail, prepare, problem_of
from merestone.indexing.sources import Listing, Scope, list_folder, scope_of
from merestone.indexing.vectors import VectorSupply, Wanted
from merestone.types import (
    Change,
    ChunkRow,
    Counts,
    Delete,
    DocumentChange,
    DocumentRecord,
    Embedder,
    EmbedderError,
    LibrarySettings,
    Problem,
    Progress,
    ProgressCallback,
    Put,
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


@dataclass(slots=True)
class _Run:
    """What one plan or sync has found and done so far."""

    difference: Difference
    supply: VectorSupply
    progress: ProgressCallback
    counts: Counts = field(default_factory=Counts)
    changes: list[DocumentChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    failed: int = 0
    retry: bool = False
    done: int = 0
    """Documents that are through: stored, or in a plan, looked at."""
    chunks: int = 0

    def tell(self, stage: str, item: str = "") -> None:
        total = len(self.difference.todo)
        tokens = self.supply.tally.tokens
        self.progress(Progress(stage, self.done, total, self.chunks, tokens, item))

    def note(self, item: Prepared | Failed) -> None:
        """Count a document as what became of it."""
        self.done += 1
        self.chunks += len(item.rows) if isinstance(item, Prepared) else 0
        if isinstance(item, Failed):
            self.failed += 1
            self.problems.append(item.problem)
            self.retry |= item.first_time or not item.problem.is_lasting
            self.changes.append(DocumentChange(item.todo.listed.id, "failed"))
            return
        if item.record.problem:
            self.problems.append(item.record.problem)
        origin = item.todo.moved_from.id if item.todo.moved_from else None
        self.counts += item.counts
        self.changes.append(DocumentChange(item.record.id, item.todo.change, origin, item.counts))

    def remove(self, record: DocumentRecord, chunks: int) -> None:
        """Count a document that is gone."""
        counts = Counts(removed=chunks)
        self.counts += counts
        if record.version:
            self.changes.append(DocumentChange(record.id, "removed", None, counts))

    def report(self, library_version: int) -> SyncReport:
        """The answer."""
        kinds = ("added", "changed", "moved", "access", "removed")
        documents = {
            kind: sum(1 for change in self.changes if change.change == kind) for kind in kinds
        }
        documents["unchanged"] = self.difference.unchanged
        documents["failed"] = self.failed
        return SyncReport(
            documents=documents,
            chunks=self.counts,
            embedded=self.supply.tally.embedded,
            cached=self.supply.tally.cached,
            tokens=self.supply.tally.tokens,
            library_version=library_version,
            changes=tuple(self.changes),
            problems=tuple(self.problems),
            retry=self.retry,
        )


class Indexer:
    """Plans and carries out the changes of one library."""

    def __init__(
        self, settings: LibrarySettings, store: Store, embedder: Embedder, cache: EmbeddingCache
    ) -> None:
        self._settings = settings
        self._store = store
        self._embedder = embedder
        self._cache = cache

    def plan(
        self,
        paths: Sequence[str | Path] = (),
        *,
        full_hash: bool = False,
        progress: ProgressCallback = lambda _: None,
    ) -> SyncReport:
        """What a sync would do. Documents are read and cut; nothing is embedded or stored."""
        with self._pipeline() as pipeline, self._snapshot() as snapshot:
            run = self._start(paths, pipeline, snapshot, full_hash, progress)
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
            for record in run.difference.removed:
                run.remove(record, _chunk_count(snapshot, record.id))
            return run.report(snapshot.library_version if snapshot else 0)

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
        """
        with self._pipeline() as pipeline, self._writer() as writer:
            with self._snapshot() as snapshot:
                run = self._start(paths, pipeline, snapshot, full_hash, progress)
                removed = [
                    (record, _chunk_count(snapshot, record.id)) for record in run.difference.removed
                ]
            self._guard(run.difference, allow_deletions)
            for batch in self._batches(run, pipeline):
                self._store_batch(batch, writer, run, pipeline)
            final: list[Change] = [Touch(record) for record in run.difference.touched]
            for record, chunks in removed:
                run.remove(record, chunks)
                final.append(Delete(record.id))
            if final:
                writer.apply(final)
            if run.changes:
                writer.maintain()
        with self._snapshot() as snapshot:
            report = run.report(snapshot.library_version if snapshot else 0)
        if run.changes:
            self._store.journal("sync", _summary(report))
        return report

    def remove(self, documents: Sequence[str]) -> None:
        """Drop documents, and leave them out until a sync names them."""
        with self._writer() as writer:
            writer.apply([Delete(document, leave_out=True) for document in documents])
        self._store.journal("remove", {"documents": list(documents)})

    def _writer(self) -> AbstractContextManager[Writer]:
        return self._store.writer(
            embedder=self._embedder.fingerprint,
            embedder_name=self._embedder.name,
            dimension=self._embedder.dimension,
        )

    def _pipeline(self) -> AbstractContextManager[Pipeline]:
        return open_pipeline(self._settings, self._embedder)

    @contextmanager
    def _snapshot(self) -> Iterator[Snapshot | None]:
        if not self._store.exists():
            yield None
            return
        with self._store.snapshot() as snapshot:
            yield snapshot

    def _start(
        self,
        paths: Sequence[str | Path],
        pipeline: Pipeline,
        snapshot: Snapshot | None,
        full_hash: bool,
        progress: ProgressCallback,
    ) -> _Run:
        """Scan the sources and compare."""
        progress(Progress("scan", 0, 0))
        records = list(snapshot.records()) if snapshot else []
        settings = self._settings
        base = Path.cwd()
        scope = (
            scope_of(paths, settings.sources, (record.id for record in records), base)
            if paths
            else Scope()
        )
        difference = compare(
            self._listings(),
            records,
            snapshot.left_out() if snapshot else frozenset(),
            scope,
            pipeline,
            full_hash=full_hash,
            max_bytes=settings.extraction.max_document_bytes,
        )
        run = _Run(difference, VectorSupply(self._embedder, self._cache), progress)
        for problem in difference.problems:
            run.problems.append(problem)
            run.changes.append(DocumentChange(problem.document, "failed"))
            run.failed += 1
            run.retry = True
        return run

    def _listings(self) -> list[Listing]:
        return [list_folder(source) for source in self._settings.sources]

    def _guard(self, difference: Difference, allowed: bool) -> None:
        gone = sum(1 for record in difference.removed if record.version)
        if not allowed and gone > _FEW and gone > _DELETIONS * difference.known:
            raise SourceError(
                "large-deletion",
                f"{gone} of {difference.known} documents are gone from the sources.",
                "If that is right, sync with --allow-deletions; nothing was changed.",
            )

    def _prepare(
        self, todo: Todo, pipeline: Pipeline, snapshot: Snapshot | None, run: _Run
    ) -> Prepared | Failed:
        item = prepare(todo, pipeline, snapshot, self._settings.extraction.max_document_bytes)
        run.tell("read", todo.listed.id)
        return item

    def _batches(self, run: _Run, pipeline: Pipeline) -> Iterator[list[Prepared | Failed]]:
        batch: list[Prepared | Failed] = []
        chunks = 0
        for todo in run.difference.todo:
            with self._snapshot() as snapshot:
                item = self._prepare(todo, pipeline, snapshot, run)
            batch.append(item)
            chunks += len(item.rows) if isinstance(item, Prepared) else 0
            if len(batch) >= _BATCH_DOCUMENTS or chunks >= _BATCH_CHUNKS:
                yield batch
                batch, chunks = [], 0
        if batch:
            yield batch

    def _store_batch(
        self,
        batch: list[Prepared | Failed],
        writer: Writer,
        run: _Run,
        pipeline: Pipeline,
    ) -> None:
        """Embed what is new, then store the batch in one transaction."""
        changes: list[Change] = []
        try:
            ready = self._embedded(batch, run)
        except EmbedderError:
            ready = [self._embedded_alone(item, run, pipeline) for item in batch]
        for item, vectors in ready:
            if item.todo.moved_from:
                changes.append(Delete(item.todo.moved_from.id))
            changes.append(_change(item, vectors))
        writer.apply(changes)
        for item, _ in ready:
            run.note(item)
        run.tell("stored")

    def _embedded(
        self, batch: Sequence[Prepared | Failed], run: _Run
    ) -> list[tuple[Prepared | Failed, dict[str, Vectors]]]:
        wanted = _wanted([item for item in batch if isinstance(item, Prepared)])
        with self._snapshot() as snapshot:
            held = run.supply.held(list(wanted), snapshot)
        # No transaction is open while embedding.
        vectors = run.supply.embed(wanted, held, lambda: run.tell("embed"))
        return [(item, vectors) for item in batch]

    def _embedded_alone(
        self, item: Prepared | Failed, run: _Run, pipeline: Pipeline
    ) -> tuple[Prepared | Failed, dict[str, Vectors]]:
        """One document by itself, so that what fails is known and the rest is not lost."""
        try:
            return self._embedded([item], run)[0]
        except EmbedderError as error:
            problem = replace(problem_of(item.todo.listed.id, error), status=Status.CRASHED)
            hashed = item.document.source_hash if isinstance(item, Prepared) else ""
            return fail(item.todo, pipeline, hashed, problem), {}


def _wanted(items: Sequence[Prepared]) -> dict[str, Wanted]:
    """Distinct embedder inputs of the items' new chunks, by hash."""
    found: dict[str, Wanted] = {}
    for item in items:
        for row in item.rows:
            if row.chunk.id in item.new and row.input_hash not in found:
                found[row.input_hash] = Wanted(row.input_hash, render(row.chunk), row.chunk.tokens)
    return found


def _change(item: Prepared | Failed, vectors: dict[str, Vectors]) -> Change:
    if isinstance(item, Failed):
        return Touch(item.record)
    rows: list[ChunkRow] = []
    for row in item.rows:
        is_new = row.chunk.id in item.new
        rows.append(replace(row, vector=vectors[row.input_hash]) if is_new else row)
    return Put(item.record, item.document, tuple(rows))


def _chunk_count(snapshot: Snapshot | None, document: str) -> int:
    return len(snapshot.inputs(document)) if snapshot else 0


def _summary(report: SyncReport) -> dict[str, object]:
    answer = report.to_json()
    del answer["changes"]
    return answer
