"""References: what a person can name and be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from merestone.retrieval.annotation import SpanReference as SpanReference
from merestone.retrieval.annotation import annotated_span, annotation_name, is_annotation
from merestone.types import JSON, Chunk, NotFoundError, SettingsError, Snapshot

CHUNK_ID = re.compile(r"[0-9a-f]{32}")
_SPAN = re.compile(
    r"(?P<document>.+)#(?P<start>\d{1,18})-(?P<end>\d{1,18})(?:@(?P<version>[0-9a-f]+))?", re.DOTALL
)


Reference: TypeAlias = str | Mapping[str, JSON]
"""A chunk id, a document, ``document#start-end[@version]``, or as JSON a citation, a hit or an
annotation of the W3C Web Annotation Data Model."""


def parse_reference(snapshot: Snapshot, reference: Reference) -> str | SpanReference:
    """A chunk id or document id as it stands, or the span that ``document#start-end[@version]``
    or a citation names. A document of exactly that name comes first.

    No file is read here: who asks a service must learn nothing of the files around it.
    """
    if isinstance(reference, Mapping):
        if is_annotation(reference):
            return annotated_span(snapshot, reference)
        return _from_citation(reference)
    if not isinstance(reference, str):
        raise SettingsError(
            "invalid-citation",
            f"{reference!r} is no reference.",
            "Give a chunk id, a document, document#start-end, or a citation as a mapping.",
        )
    match = _SPAN.fullmatch(reference)
    if match and snapshot.record(reference) is None:
        return SpanReference(
            match["document"], int(match["start"]), int(match["end"]), match["version"]
        )
    return reference


def _from_citation(value: Mapping[str, JSON]) -> SpanReference:
    try:
        citation = value.get("citation", value)
        return SpanReference(
            str(citation["document"]),
            int(citation["start"]),
            int(citation["end"]),
            str(citation["version"]),
            None if citation.get("quote") is None else str(citation["quote"]),
            str(citation.get("prefix") or ""),
            str(citation.get("suffix") or ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(
            "invalid-citation",
            f"This is no citation: {_missing(error)}.",
            "Give the JSON of a hit or of its citation, with document, version, start and end.",
        ) from error


def _missing(error: Exception) -> str:
    """What a mapping lacks to be a citation, in words."""
    return f"it has no {error.args[0]!r}" if isinstance(error, KeyError) else str(error)


def named(reference: Reference) -> str:
    """The reference as it is repeated in an answer."""
    if isinstance(reference, str):
        return reference
    if is_annotation(reference):
        return annotation_name(reference)
    citation = reference.get("citation", reference)
    return "{document}#{start}-{end}".format_map(citation)


def show(snapshot: Snapshot, reference: Reference) -> dict[str, JSON]:
    """The document, chunk or span that ``reference`` names; ``NotFoundError`` if there is none."""
    parsed = parse_reference(snapshot, reference)
    if isinstance(parsed, SpanReference):
        return _show_span(snapshot, parsed, named(reference))
    document = snapshot.document(parsed)
    if document is not None:
        return {
            "document": document.id,
            "version": document.version,
            "title": document.title,
            "media_type": document.media_type,
            "status": str(document.status),
            "metadata": dict(document.metadata),
            "text": document.text,
        }
    chunk: Chunk | None = snapshot.chunk(parsed) if CHUNK_ID.fullmatch(parsed) else None
    if chunk is None:
        raise unknown(parsed)
    return chunk.to_json()


def _show_span(snapshot: Snapshot, span: SpanReference, reference: str) -> dict[str, JSON]:
    document = snapshot.document(span.document)
    if document is None:
        raise unknown(reference)
    if span.version and not document.version.startswith(span.version):
        raise NotFoundError(
            "version-not-found",
            f"{span.document} is in version {document.version[:12]} now, not {span.version[:12]}.",
            "Only the newest text is kept; `merestone resolve` says where the passage is now.",
        )
    check_range(span, len(document.text))
    return {
        "document": document.id,
        "version": document.version,
        "start": span.start,
        "end": span.end,
        "text": document.text[span.start : span.end],
        "lines": document.lines_of(span.start, span.end),
        "pages": list(document.pages_of(span.start, span.end)),
    }


def check_range(span: SpanReference, length: int) -> None:
    """Raise ``NotFoundError`` if a document of ``length`` code points has no such range."""
    if not 0 <= span.start <= span.end <= length:
        reason = (
            f", which has {length} characters"
            if span.start <= span.end
            else ": it ends before it begins"
        )
        raise NotFoundError(
            "span-not-found",
            f"{span.start}-{span.end} is no range of {span.document}{reason}.",
            "Give start and end in code points, start first.",
        )


def unknown(reference: str) -> NotFoundError:
    """The error for a reference that names nothing that the asker may know of. It is the same for
    what is gone, what is hidden and what never was."""
    return NotFoundError(
        "reference-not-found",
        f"Nothing is known as {reference!r}.",
        "Give a chunk id, a document as `status --documents` lists it, or document#start-end; what "
        "became of one that was there once is said by `merestone resolve`.",
    )
