"""Errors that a caller can tell apart, each with what was wrong and what to do.

Every error carries a stable ``code``; ``merestone explain CODE`` prints the text that
:mod:`merestone.types.codes` holds for it.
"""

from __future__ import annotations


class MerestoneError(Exception):
    """Base of every error that Merestone raises on purpose.

    ``code`` is a stable name such as ``"path-not-found"``; ``message`` names the input and the
    problem; ``remedy`` says what to do about it.
    """

    def __init__(self, code: str, message: str, remedy: str) -> None:
        super().__init__(code, message, remedy)
        self.code = code
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy} [{self.code}]"


class SettingsError(MerestoneError, ValueError):
    """A parameter, a flag or a configuration file asks for something that cannot be."""


class SourceError(MerestoneError):
    """A source of documents, or one item of it, cannot be reached."""


class ExtractionError(MerestoneError):
    """The bytes of one document cannot be read as the format they are in.

    ``status`` is the :class:`~merestone.types.document.Status` that the document gets.
    """

    def __init__(self, code: str, message: str, remedy: str, *, status: str) -> None:
        super().__init__(code, message, remedy)
        self.args = (code, message, remedy)
        self.status = status


class EmbedderError(MerestoneError):
    """A text cannot be turned into a vector, or an embedder gave an answer that cannot be used."""


class RerankerError(MerestoneError):
    """Texts cannot be ranked again, or a reranker gave an answer that cannot be used."""


class StoreError(MerestoneError):
    """The stored library is damaged, of another kind, or cannot be written."""


class StoreBusyError(StoreError):
    """Another process is writing to the library."""


class NotFoundError(MerestoneError):
    """Nothing is known under a name. Also what an asker without access is told."""
