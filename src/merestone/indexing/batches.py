"""The documents of a run, a batch at a time: read, cut, embedded, stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from merestone.chunking import render
from merestone.indexing.difference import Todo
from merestone.indexing.pipeline import Pipeline
from merestone.indexing.preparation import Failed, Prepared, edits_of, fail, prepare, still_served
from merestone.indexing.run import Run
from merestone.indexing.setup import Setup
from merestone.indexing.sources import problem_of
from merestone.indexing.takeover import take_over
from merestone.indexing.vectors import Wanted
from merestone.types import (
    Change,
    ChunkRow,
    Delete,
    EmbedderError,
    Put,
    Snapshot,
    Status,
    Touch,
    Vectors,
    Writer,
)

_BATCH_DOCUMENTS = 16
_BATCH_CHUNKS = 256


class Batches:
    """What a run has to read, in batches that are stored each whole or not at all."""

    def __init__(self, setup: Setup, run: Run, pipeline: Pipeline) -> None:
        self._setup = setup
        self._run = run
        self._pipeline = pipeline

    def answering(self, snapshot: Snapshot | None) -> AbstractContextManager[Snapshot | None]:
        """What readers have, where ``snapshot`` is of the run's generation."""
        return self._setup.everything() if self._run.is_making else nullcontext(snapshot)

    def prepare(
        self, todo: Todo, snapshot: Snapshot | None, answering: Snapshot | None
    ) -> Prepared | Failed:
        """Read and cut one document; ``snapshot`` is of the run's generation, ``answering`` what
        readers have."""
        served = answering if self._run.is_making else None
        item = prepare(todo, self._pipeline, snapshot, self._setup.max_bytes, served)
        if isinstance(item, Failed):
            item = still_served(item, answering)
            if self._run.is_making and not item.record.version:
                self._run.retry |= item.first_time or not item.problem.is_lasting
                item = take_over(item, self._pipeline, answering)
        self._run.prepared(item)
        return replace(item, record=self._setup.judged(item.record))

    def __iter__(self) -> Iterator[list[Prepared | Failed]]:
        todo = iter(self._run.difference.todo)
        while batch := self._batch(todo):
            yield batch

    def _batch(self, todo: Iterator[Todo]) -> list[Prepared | Failed]:
        """The next documents, read and cut; empty at the end."""
        batch: list[Prepared | Failed] = []
        chunks = 0
        with (
            self._setup.everything(self._run.generation) as snapshot,
            self.answering(snapshot) as answering,
        ):
            for each in todo:
                item = self.prepare(each, snapshot, answering)
                if self._setup.rest and not self._setup.rest.is_still(each.listed):
                    continue
                batch.append(item)
                chunks += len(item.rows) if isinstance(item, Prepared) else 0
                if len(batch) >= _BATCH_DOCUMENTS or chunks >= _BATCH_CHUNKS:
                    break
        return batch

    def store(self, batch: Sequence[Prepared | Failed], writer: Writer) -> None:
        """Embed what is new, then store the batch in one transaction."""
        changes: list[Change] = []
        try:
            ready = self._embedded(batch)
        except EmbedderError:
            ready = [self._embedded_alone(item) for item in batch]
        with (
            self._setup.everything(self._run.generation) as made,
            self._setup.everything() as answering,
        ):
            if made is not None:
                self._run.supply.keep(_dropped(ready, made), made)
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
            self._run.note(item)
        self._run.tell("stored")

    def _embedded(
        self, batch: Sequence[Prepared | Failed]
    ) -> list[tuple[Prepared | Failed, dict[str, Vectors]]]:
        wanted = wanted_inputs([item for item in batch if isinstance(item, Prepared)])
        with self._setup.everything(self._run.generation) as snapshot:
            held = self._run.supply.held(list(wanted), snapshot)
        # No transaction is open while embedding.
        vectors = self._run.supply.embed(wanted, held, lambda: self._run.tell("embed"))
        return [(item, vectors) for item in batch]

    def _embedded_alone(
        self, item: Prepared | Failed
    ) -> tuple[Prepared | Failed, dict[str, Vectors]]:
        """One document by itself, so that what fails is known and the rest is not lost."""
        try:
            return self._embedded([item])[0]
        except EmbedderError as error:
            problem = replace(problem_of(item.todo.listed.id, error), status=Status.CRASHED)
            hashed = item.document.source_hash if isinstance(item, Prepared) else ""
            with self._setup.everything() as answering:
                failed = still_served(fail(item.todo, self._pipeline, hashed, problem), answering)
            return replace(failed, record=self._setup.judged(failed.record)), {}


def wanted_inputs(items: Sequence[Prepared]) -> dict[str, Wanted]:
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
