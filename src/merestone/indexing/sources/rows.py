"""Rows of a query as documents, whatever the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from merestone.indexing.sources.contents import content_hash
from merestone.indexing.sources.faults import gone, problem_of, too_large
from merestone.indexing.sources.identifiers import key_identifier
from merestone.indexing.sources.keys import KeyedRecords
from merestone.indexing.sources.patterns import Selection
from merestone.indexing.sources.records import (
    document_of,
    form_of,
    stamp_of,
    text_fields,
    uri_of_record,
)
from merestone.types import (
    METADATA_KEY,
    Listed,
    Listing,
    Look,
    RawDocument,
    SettingsError,
    SourceSettings,
)

_MOST_AHEAD = 64
"""Rows that are read at once where one after the other is asked for."""

Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class Oversized:
    """A row that has more bytes than a document may have, of which no more than the key is kept."""

    key: object
    """``None`` also where the key alone is too long."""
    size: int
    has_long_key: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """How many bytes the columns of a row may have: those of the text together, and the others
    together."""

    key: str
    text: Sequence[str]
    bytes: int

    def drops(self, column: str) -> bool:
        """True if bytes in the ``column`` are part of no document, so that they are no matter."""
        return column not in (self.key, *self.text) and column.lower() != METADATA_KEY

    def applied(self, columns: Sequence[str], row: Row) -> Row | Oversized:
        """The row of ``columns``, for a database that can't tell how long it is beforehand."""
        sizes = {
            column: 0 if isinstance(value, bytes) and self.drops(column) else _bytes_in(value)
            for column, value in zip(columns, row, strict=True)
        }
        text = sum(size for column, size in sizes.items() if column in self.text)
        size = max(text, sum(sizes.values()) - text)
        if size <= self.bytes:
            return row
        if sizes[self.key] > self.bytes:
            return Oversized(None, sizes[self.key], has_long_key=True)
        return Oversized(row[columns.index(self.key)], size)


def _bytes_in(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bytes):
        return len(value)
    return len(str(value).encode("utf-8", "surrogatepass"))


def _size_of(document: RawDocument) -> int:
    """Bytes, more or less, that the document holds with its metadata."""
    return len(document.data) + sum(len(str(value)) for value in document.metadata.values())


class Table(Protocol):
    """The result of a query. Its methods raise ``SourceError`` or ``SettingsError``."""

    @property
    def place(self) -> str:
        """The database as a URI, without a password."""

    def columns(self) -> tuple[str, ...]: ...

    def scan(self, columns: Sequence[str], limit: Limit) -> Iterator[Row | Oversized]:
        """These columns of every row, the key among them, all rows of one moment. ``NULL`` stands
        for bytes that the limit drops."""

    def rows(self, values: Sequence[object], limit: Limit) -> Iterator[Row | Oversized]:
        """All columns of the rows whose key is one of ``values``, as ``scan`` gives them."""


class RowSource:
    """Each row is a document, its key the id.

    With an updated-at column a scan reads that and the key, and a row is read when that changed;
    without one a scan goes through the rows whole, one at a time, and compares contents.
    """

    def __init__(self, settings: SourceSettings, table: Table) -> None:
        self._settings = settings
        self._table = table
        self._selection = Selection(settings)
        self._keys: dict[str, object] = {}
        """Key as the database has it, by id, in the order of the query."""
        self._order: list[str] = []
        self._positions: dict[str, int] = {}
        self._ahead: dict[str, RawDocument | Oversized] = {}
        self._next = -1
        self._step = 1

    def scan(self, look: Look) -> Listing:
        self._check_columns()
        self._ahead.clear()
        records = KeyedRecords[object](self._settings, self._selection, look.scope)
        find = self._times if self._settings.updated else self._contents
        documents = records.whole(list(find(records, look)))
        self._keys = records.places
        self._order = [listed.id for listed in documents if not listed.fault]
        self._positions = {identifier: at for at, identifier in enumerate(self._order)}
        self._next, self._step = -1, 1
        return Listing(self, documents, unlisted=records.unlisted)

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        if listed.id not in self._ahead:
            self._read_from(listed.id, max_bytes)
        found = self._ahead.pop(listed.id, None)
        if found is None:
            raise gone(listed.id)
        size = found.size if isinstance(found, Oversized) else len(found.data)
        if isinstance(found, Oversized) or size > max_bytes:
            raise too_large(listed.id, max_bytes, size)
        return found

    def uri_of(self, listed: Listed) -> str:
        return uri_of_record(self._table.place, listed.location)

    def _times(self, records: KeyedRecords[object], look: Look) -> Iterator[Listed]:
        """Documents with their times of change as stamps."""
        # The key first, and only once if it is its own time.
        columns = tuple(dict.fromkeys((self._settings.key, self._settings.updated)))
        limit = Limit(self._settings.key, (self._settings.updated,), look.max_bytes)
        form = form_of(self._settings, self._table.place, self._table.columns())
        for row in self._table.scan(columns, limit):
            if isinstance(row, Oversized):
                yield from self._too_large(row, records, look)
            elif admitted := records.admit(row[0], row[0]):
                yield Listed(*admitted, stamp_of(row[-1], form))

    def _contents(self, records: KeyedRecords[object], look: Look) -> Iterator[Listed]:
        """Documents with hashes of what they hold as stamps."""
        columns = self._table.columns()
        place = columns.index(self._settings.key)
        for row in self._table.scan(columns, self._limit(look.max_bytes)):
            if isinstance(row, Oversized):
                yield from self._too_large(row, records, look)
            elif admitted := records.admit(row[place], row[place]):
                fields = dict(zip(columns, row, strict=True))
                content = content_hash(document_of(admitted[1], "", fields, self._settings))
                yield Listed(*admitted, f"content={content}")

    def _too_large(
        self, row: Oversized, records: KeyedRecords[object], look: Look
    ) -> Iterator[Listed]:
        if row.has_long_key:
            records.add_long_key(look.max_bytes)
        elif admitted := records.admit(row.key, row.key):
            identifier, name = admitted
            fault = problem_of(identifier, too_large(identifier, look.max_bytes, row.size))
            yield Listed(identifier, name, f"size={row.size}", fault=fault)

    def _limit(self, max_bytes: int) -> Limit:
        columns = text_fields(self._table.columns(), self._settings)
        return Limit(self._settings.key, columns, max_bytes)

    def _read_from(self, identifier: str, max_bytes: int) -> None:
        """Read the row, and more of those behind it the longer reading has gone in their order:
        a table without an index on the key is gone through once for all of them. Of the others no
        more is kept than one document may have."""
        at = self._positions.get(identifier)
        if at is None:
            return
        self._step = min(2 * self._step, _MOST_AHEAD) if at == self._next else 1
        wanted = self._order[at : at + self._step]
        self._next = at + len(wanted)
        self._ahead.clear()
        keys = [self._keys[each] for each in wanted]
        room = max_bytes
        for row in self._table.rows(keys, self._limit(max_bytes)):
            found, document = self._document(row)
            size = 0 if isinstance(document, Oversized) else _size_of(document)
            if found == identifier or size <= room:
                self._ahead[found] = document
                room -= 0 if found == identifier else size

    def _document(self, row: Row | Oversized) -> tuple[str, RawDocument | Oversized]:
        """Id and document of a row that was listed, so that it has a key."""
        columns = self._table.columns()
        key = row.key if isinstance(row, Oversized) else row[columns.index(self._settings.key)]
        name = key_identifier(key) or ""
        identifier = self._settings.prefix + name
        if isinstance(row, Oversized):
            return identifier, row
        fields = dict(zip(columns, row, strict=True))
        uri = uri_of_record(self._table.place, name)
        return identifier, document_of(identifier, uri, fields, self._settings)

    def _check_columns(self) -> None:
        columns = self._table.columns()
        wanted = [self._settings.key, *filter(None, [self._settings.updated]), *self._settings.text]
        missing = [name for name in wanted if name not in columns]
        if missing:
            raise SettingsError(
                "invalid-query",
                f"The query of {self._settings.place} has no column {', '.join(missing)}.",
                f"It has {', '.join(columns)}.",
            )
