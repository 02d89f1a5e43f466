"""One batch of changes, carried out on the rows and gathered for the indexes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import apsw

from merestone.storage import faults, generations, lexical
from merestone.storage.codec import (
    encode_body,
    encode_edits,
    id_list,
    to_json,
    to_sql,
)
from merestone.storage.put_checks import check_put, duplicate_chunk
from merestone.storage.rows import (
    PLACE_COLUMNS,
    RECORD_COLUMNS,
    Row,
    metadata_json,
    number_list,
    place_row,
    record_row,
    value_of,
)
from merestone.storage.stored import StoredChunk, StoredDocument, stored_chunks, stored_document
from merestone.types import (
    Allow,
    Change,
    ChunkRow,
    Counts,
    Delete,
    DocumentRecord,
    Generation,
    Put,
    RemovedChunk,
    SharedRun,
    StoreError,
    Touch,
    Vectors,
)

_NEW_CHUNK = (
    "INSERT INTO chunk (number, generation, document, id, input_hash, access, text, "
    f"{PLACE_COLUMNS}) VALUES ({', '.join('?' * (7 + PLACE_COLUMNS.count(',') + 1))})"
)
_MOVED_CHUNK = (
    f"UPDATE chunk SET ({PLACE_COLUMNS}) = "
    f"({', '.join('?' * (PLACE_COLUMNS.count(',') + 1))}) WHERE number = ?"
)
_NEW_RECORD = (
    f"INSERT INTO document (generation, {RECORD_COLUMNS}) "
    f"VALUES ({', '.join('?' * (RECORD_COLUMNS.count(',') + 2))})"
)
_CHANGED_RECORD = (
    f"UPDATE document SET ({RECORD_COLUMNS}) = "
    f"({', '.join('?' * (RECORD_COLUMNS.count(',') + 1))}) WHERE number = ?"
)


@dataclass(frozen=True, slots=True)
class _NewVector:
    document: int
    vector: Vectors


class Transaction:
    """Works through changes in their order; the indexes follow at the end, in one go each.

    It is used inside a transaction of SQLite, which the caller begins and ends.
    """

    def __init__(self, connection: apsw.Connection, generation: Generation) -> None:
        self._connection = connection
        self._generation = generation
        self._answering = generations.answering(connection).number
        self._time = datetime.now(UTC).isoformat(timespec="seconds")
        self._version: int = value_of(connection, "SELECT library_version FROM meta") + 1
        # Numbers are given out here, so that rows and indexes can be written in one go each.
        self._last_chunk: int = value_of(
            connection, "SELECT IFNULL(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'chunk'"
        )
        self._unindexed: set[int] = set()
        self._terms: dict[int, str] = {}
        self._vectors: dict[int, _NewVector] = {}
        self.counts = Counts()
        self.changed = False
        """True once anything is different from before."""

    def carry_out(self, changes: Sequence[Change]) -> None:
        """Bring rows and indexes up to date."""
        for change in changes:
            match change:
                case Put():
                    self._put(change)
                case Touch(record):
                    self._touch(record)
                case Delete(document, leave_out):
                    self._delete(document, leave_out)
        faults.reach("after-rows")
        lexical.remove(self._connection, self._generation.number, self._unindexed)
        lexical.add(self._connection, self._generation.number, self._terms)
        faults.reach("after-lexical")
        self._store_vectors()
        faults.reach("after-dense")
        if self.changed:
            self._connection.execute("UPDATE meta SET library_version = ?", (self._version,))

    def _put(self, change: Put) -> None:
        check_put(change)
        record = change.record
        stored = stored_document(self._connection, record.id, self._generation.number)
        access = self._class_of(record.access)
        number = self._store_record(stored, record_row(record, access, len(change.rows)))
        self._store_body(number, change)
        self._change("DELETE FROM left_out WHERE id = ?", (to_sql(record.id),))
        reindex = stored is not None and stored.pipeline != record.pipeline
        added, removed = self._store_chunks(number, access, change, reindex)
        if stored is None or stored.version != record.version or added or removed:
            self._note_version(change, added, removed, access)

    def _note_version(
        self, change: Put, added: list[str], removed: list[RemovedChunk], access: int
    ) -> None:
        record, edits = change.record, change.edits
        if self._generation.number != self._answering:
            # The history tells what a reader sees change when this generation takes over.
            before = stored_document(self._connection, record.id, self._answering)
            if before is not None:
                old = stored_chunks(self._connection, before.number)
                ids = [row.chunk.id for row in change.rows]
                added = [identifier for identifier in ids if identifier not in old]
                removed = [
                    chunk.gone(identifier)
                    for identifier, chunk in old.items()
                    if identifier not in set(ids)
                ]
                if before.version == record.version:
                    edits = (SharedRun(0, 0, len(change.document.text)),)
                    if not (added or removed):
                        return
        self._note(record.id, record.version, added, removed, record.moved_from, access, edits)

    def _touch(self, record: DocumentRecord) -> None:
        stored = stored_document(self._connection, record.id, self._generation.number)
        access = self._class_of(record.access)
        number = self._store_record(
            stored, record_row(record, access, stored.total if stored else 0)
        )
        if stored is not None and stored.access != access:
            self._change(
                "UPDATE chunk SET access = ? WHERE generation = ? AND document = ?",
                (access, self._generation.number, number),
            )

    def _delete(self, document: str, leave_out: bool) -> None:
        if leave_out:
            self._change("INSERT OR IGNORE INTO left_out VALUES (?)", (to_sql(document),))
        stored = stored_document(self._connection, document, self._generation.number)
        if stored is None:
            return
        chunks = stored_chunks(self._connection, stored.number)
        self._drop_chunks([chunk.number for chunk in chunks.values()])
        self._change("DELETE FROM document_body WHERE document = ?", (stored.number,))
        self._change("DELETE FROM document WHERE number = ?", (stored.number,))
        self.counts += Counts(removed=len(chunks))
        if self._generation.number == self._answering:
            self._note_removal(document, stored, chunks)

    def flip(self) -> None:
        """Let the generation that is written to answer."""
        for document in generations.lost_by_flip(self._connection, self._generation.number):
            stored = stored_document(self._connection, document, self._answering)
            if stored is not None:
                self._note_removal(document, stored, stored_chunks(self._connection, stored.number))
        self._change("UPDATE meta SET generation = ?", (self._generation.number,))
        self._change("UPDATE generation SET building = 0", ())
        self._change("UPDATE meta SET library_version = ?", (self._version,))

    def _note_removal(
        self, document: str, stored: StoredDocument, chunks: Mapping[str, StoredChunk]
    ) -> None:
        removed = [chunk.gone(identifier) for identifier, chunk in chunks.items()]
        self._note(document, "", [], removed, None, stored.access)

    def _class_of(self, allow: Allow) -> int:
        """Number of the access class, which is made if there is none."""
        wanted = (to_json(allow),)
        query = "SELECT number FROM access_class WHERE allow = ?"
        row = self._connection.execute(query, wanted).fetchone()
        if row is None:
            self._change("INSERT INTO access_class (allow) VALUES (?)", wanted)
            return self._connection.last_insert_rowid()
        return int(row[0])

    def _store_record(self, stored: StoredDocument | None, row: Row) -> int:
        if stored is None:
            self._change(_NEW_RECORD, (self._generation.number, *row))
            return self._connection.last_insert_rowid()
        if stored.row != row:
            self._change(_CHANGED_RECORD, (*row, stored.number))
        return stored.number

    def _store_body(self, number: int, change: Put) -> None:
        new = (to_sql(change.document.text), encode_body(change.document))
        query = "SELECT text, body FROM document_body WHERE document = ?"
        if self._connection.execute(query, (number,)).fetchone() != new:
            self._change("INSERT OR REPLACE INTO document_body VALUES (?, ?, ?)", (number, *new))

    def _store_chunks(
        self, document: int, access: int, change: Put, reindex: bool
    ) -> tuple[list[str], list[RemovedChunk]]:
        """Bring the chunks of a document up to date; ids that came, and chunks that went.

        ``reindex`` says that equal inputs may have other terms than those that are stored.
        """
        stored = stored_chunks(self._connection, document)
        wanted = {row.chunk.id: row for row in change.rows}
        kept = {
            identifier: stored[identifier]
            for identifier, row in wanted.items()
            if identifier in stored and stored[identifier].input_hash == row.input_hash
        }
        gone = [
            chunk.gone(identifier)
            for identifier, chunk in stored.items()
            if identifier not in wanted
        ]
        new = [identifier for identifier in wanted if identifier not in stored]
        fresh = [row for identifier, row in wanted.items() if identifier not in kept]
        self._drop_chunks(
            [chunk.number for identifier, chunk in stored.items() if identifier not in kept]
        )
        metadata = metadata_json(change.record)
        for identifier, chunk in kept.items():
            place = place_row(wanted[identifier].chunk, metadata)
            if place != chunk.place:
                self._change(_MOVED_CHUNK, (*place, chunk.number))
            if reindex and wanted[identifier].terms:
                self._reindex(chunk.number, wanted[identifier].terms)
        self._change(
            "UPDATE chunk SET access = ?1 WHERE generation = ?2 AND document = ?3 AND access <> ?1",
            (access, self._generation.number, document),
        )
        self._add_chunks(document, access, fresh, metadata)
        self.counts += Counts(
            added=len(new),
            removed=len(gone),
            changed=len(fresh) - len(new),
            kept=len(kept),
        )
        return new, gone

    def _add_chunks(
        self, document: int, access: int, rows: Sequence[ChunkRow], metadata: str
    ) -> None:
        if not rows:
            return
        values: list[Row] = []
        for row in rows:
            if row.vector is None:
                raise StoreError(
                    "missing-vector",
                    f"A chunk of {row.chunk.document!r} ({row.chunk.id}) is new or has another "
                    "embedder input, and comes without a vector.",
                    "Embed it before it is stored.",
                )
            self._last_chunk += 1
            number, chunk = self._last_chunk, row.chunk
            values.append(
                (
                    number,
                    self._generation.number,
                    document,
                    to_sql(chunk.id),
                    row.input_hash,
                    access,
                    to_sql(chunk.text),
                    *place_row(chunk, metadata),
                )
            )
            self._terms[number] = lexical.stored_terms(row.terms)
            self._vectors[number] = _NewVector(document, row.vector)
        self.changed = True
        try:
            self._connection.executemany(_NEW_CHUNK, values)
        except apsw.ConstraintError as error:
            raise duplicate_chunk(rows[0].chunk.document, "of another document") from error

    def _drop_chunks(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        self._change(
            "DELETE FROM chunk WHERE number IN (SELECT value FROM json_each(?))",
            (number_list(numbers),),
        )
        for number in numbers:
            self._terms.pop(number, None)
            if self._vectors.pop(number, None) is None:
                self._unindexed.add(number)

    def _reindex(self, number: int, terms: Sequence[str]) -> None:
        """Give a chunk that stays the terms that the analyser makes of it now."""
        if number not in self._vectors:
            self._unindexed.add(number)
        self._terms[number] = lexical.stored_terms(terms)
        self.changed = True

    def _note(
        self,
        document: str,
        version: str,
        added: Sequence[str],
        removed: Sequence[RemovedChunk],
        moved_from: str | None,
        access: int,
        edits: Sequence[SharedRun] = (),
    ) -> None:
        self._change(
            "INSERT INTO history (generation, document, version, library_version, time, added, "
            "moved_from, access, edits) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._generation.number,
                to_sql(document),
                version,
                self._version,
                self._time,
                id_list(added),
                to_sql(moved_from),
                access,
                encode_edits(edits),
            ),
        )
        entry = self._connection.last_insert_rowid()
        self._connection.executemany(
            "INSERT INTO departed VALUES (?, ?, ?, ?, ?)",
            [
                (entry, place, to_sql(chunk.id), chunk.start, chunk.end)
                for place, chunk in enumerate(removed)
            ],
        )

    def _store_vectors(self) -> None:
        if not self._vectors:
            return
        import numpy as np

        from merestone.storage import dense

        rows = self._vectors
        dimension = self._generation.embedder.dimension
        for row in rows.values():
            dense.check_vectors(row.vector, dimension, "The vector of a chunk")
        dense.add(
            self._connection,
            self._generation.number,
            list(rows),
            [row.document for row in rows.values()],
            np.stack([row.vector for row in rows.values()]).astype(np.float16),
        )

    def _change(self, query: str, values: Row) -> None:
        """Run a statement that writes, and note if it did."""
        before = self._connection.total_changes()
        self._connection.execute(query, values)
        if self._connection.total_changes() != before:
            self.changed = True
