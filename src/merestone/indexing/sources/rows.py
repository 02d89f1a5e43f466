"""Rows of a query as documents, whatever the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from merestone.indexing.sources.contents import content_hash
from merestone.indexing.sources.faults import gone, too_large
from merestone.indexing.sources.identifiers import key_identifier
from merestone.indexing.sources.patterns import Selection
from merestone.indexing.sources.records import document_of, stamp_of, uri_of_record, without_key
from merestone.types import (
    Listed,
    Listing,
    Look,
    RawDocument,
    SettingsError,
    SourceError,
    SourceSettings,
)

_MOST_AHEAD = 64
"""Rows that are read at once where one after the other is asked for."""
_NAMED = 5

Row = Sequence[object]


class Table(Protocol):
    """The result of a query. Its methods raise ``SourceError`` or ``SettingsError``."""

    @property
    def place(self) -> str:
        """The database as a URI, without a password."""

    def columns(self) -> tuple[str, ...]: ...

    def scan(self, columns: Sequence[str]) -> Iterator[Row]:
        """These columns of every row, all rows of one moment."""

    def rows(self, key: str, values: Sequence[object]) -> Iterator[Row]:
        """All columns of the rows whose column ``key`` has one of ``values``."""


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
        self._ahead: dict[str, RawDocument] = {}
        self._next = -1
        self._step = 1

    def scan(self, look: Look) -> Listing:
        self._check_columns()
        self._keys.clear()
        self._ahead.clear()
        documents: list[Listed] = []
        keyless = 0
        repeated: dict[str, int] = {}
        for key, stamp in self._stamps():
            name = key_identifier(key)
            if name is None:
                keyless += 1
                continue
            identifier = self._settings.prefix + name
            if identifier in self._keys:
                repeated[name] = repeated.get(name, 1) + 1
                continue
            self._keys[identifier] = key
            if self._selection.admits(name) and look.scope.holds(identifier):
                documents.append(Listed(identifier, name, stamp))
        if repeated:
            raise _repeated(self._settings, repeated)
        if keyless:
            problem = without_key(self._settings, keyless)
            documents.append(Listed(problem.document, "", fault=problem))
        self._order = [listed.id for listed in documents if not listed.fault]
        self._positions = {identifier: at for at, identifier in enumerate(self._order)}
        self._next, self._step = -1, 1
        return Listing(self, tuple(documents))

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        if listed.id not in self._ahead:
            self._read_from(listed.id)
        found = self._ahead.pop(listed.id, None)
        if found is None:
            raise gone(listed.id)
        if len(found.data) > max_bytes:
            raise too_large(listed.id, max_bytes, len(found.data))
        return found

    def uri_of(self, listed: Listed) -> str:
        return uri_of_record(self._table.place, listed.location)

    def _stamps(self) -> Iterator[tuple[object, str]]:
        settings = self._settings
        if settings.updated:
            for key, updated in self._table.scan((settings.key, settings.updated)):
                yield key, stamp_of(updated)
            return
        columns = self._table.columns()
        place = columns.index(settings.key)
        for row in self._table.scan(columns):
            fields = dict(zip(columns, row, strict=True))
            raw = document_of(key_identifier(row[place]) or "", "", fields, settings)
            yield row[place], f"content={content_hash(raw)}"

    def _read_from(self, identifier: str) -> None:
        """Read the row, and more of those behind it the longer reading has gone in their order:
        a table without an index on the key is gone through once for all of them."""
        at = self._positions.get(identifier)
        if at is None:
            return
        self._step = min(2 * self._step, _MOST_AHEAD) if at == self._next else 1
        wanted = self._order[at : at + self._step]
        self._next = at + len(wanted)
        self._ahead.clear()
        columns = self._table.columns()
        place = columns.index(self._settings.key)
        for row in self._table.rows(self._settings.key, [self._keys[each] for each in wanted]):
            name = key_identifier(row[place])
            if name is not None:
                found = self._settings.prefix + name
                uri = uri_of_record(self._table.place, name)
                fields = dict(zip(columns, row, strict=True))
                self._ahead[found] = document_of(found, uri, fields, self._settings)

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


def _repeated(settings: SourceSettings, repeated: dict[str, int]) -> SourceError:
    named = ", ".join(f"{key!r} ({count} times)" for key, count in list(repeated.items())[:_NAMED])
    more = f" and {len(repeated) - _NAMED} others" if len(repeated) > _NAMED else ""
    return duplicate_key(settings, named + more)


def duplicate_key(settings: SourceSettings, named: str) -> SourceError:
    """The error that several records have one key: which is the document is not known."""
    return SourceError(
        "duplicate-key",
        f"Several records of {settings.place} have the same {settings.key}: {named}.",
        "Choose a key that each record has for itself; nothing of the source was touched.",
    )
