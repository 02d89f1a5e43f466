"""From bytes to a finished document, whatever the format."""

from __future__ import annotations

from dataclasses import replace

from merestone.extraction.detection import detect_media_type, is_text
from merestone.extraction.media_types import OCTET_STREAM, TEXT_TYPES, describe, type_by_name
from merestone.extraction.registry import IsolatedReader, extractor_for
from merestone.text.block_tree import fault_in_blocks
from merestone.text.hashing import canonical_json, digest
from merestone.text.lines import line_starts
from merestone.text.wire import block_to_json
from merestone.types import (
    JSON,
    Document,
    ExtractionError,
    ExtractionSettings,
    Extractor,
    MerestoneError,
    RawDocument,
    Status,
    bare_type,
)

_DIED = (Status.CRASHED, Status.MEMORY, Status.TIMEOUT)


def read_document(
    raw: RawDocument,
    settings: ExtractionSettings | None = None,
    *,
    worker: IsolatedReader | None = None,
) -> Document:
    """Read the bytes of one document.

    Formats whose reader needs a process of its own are read by ``worker``, or in this process
    without one. Raises :class:`~merestone.types.errors.ExtractionError` with the status that the
    document gets.
    """
    settings = settings or ExtractionSettings()
    if len(raw.data) > settings.max_document_bytes:
        raise ExtractionError(
            "document-too-large",
            f"{raw.id} has {len(raw.data):,} bytes, more than max_document_bytes "
            f"({settings.max_document_bytes:,}).",
            "Split it, or raise max_document_bytes in [extraction].",
            status=Status.TOO_LARGE,
        )
    raw = replace(raw, media_type=_media_type(raw))
    extractor = extractor_for(raw.media_type or OCTET_STREAM)
    if extractor is None:
        raise _unsupported(raw)
    return _run(extractor, raw, settings, worker)


def _media_type(raw: RawDocument) -> str:
    """What the source says, unless it says text and the bytes are none."""
    given = bare_type(raw.media_type or "")
    if not given or ((given in TEXT_TYPES or given.startswith("text/")) and not is_text(raw.data)):
        return detect_media_type(raw.id, raw.data)
    return given


def _unsupported(raw: RawDocument) -> ExtractionError:
    media_type = raw.media_type or OCTET_STREAM
    promised = type_by_name(raw.id)
    what = describe(media_type)
    contrast = ""
    if promised is not None and promised != media_type:
        contrast = f", not {describe(promised)} as its name says"
    return ExtractionError(
        "unsupported-format",
        f"{raw.id} is {what} ({media_type}){contrast}. No extractor reads that.",
        "Convert it to a format that is read, exclude it, or install a plugin for it.",
        status=Status.UNSUPPORTED,
    )


def _run(
    extractor: Extractor,
    raw: RawDocument,
    settings: ExtractionSettings,
    worker: IsolatedReader | None,
) -> Document:
    try:
        if extractor.isolated and worker is not None:
            document = _isolated(extractor, raw, settings, worker)
        else:
            document = extractor.extract(raw, settings)
        return _finished(document, raw)
    except MerestoneError:
        raise
    except MemoryError as error:
        raise ExtractionError(
            "document-needs-memory",
            f"{raw.id} could not be read: there was not enough memory for it.",
            "Split it, or free memory and read it again.",
            status=Status.MEMORY,
        ) from error
    except Exception as error:
        # One bad document, or one bad plugin, must not stop a run over all the others.
        raise ExtractionError(
            "extractor-failed",
            f"{raw.id} could not be read: the extractor {extractor.name!r} failed with "
            f"{type(error).__name__}: {error}.",
            "Report it to the author of the extractor, with the document if you may.",
            status=Status.CRASHED,
        ) from error


def _isolated(
    extractor: Extractor, raw: RawDocument, settings: ExtractionSettings, worker: IsolatedReader
) -> Document:
    """Read by ``worker``; where that fails and the extractor has a method ``extract_plainly``,
    whose document has less structure but needs no process of its own, by that."""
    try:
        return worker.read(extractor.name, raw, settings)
    except ExtractionError as error:
        plainly = getattr(extractor, "extract_plainly", None)
        if plainly is None or error.status not in _DIED:
            raise
        document: Document = plainly(raw, settings, error)
        return document


def _finished(document: Document, raw: RawDocument) -> Document:
    """The document with what every format has alike. Finishing twice changes nothing.

    Raises ``ValueError`` for blocks that are no tree over the text.
    """
    fault = fault_in_blocks(document)
    if fault is not None:
        raise ValueError(fault)
    metadata = {**document.metadata, **raw.metadata}
    status = document.status
    if status.has_text and not document.text[: document.body_end].strip():
        status = Status.EMPTY
    starts = document.line_starts
    if not starts and not document.pages and document.segments.is_identity:
        starts = line_starts(document.text)
    return replace(
        document,
        id=raw.id,
        uri=raw.uri,
        media_type=raw.media_type or document.media_type,
        metadata=metadata,
        status=status,
        line_starts=starts,
        source_hash=digest(raw.data),
        version=_version(document, metadata),
    )


def _version(document: Document, metadata: dict[str, JSON]) -> str:
    """Hash of what a reader of the document can see of it."""
    return digest(
        document.text,
        canonical_json([block_to_json(block) for block in document.blocks]),
        canonical_json([metadata, document.title, document.language]),
    )
