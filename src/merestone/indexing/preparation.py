"""Reading one document and comparing its chunks with those that are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from merestone.extraction import detect_media_type
from merestone.indexing.difference import Todo, failed_on, hash_of, hash_of_fault, timestamp
from merestone.indexing.pipeline import Pipeline
from merestone.indexing.principals import unreadable_access
from merestone.indexing.sources import (
    StoredSource,
    content_hash,
    problem_of,
    read,
    too_large,
    unreadable,
)
from merestone.storage import faults
from merestone.text.anchoring import edits_between
from merestone.types import (
    ChangeReason,
    ChunkRow,
    Counts,
    Document,
    DocumentRecord,
    ExtractionError,
    Listed,
    Problem,
    RawDocument,
    SharedRun,
    Snapshot,
    SourceError,
    Status,
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that is read and cut; its new chunks still lack their vectors."""

    todo: Todo
    document: Document
    record: DocumentRecord
    rows: tuple[ChunkRow, ...]
    new: frozenset[str]
    """Ids of the chunks whose vectors the library must be given."""
    counts: Counts
    """Against what readers have of it."""
    reason: ChangeReason | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A document that could not be read; what the library holds of it stays."""

    todo: Todo
    record: DocumentRecord
    problem: Problem
    first_time: bool


def prepare(
    todo: Todo,
    pipeline: Pipeline,
    snapshot: Snapshot | None,
    max_bytes: int,
    answering: Snapshot | None = None,
) -> Prepared | Failed:
    """Read, cut and compare one document. ``answering`` is what readers have where ``snapshot``
    is of a generation in the making."""
    listed = todo.listed
    source_hash = ""
    try:
        if listed.fault or listed.size > max_bytes:
            source_hash = hash_of(todo.source, listed, max_bytes)
            problem = listed.fault or problem_of(
                listed.id, too_large(listed.id, max_bytes, listed.size)
            )
            return fail(todo, pipeline, source_hash, problem)
        faults.reach("before-read")
        raw = read(todo.source, listed, max_bytes)
        source_hash = content_hash(raw)
        if isinstance(todo.source, StoredSource):
            document = todo.source.document(listed.id)
        else:
            document = pipeline.read(_typed(raw, listed))
        document = replace(document, source_hash=source_hash)
        faults.reach("after-read")
        cutting = pipeline.cut(document)
        faults.reach("after-cut")
    except OSError as error:
        return fail(todo, pipeline, source_hash, unreadable(listed.id, error))
    except (ExtractionError, SourceError) as error:
        problem = problem_of(listed.id, error)
        return fail(todo, pipeline, source_hash or hash_of_fault(problem), problem)
    rows = pipeline.rows(document, cutting)
    stored = snapshot.inputs(listed.id) if snapshot else {}
    origin = todo.moved_from
    served = answering or snapshot
    left_behind = len(served.inputs(origin.id)) if served and origin else 0
    return Prepared(
        todo=todo,
        document=document,
        record=_record(todo, document, pipeline),
        rows=rows,
        new=frozenset(row.chunk.id for row in rows if stored.get(row.chunk.id) != row.input_hash),
        counts=counts_of(rows, served.inputs(listed.id) if served else {})
        + Counts(removed=left_behind),
        reason=_reason(todo, document, served, is_making=answering is not None),
    )


def _reason(
    todo: Todo, document: Document, served: Snapshot | None, *, is_making: bool
) -> ChangeReason | None:
    held = served.record(document.id) if served and todo.change == "changed" else None
    if held is None:
        return None
    if held.source_hash != document.source_hash:
        return "text"
    if is_making:
        return "embedder"
    return "cutting" if held.version == document.version else "reading"


def still_served(failed: Failed, answering: Snapshot | None) -> Failed:
    """A failure that says which version goes on answering, if there is one."""
    problem = told_with_version(failed.problem, answering)
    return replace(failed, problem=problem, record=replace(failed.record, problem=problem))


def told_with_version(problem: Problem, answering: Snapshot | None) -> Problem:
    """``problem`` with the day of the version that is served nevertheless, if there is one."""
    record = answering.record(problem.document) if answering else None
    if answering is None or record is None or not record.version:
        return problem
    times = [entry.time for entry in answering.history(record.id) if entry.version]
    of_day = f" of {times[-1][:10]}" if times else ""
    message = f"{problem.message} Its version{of_day} is still served."
    return replace(problem, message=message)


def edits_of(item: Prepared, *snapshots: Snapshot | None) -> tuple[SharedRun, ...]:
    """What a document has in common with the text that it replaces: that of the first of
    ``snapshots`` which holds any."""
    origin = item.todo.moved_from
    document = origin.id if origin else item.record.id
    for snapshot in snapshots:
        text = snapshot.text(document) if snapshot else None
        if text:
            return edits_between(text, item.document.text)
    return ()


def fail(todo: Todo, pipeline: Pipeline, source_hash: str, problem: Problem) -> Failed:
    """The record of a document that could not be brought up to date."""
    key = pipeline.failure_key(failed_on(todo.listed, source_hash))
    held = todo.record or DocumentRecord(id=todo.listed.id)
    record = replace(
        held,
        uri=todo.source.uri_of(todo.listed),
        mtime_ns=todo.listed.mtime_ns,
        size=todo.listed.size,
        stamp=todo.listed.stamp,
        indexed_at=timestamp(),
        status=held.status if held.version else problem.status,
        problem=problem,
        failed_hash=key,
    )
    return Failed(todo, record, problem, first_time=held.failed_hash != key)


def _typed(raw: RawDocument, listed: Listed) -> RawDocument:
    """The document with a media type, by its name and bytes where the source says none."""
    if raw.media_type is not None:
        return raw
    return replace(raw, media_type=detect_media_type(listed.location, raw.data))


def _record(todo: Todo, document: Document, pipeline: Pipeline) -> DocumentRecord:
    moved_from = todo.moved_from.id if todo.moved_from else None
    if moved_from is None and todo.record is not None:
        moved_from = todo.record.moved_from
    return DocumentRecord(
        id=document.id,
        version=document.version,
        uri=document.uri,
        source_hash=document.source_hash,
        pipeline=pipeline.fingerprint(document.media_type),
        mtime_ns=todo.listed.mtime_ns,
        size=todo.listed.size,
        stamp=todo.listed.stamp,
        indexed_at=timestamp(),
        title=document.title,
        language=document.language,
        media_type=document.media_type,
        metadata=document.metadata,
        status=document.status,
        problem=_shortcoming(document),
        moved_from=moved_from,
    )


def _shortcoming(document: Document) -> Problem | None:
    """What to say of a document that was read, but holds no text or not all of it."""
    if document.status is Status.PARTIAL:
        return Problem(
            document.id,
            document.status,
            document.warnings[0].code if document.warnings else "partial",
            f"{document.id} was read in part. "
            + " ".join(warning.message for warning in document.warnings),
            "Mend the file; what could be read is served meanwhile.",
        )
    if document.status is Status.NEEDS_OCR:
        return Problem(
            document.id,
            document.status,
            "needs-ocr",
            f"{document.id} holds images of text and no text.",
            "Run it through OCR and put the result in its place.",
        )
    if document.status is Status.EMPTY:
        return Problem(
            document.id,
            document.status,
            "empty-document",
            f"{document.id} holds no text.",
            "Nothing has to be done, unless it should hold some.",
        )
    return unreadable_access(document.id, document.metadata)


def counts_of(rows: tuple[ChunkRow, ...], stored: Mapping[str, str]) -> Counts:
    """What became of the chunks of a document that had ``stored``: input hashes by chunk id."""
    ids = {row.chunk.id: row.input_hash for row in rows}
    kept = sum(1 for chunk, value in ids.items() if stored.get(chunk) == value)
    common = sum(1 for chunk in ids if chunk in stored)
    return Counts(
        added=len(ids) - common,
        removed=sum(1 for chunk in stored if chunk not in ids),
        changed=common - kept,
        kept=kept,
    )
