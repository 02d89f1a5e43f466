"""What is stored of a document before it is changed."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from merestone.storage.codec import from_sql, to_sql
from merestone.storage.rows import PLACE_COLUMNS, RECORD_COLUMNS, Row
from merestone.types import RemovedChunk


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of a generation."""

    number: int
    row: Row
    """The values of ``RECORD_COLUMNS``."""

    @property
    def version(self) -> str:
        return self.row[1]  # type: ignore[no-any-return]

    @property
    def pipeline(self) -> str:
        return self.row[4]  # type: ignore[no-any-return]

    @property
    def access(self) -> int:
        return self.row[-2]  # type: ignore[no-any-return]

    @property
    def total(self) -> int:
        return self.row[-1]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk of a document."""

    number: int
    input_hash: str
    place: Row
    """The values of ``PLACE_COLUMNS``."""

    def gone(self, identifier: str) -> RemovedChunk:
        """What the history says of it once it went."""
        return RemovedChunk(identifier, self.place[1], self.place[2])


def stored_document(
    connection: apsw.Connection, document: str, generation: int
) -> StoredDocument | None:
    """What a generation holds of the document; ``None`` if nothing."""
    query = f"SELECT number, {RECORD_COLUMNS} FROM document WHERE generation = ? AND id = ?"
    row = connection.execute(query, (generation, to_sql(document))).fetchone()
    return StoredDocument(row[0], row[1:]) if row else None


def stored_chunks(connection: apsw.Connection, document: int) -> dict[str, StoredChunk]:
    """Chunks of a document by id, in order."""
    rows = connection.execute(
        f"SELECT number, id, input_hash, {PLACE_COLUMNS} FROM chunk "
        "WHERE generation = (SELECT generation FROM document WHERE number = ?1) "
        "AND document = ?1 ORDER BY ordinal",
        (document,),
    )
    return {
        from_sql(identifier): StoredChunk(number, input_hash, tuple(place))
        for number, identifier, input_hash, *place in rows
    }
