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
    stamp_of,
    text_fields,
    uri_of_record,
)
from merestone.types import (
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
    """A row that the database keeps for itself, since it has more bytes than a document may."""

    key: object
    size: int


@dataclass(frozen=True, slots=True)
class Limit:
    """How many bytes the ``columns`` of a row may have together."""

    columns: Sequence[str]
    bytes: int


class Table(Protocol):
    """The result of a query. Its methods raise ``SourceError`` or ``SettingsError``."""

    @property
    def place(self) -> str:
        """The database as a URI, without a password."""

    def columns(self) -> tuple[str, ...]: ...

    def scan(self, columns: Sequence[str]) -> Iterator[Row]:
        """These columns of every row, all rows of one moment."""

    def scan_whole(self, key: str, limit: Limit) -> Iterator[Row | Oversized]:
        """All columns of every row, all rows of one moment. A database that can't tell how long a
        row is before it gives it away gives those over the limit, too."""

    def rows(self, key: str, values: Sequence[object], limit: Limit) -> Iterator[Row | Oversized]:
        """As ``scan_whole``, the rows whose column ``key`` has one of ``values``."""


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
        looks = self._times(records) if self._settings.updated else self._contents(records, look)
        documents = records.whole(list(looks))
        self._keys = records.places
        self._order = [listed.id for listed in documents if not listed.fault]
        self._positions = {identifier: at for at, identifier in enumerate(self._order)}
        self._next, self._step = -1, 1
        return Listing(self, documents)

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

    def _times(self, records: KeyedRecords[object]) -> Iterator[Listed]:
        """Documents with their times of change as stamps."""
        for key, updated in self._table.scan((self._settings.key, self._settings.updated)):
            if admitted := records.admit(key, key):
                yield Listed(*admitted, stamp_of(updated))

    def _contents(self, records: KeyedRecords[object], look: Look) -> Iterator[Listed]:
        """Documents with hashes of what they hold as stamps."""
        columns = self._table.columns()
        place = columns.index(self._settings.key)
        for row in self._table.scan_whole(self._settings.key, self._limit(look.max_bytes)):
            key = row.key if isinstance(row, Oversized) else row[place]
            admitted = records.admit(key, key)
            if admitted is None:
                continue
            identifier, name = admitted
            if isinstance(row, Oversized):
                fault = problem_of(identifier, too_large(identifier, look.max_bytes, row.size))
                yield Listed(identifier, name, f"size={row.size}", fault=fault)
                continue
            fields = dict(zip(columns, row, strict=True))
            content = content_hash(document_of(name, "", fields, self._settings))
            yield Listed(identifier, name, f"content={content}")

    def _limit(self, max_bytes: int) -> Limit:
        return Limit(text_fields(self._table.columns(), self._settings), max_bytes)

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
        for row in self._table.rows(self._settings.key, keys, self._limit(max_bytes)):
            found, document = self._document(row)
            size = 0 if isinstance(document, Oversized) else len(document.data)
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
