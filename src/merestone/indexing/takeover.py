"""Documents that cannot be read just now, on their way into a new generation."""

from __future__ import annotations

from dataclasses import replace

from merestone.indexing.pipeline import Pipeline
from merestone.indexing.preparation import Failed, Prepared, counts_of
from merestone.types import ExtractionError, Snapshot


def take_over(failed: Failed, pipeline: Pipeline, answering: Snapshot | None) -> Prepared | Failed:
    """The version that answers now, cut anew: what cannot be read keeps its old version, whatever
    generation it is in. ``failed`` as it is if there is none."""
    identifier = failed.record.id
    held = answering.record(identifier) if answering else None
    document = answering.document(identifier) if answering else None
    if held is None or document is None or not held.version:
        return failed
    try:
        cutting = pipeline.cut(document)
    except ExtractionError:
        return failed
    rows = pipeline.rows(document, cutting)
    return Prepared(
        todo=failed.todo,
        document=document,
        record=replace(
            held,
            pipeline=pipeline.fingerprint(held.media_type),
            problem=failed.problem,
            failed_hash=failed.record.failed_hash,
        ),
        rows=rows,
        new=frozenset(row.chunk.id for row in rows),
        counts=counts_of(rows, answering.inputs(identifier) if answering else {}),
        reason="embedder",
    )
