"""Whether what is to be stored of a document belongs together."""

from __future__ import annotations

from merestone.types import Put, StoreError


def check_put(change: Put) -> None:
    """Raise :class:`StoreError` unless the parts of ``change`` belong together."""
    record = change.record
    name = record.id
    chunks = [row.chunk for row in change.rows]
    if len({chunk.id for chunk in chunks}) < len(chunks):
        raise duplicate_chunk(name, "of the same document")
    if (change.document.id, change.document.version) != (name, record.version) or any(
        (chunk.document, chunk.version) != (name, record.version) for chunk in chunks
    ):
        raise StoreError(
            "put-mismatch",
            f"Record, document and chunks given for {name!r} are not of one id and version.",
            "Make all three from one reading of the document.",
        )
    if sorted(chunk.ordinal for chunk in chunks) != list(range(len(chunks))):
        raise StoreError(
            "chunk-order",
            f"The {len(chunks)} chunks given for {name!r} are not numbered from 0 without gaps.",
            "Look at the chunker: it must number its chunks in the order of the text.",
        )


def duplicate_chunk(document: str, other: str) -> StoreError:
    """The error that two chunks have one id; ``other`` says of which document the second is."""
    return StoreError(
        "duplicate-chunk",
        f"A chunk given for {document!r} has the id of another chunk {other}.",
        "Look at how the ids are made: document id, text and occurrence number must enter them.",
    )
