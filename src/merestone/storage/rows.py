"""Records and chunks as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import apsw

from merestone.storage.codec import (
    decode_document,
    decode_edits,
    from_json,
    from_sql,
    optional_json,
    to_json,
    to_sql,
)
from merestone.types import (
    Allow,
    Box,
    Chunk,
    ContextSpan,
    Document,
    DocumentRecord,
    Edge,
    HistoryEntry,
    JournalEntry,
    Problem,
    RemovedChunk,
    Status,
    Unit,
)
from merestone.types.sources import LATEST_NS

Row: TypeAlias = tuple[Any, ...]
"""One row as SQLite takes and gives it."""

RECORD_COLUMNS = (
    "id, version, uri, source_hash, pipeline, mtime_ns, size, stamp, indexed_at, title, language, "
    "media_type, metadata, status, problem, failed_hash, moved_from, access, total"
)
# By a subquery, here and for texts: a join of the views takes ten times as long.
_RECORD_QUERY = (
    f"SELECT {RECORD_COLUMNS}, (SELECT allow FROM access_class WHERE number = access) FROM document"
)
_OF_DOCUMENT = "FROM document_body WHERE document = (SELECT number FROM document WHERE id = ?)"
PLACE_COLUMNS = (
    "ordinal, span_start, span_end, tokens, kind, heading_path, context, shed, boundary, lines, "
    "pages, boxes, attributes, metadata, units, config"
)
"""What of a chunk may change while it stays the same passage."""

_CHUNK_COLUMNS = (
    "c.number, c.id, d.id, d.version, c.ordinal, d.total, c.span_start, c.span_end, c.text, "
    "c.tokens, c.kind, c.heading_path, c.context, c.shed, c.boundary, c.lines, c.pages, c.boxes, "
    "c.attributes, c.metadata, d.metadata, c.units, c.config"
)
_CHUNK_QUERY = (
    f"SELECT {_CHUNK_COLUMNS} FROM chunk AS c JOIN document AS d ON d.number = c.document "
)
# Left to itself, SQLite looks through all chunks of the generation for the few that are wanted.
_WANTED_CHUNKS = "json_each(?) AS wanted CROSS JOIN chunk AS c ON c.number = wanted.value"
_CHUNKS_BY_NUMBER = (
    f"SELECT {_CHUNK_COLUMNS} FROM {_WANTED_CHUNKS} "
    "CROSS JOIN document AS d ON d.number = c.document"
)


def record_row(record: DocumentRecord, access: int, total: int) -> Row:
    """The values of ``RECORD_COLUMNS``; ``access`` is the number of the class, ``total`` that of
    the chunks."""
    return (
        to_sql(record.id),
        record.version,
        to_sql(record.uri),
        record.source_hash,
        record.pipeline,
        min(record.mtime_ns, LATEST_NS),
        record.size,
        to_sql(record.stamp),
        record.indexed_at,
        to_sql(record.title),
        to_sql(record.language),
        to_sql(record.media_type),
        metadata_json(record),
        str(record.status),
        to_json(record.problem.to_json()) if record.problem else None,
        record.failed_hash,
        to_sql(record.moved_from),
        access,
        total,
    )


def metadata_json(record: DocumentRecord) -> str:
    """The metadata as it is stored."""
    return to_json(dict(record.metadata))


def read_record(row: Row) -> DocumentRecord:
    """The record that :func:`record_row` was given, of a row of ``_RECORD_QUERY``."""
    problem = from_json(row[14]) if row[14] is not None else None
    return DocumentRecord(
        id=from_sql(row[0]),
        version=row[1],
        uri=from_sql(row[2]),
        source_hash=row[3],
        pipeline=row[4],
        mtime_ns=row[5],
        size=row[6],
        stamp=from_sql(row[7]),
        indexed_at=row[8],
        title=from_sql(row[9]),
        language=from_sql(row[10]),
        media_type=from_sql(row[11]),
        metadata=from_json(row[12]),
        status=Status(row[13]),
        problem=Problem(**{**problem, "status": Status(problem["status"])}) if problem else None,
        failed_hash=row[15],
        moved_from=from_sql(row[16]),
        access=read_allow(row[19]),
    )


@lru_cache(maxsize=1024)
def read_allow(allow: str) -> Allow:
    """Who may read, as it was stored."""
    return tuple(tuple(names) for names in from_json(allow))


def place_row(chunk: Chunk, document_metadata: str) -> Row:
    """The values of ``PLACE_COLUMNS``; ``document_metadata`` is that of the document, as JSON."""
    metadata = to_json(dict(chunk.metadata))
    return (
        chunk.ordinal,
        chunk.start,
        chunk.end,
        chunk.tokens,
        chunk.kind,
        optional_json(chunk.heading_path),
        optional_json(chunk.context),
        optional_json(chunk.shed),
        to_json([chunk.boundary_start, chunk.boundary_end]),
        optional_json(chunk.lines),
        optional_json(chunk.pages),
        optional_json(chunk.boxes),
        optional_json(dict(chunk.attributes)),
        None if metadata == document_metadata else metadata,
        optional_json(tuple(chunk.units)),
        chunk.config,
    )


def read_chunk(row: Row) -> Chunk:
    """The chunk of a row of ``_CHUNK_QUERY``."""
    start, end = _edges(row[14])
    lines = _parts(row[15])
    return Chunk(
        id=from_sql(row[1]),
        document=from_sql(row[2]),
        version=row[3],
        ordinal=row[4],
        total=row[5],
        start=row[6],
        end=row[7],
        text=from_sql(row[8]),
        tokens=row[9],
        kind=row[10],
        heading_path=_headings(row[11]) if row[11] is not None else (),
        context=tuple(ContextSpan(*part) for part in _parts(row[12])),
        shed=tuple(ContextSpan(*part) for part in _parts(row[13])),
        boundary_start=start,
        boundary_end=end,
        lines=(lines[0], lines[1]) if lines else None,
        pages=tuple(_parts(row[16])),
        boxes=tuple(Box(*part) for part in _parts(row[17])),
        attributes=from_json(row[18]) if row[18] is not None else {},
        metadata=from_json(row[19] if row[19] is not None else row[20]),
        units=tuple(map(Unit._make, _parts(row[21]))),
        config=row[22],
    )


# The same few reasons for a cut, and the same headings, come again and again.
@lru_cache(maxsize=4096)
def _edges(text: str) -> tuple[Edge, Edge]:
    start, end = from_json(text)
    return Edge(*start), Edge(*end)


@lru_cache(maxsize=4096)
def _headings(text: str) -> tuple[str, ...]:
    return tuple(from_json(text))


def _parts(text: str | None) -> Sequence[Any]:
    return from_json(text) if text is not None else ()


def value_of(connection: apsw.Connection, query: str, values: Row = ()) -> Any:
    """The first value of a query that has at least one row."""
    return next(connection.execute(query, values))[0]


def number_list(numbers: Iterable[int]) -> str:
    """Numbers to bind as one value, for ``IN (SELECT value FROM json_each(?))``."""
    return json.dumps([int(number) for number in numbers])


def records(connection: apsw.Connection, within: Sequence[str] = ()) -> Iterator[DocumentRecord]:
    """Records by id: all, or of documents that one of ``within`` names or is around."""
    if not within or "" in within:
        return map(read_record, connection.execute(_RECORD_QUERY + " ORDER BY id"))
    found: dict[str, DocumentRecord] = {}
    for prefix in within:
        inside = prefix if prefix.endswith(":") else prefix.rstrip("/") + "/"
        # All that begins with a prefix comes before the prefix with its last character raised.
        after = inside[:-1] + chr(ord(inside[-1]) + 1)
        rows = connection.execute(
            _RECORD_QUERY + " WHERE id = ? OR (id >= ? AND id < ?)",
            (to_sql(prefix), to_sql(inside), to_sql(after)),
        )
        found.update((record.id, record) for record in map(read_record, rows))
    return iter(sorted(found.values(), key=lambda record: record.id))


def document_ids(connection: apsw.Connection, numbers: Sequence[int] | None = None) -> list[str]:
    """Ids of all documents, or of those with these numbers, in order."""
    query = "SELECT id FROM document"
    values: list[str] = []
    if numbers is not None:
        query += " WHERE number IN (SELECT value FROM json_each(?))"
        values.append(number_list(numbers))
    return [from_sql(row[0]) for row in connection.execute(f"{query} ORDER BY id", values)]


def record(connection: apsw.Connection, document: str) -> DocumentRecord | None:
    """The record of one document."""
    row = connection.execute(_RECORD_QUERY + " WHERE id = ?", (to_sql(document),)).fetchone()
    return read_record(row) if row else None


def text(connection: apsw.Connection, document_id: str) -> str | None:
    """The stored text of a document, without its blocks, which take longer to read."""
    row = connection.execute(f"SELECT text {_OF_DOCUMENT}", (to_sql(document_id),)).fetchone()
    return None if row is None else from_sql(row[0])


def document(
    connection: apsw.Connection, document_id: str, *, blocks: bool = True
) -> Document | None:
    """A document whole, or without its blocks; without text if none of its versions could ever be
    read."""
    found = record(connection, document_id)
    if found is None:
        return None
    row = connection.execute(f"SELECT text, body {_OF_DOCUMENT}", (to_sql(document_id),)).fetchone()
    if row is not None:
        return decode_document(found, from_sql(row[0]), row[1], blocks=blocks)
    return Document(
        id=found.id,
        text="",
        version=found.version,
        source_hash=found.source_hash,
        uri=found.uri,
        title=found.title,
        media_type=found.media_type,
        language=found.language,
        metadata=found.metadata,
        status=found.status,
    )


def chunks_of(
    connection: apsw.Connection, document_id: str, first: int, last: int | None
) -> list[Chunk]:
    """Chunks of one document with ``first <= ordinal <= last``, by ordinal."""
    rows = connection.execute(
        _CHUNK_QUERY + "WHERE c.document = (SELECT number FROM document WHERE id = ?) "
        "AND c.ordinal >= ? AND (?3 IS NULL OR c.ordinal <= ?3) ORDER BY c.ordinal",
        (to_sql(document_id), first, last),
    )
    return [read_chunk(row) for row in rows]


def chunk(connection: apsw.Connection, chunk_id: str) -> Chunk | None:
    """The chunk with this id."""
    row = connection.execute(_CHUNK_QUERY + "WHERE c.id = ?", (to_sql(chunk_id),)).fetchone()
    return read_chunk(row) if row else None


def by_number(connection: apsw.Connection, numbers: Iterable[int]) -> dict[int, Chunk]:
    """Those of the chunks that live."""
    rows = connection.execute(_CHUNKS_BY_NUMBER, (number_list(numbers),))
    return {row[0]: read_chunk(row) for row in rows}


def live(connection: apsw.Connection, numbers: Iterable[int]) -> set[int]:
    """Those of the numbers that stand for a chunk."""
    query = f"SELECT c.number FROM {_WANTED_CHUNKS}"
    return {number for (number,) in connection.execute(query, (number_list(numbers),))}


def inputs(connection: apsw.Connection, document_id: str) -> dict[str, str]:
    """Chunk id → input hash of one document."""
    rows = connection.execute(
        "SELECT id, input_hash FROM chunk WHERE document = "
        "(SELECT number FROM document WHERE id = ?) ORDER BY ordinal",
        (to_sql(document_id),),
    )
    return {from_sql(identifier): input_hash for identifier, input_hash in rows}


def numbers_of_inputs(connection: apsw.Connection, hashes: Sequence[str]) -> dict[int, str]:
    """Chunk number → input hash, one chunk for each of the hashes that a chunk has."""
    rows = connection.execute(
        "SELECT MIN(c.number), c.input_hash FROM json_each(?) AS wanted "
        "CROSS JOIN chunk AS c ON c.input_hash = wanted.value GROUP BY c.input_hash",
        (to_json(list(hashes)),),
    )
    return dict(rows)


def numbers(connection: apsw.Connection) -> list[tuple[int, str, str]]:
    """(number, id, input hash) of every chunk."""
    rows = connection.execute("SELECT number, id, input_hash FROM chunk ORDER BY number")
    return [(number, from_sql(identifier), key) for number, identifier, key in rows]


def history(connection: apsw.Connection, document_id: str) -> list[HistoryEntry]:
    """What became of one document, oldest first."""
    return _history(connection, "document = ?", document_id)


def mentions(connection: apsw.Connection, chunk_id: str) -> list[HistoryEntry]:
    """Entries that a chunk went with, oldest first."""
    return _history(connection, "number IN (SELECT entry FROM departed WHERE chunk = ?)", chunk_id)


def arrivals(connection: apsw.Connection, version: str) -> list[HistoryEntry]:
    """Entries of documents that came to this version, or were cut anew in it, oldest first."""
    return _history(connection, "version = ?", version)


def moves_of(connection: apsw.Connection, document_id: str) -> list[HistoryEntry]:
    """Entries of documents that came by moving this one, oldest first."""
    return _history(connection, "moved_from = ?", document_id)


def _history(connection: apsw.Connection, condition: str, value: str) -> list[HistoryEntry]:
    rows: list[Row] = connection.execute(
        "SELECT number, document, version, library_version, time, added, moved_from, edits "
        f"FROM history WHERE {condition} ORDER BY number",
        (to_sql(value),),
    ).fetchall()
    return [
        HistoryEntry(
            document=from_sql(document),
            version=version,
            library_version=library_version,
            time=time,
            added=tuple(from_json(added)),
            removed=_departed(connection, number),
            moved_from=from_sql(moved_from),
            edits=decode_edits(edits),
        )
        for number, document, version, library_version, time, added, moved_from, edits in rows
    ]


def _departed(connection: apsw.Connection, entry: int) -> tuple[RemovedChunk, ...]:
    rows = connection.execute(
        "SELECT chunk, span_start, span_end FROM departed WHERE entry = ? ORDER BY place", (entry,)
    )
    return tuple(RemovedChunk(from_sql(chunk), start, end) for chunk, start, end in rows)


def journal(connection: apsw.Connection, event: str, limit: int) -> list[JournalEntry]:
    """The newest entries of this event, newest first."""
    rows = connection.execute(
        "SELECT time, event, detail FROM journal WHERE event = ? ORDER BY number DESC LIMIT ?",
        (to_sql(event), limit),
    )
    return [JournalEntry(time, from_sql(name), from_json(detail)) for time, name, detail in rows]


def left_out(connection: apsw.Connection) -> frozenset[str]:
    """Ids that are to stay out."""
    return frozenset(from_sql(row[0]) for row in connection.execute("SELECT id FROM left_out"))
