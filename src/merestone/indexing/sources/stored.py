"""Documents as another library holds them, read before and not read again."""

from __future__ import annotations

from merestone.text.hashing import canonical_json, digest
from merestone.types import (
    Document,
    DocumentRecord,
    Listed,
    Listing,
    Look,
    RawDocument,
    Snapshot,
    SourceError,
)


class StoredSource:
    """What one state of a library holds: the same documents in the same versions.

    No plugin: it needs an open snapshot. Each document is handed over whole by :meth:`document`;
    the bytes that :meth:`read` gives only tell its versions apart. What the library could not
    read is listed with its fault, so that it is missing in the same way.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def scan(self, look: Look) -> Listing:
        documents = [
            Listed(
                id=record.id,
                location=record.uri,
                stamp=digest("stored", _state_of(record), record.uri),
                mtime_ns=record.mtime_ns,
                fault=None if record.version else record.problem,
            )
            for record in self._snapshot.records(look.scope.prefixes)
        ]
        return Listing(self, tuple(documents))

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        record = self._snapshot.record(listed.id)
        if record is None:
            raise _gone(listed.id)
        return RawDocument(listed.id, _state_of(record).encode(), record.uri)

    def document(self, identifier: str) -> Document:
        """The document as it is stored."""
        found = self._snapshot.document(identifier)
        if found is None:
            raise _gone(identifier)
        return found

    def uri_of(self, listed: Listed) -> str:
        return listed.location


def _state_of(record: DocumentRecord) -> str:
    problem = record.problem.to_json() if record.problem else None
    return digest(record.version, record.source_hash, canonical_json(problem))


def _gone(identifier: str) -> SourceError:
    return SourceError(
        "document-gone",
        f"{identifier} is no longer in the library that it was to be taken from.",
        "Run the command again.",
    )
