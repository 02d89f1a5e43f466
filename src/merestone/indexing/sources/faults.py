"""Problems and errors that sources tell of."""

from __future__ import annotations

from merestone.types import ExtractionError, MerestoneError, Problem, SourceError, Status

_TRY_AGAIN = "Check that it is there and that you may read it, then sync again."


def unreadable(document: str, error: OSError) -> Problem:
    """The problem that a file or folder cannot be read for a reason outside of it."""
    return Problem(
        document,
        Status.UNREADABLE,
        "file-unreadable",
        f"{document or 'The source folder'} cannot be read: {error.strerror or error}.",
        _TRY_AGAIN,
    )


def problem_of(document: str, error: MerestoneError) -> Problem:
    """The problem that an error tells of."""
    status = Status(error.status) if isinstance(error, ExtractionError) else Status.UNREADABLE
    return Problem(document, status, error.code, error.message, error.remedy)


def unreachable(what: str, reason: str) -> SourceError:
    """The error that ``what`` cannot be reached now; nothing of it counts as gone."""
    return SourceError(
        "source-unreachable",
        f"{what} cannot be read now: {reason.rstrip('.')}.",
        "What is stored of it stays; sync again when it can be reached.",
    )


def gone(what: str) -> SourceError:
    """The error that a document went between listing and reading."""
    return SourceError(
        "document-gone", f"{what} is no longer there.", "The next sync will take notice of it."
    )


def missing(document: str, url: str) -> Problem:
    """The problem that there is no page at an address that was named."""
    return Problem(
        document,
        Status.UNREADABLE,
        "page-missing",
        f"There is no page at {url}, says its server.",
        "Mend the address, or take it out of the settings or the list that names it.",
    )


def too_large(what: str, max_bytes: int, size: int | None = None) -> ExtractionError:
    """The error that a document has ``size`` bytes, or more than it may have."""
    has = f"{size} bytes" if size is not None else f"more than {max_bytes} bytes"
    return ExtractionError(
        "document-too-large",
        f"{what} has {has}, the limit is {max_bytes}.",
        "Split it, or raise max_document_bytes in [extraction].",
        status=Status.TOO_LARGE,
    )
