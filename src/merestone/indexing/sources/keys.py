"""Records by their keys, each of which makes a document of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from merestone.indexing.sources.identifiers import key_identifier
from merestone.indexing.sources.patterns import Selection
from merestone.indexing.sources.records import long_key, without_key
from merestone.types import Listed, Scope, SourceError, SourceSettings

_NAMED = 5
"""Keys that are named in one error at most."""

_Place = TypeVar("_Place")


class KeyedRecords(Generic[_Place]):
    """The records that one scan of a source goes through, which may be read in any order."""

    def __init__(self, settings: SourceSettings, selection: Selection, scope: Scope) -> None:
        self._settings = settings
        self._selection = selection
        self._scope = scope
        self.places: dict[str, _Place] = {}
        """By id: what the source finds the record by."""
        self._keyless = 0
        self._long = 0
        self._longest = 0
        self._repeated: dict[str, int] = {}

    def admit(self, key: object, place: _Place) -> tuple[str, str] | None:
        """Id and key of a document to be listed; ``None`` for a record without a key, of a key
        that was there before, or that is not wanted."""
        name = key_identifier(key)
        if name is None:
            self._keyless += 1
            return None
        identifier = self._settings.prefix + name
        if identifier in self.places:
            self._repeated[name] = self._repeated.get(name, 1) + 1
            return None
        self.places[identifier] = place
        is_wanted = self._selection.admits(name) and self._scope.holds(identifier)
        return (identifier, name) if is_wanted else None

    def add_long_key(self, max_bytes: int) -> None:
        """A record whose key has more than ``max_bytes``, so that it was not read."""
        self._long += 1
        self._longest = max_bytes

    @property
    def unlisted(self) -> tuple[str, ...]:
        """Prefixes of ids of which nothing counts as gone: a key that was not read could be any."""
        return (self._settings.prefix,) if self._long else ()

    def whole(self, documents: Sequence[Listed]) -> tuple[Listed, ...]:
        """``documents`` at the end of the scan, and as such the problems of records without a key
        or with one that is too long. Raises ``SourceError`` if several records have one key: which
        of them is the document is not known."""
        if self._repeated:
            raise self._duplicate_key()
        problems = []
        if self._keyless:
            problems.append(without_key(self._settings, self._keyless))
        if self._long:
            problems.append(long_key(self._settings, self._long, self._longest))
        return (*documents, *(Listed(each.document, "", fault=each) for each in problems))

    def _duplicate_key(self) -> SourceError:
        named = [f"{key!r} ({count} times)" for key, count in self._repeated.items()]
        more = f" and {len(named) - _NAMED} others" if len(named) > _NAMED else ""
        return SourceError(
            "duplicate-key",
            f"Several records of {self._settings.place} have the same {self._settings.key}: "
            f"{', '.join(named[:_NAMED])}{more}.",
            "Choose a key that each record has for itself; nothing of the source was touched.",
        )
