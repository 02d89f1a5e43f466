"""Where documents come from: what a source lists and hands on, and the protocol of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from merestone.types.library import Problem
from merestone.types.protocols import RawDocument


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the sources that a run is about. Without prefixes it is everything."""

    prefixes: tuple[str, ...] = ()

    def holds(self, identifier: str) -> bool:
        """True if the document is in the scope."""
        return not self.prefixes or any(is_within(identifier, part) for part in self.prefixes)

    def names(self, identifier: str) -> bool:
        """True if the document itself was named, not only a folder around it."""
        return identifier in self.prefixes

    def reaches(self, folder: str) -> bool:
        """True if the folder, or a source by its ``name:``, is in the scope or around a part of
        it."""
        return self.holds(folder) or any(is_within(part, folder) for part in self.prefixes)


def is_within(identifier: str, prefix: str) -> bool:
    """True if the document ``identifier`` is ``prefix``, or lies in the folder or the source that
    ``prefix`` names."""
    if identifier == prefix or not prefix:
        return True
    return identifier.startswith(prefix if prefix.endswith(":") else f"{prefix.rstrip('/')}/")


@dataclass(frozen=True, slots=True)
class Look:
    """What a scan of a source is for, and what is known already."""

    scope: Scope = Scope()
    """A source may leave out what is not in it."""
    stamps: Mapping[str, str] = field(default_factory=dict)
    """Stamp with which each document was read last, by id, as far as it is to be trusted: a source
    may ask whether it still holds."""
    max_bytes: int = 50_000_000
    """Of one document; a larger one need not be fetched."""
    held: frozenset[str] = frozenset()
    """Ids of the documents that the library has: one that is not among them did not go."""


LATEST_NS: Final = 2**63 - 1
"""The latest time that a library holds, in the year 2262."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A document that a source has, before it is read."""

    id: str
    location: str
    """Where its source finds it: a path, a URL, a key."""
    stamp: str = ""
    """Changes with the document, also where the source's settings make another one of the same
    bytes: an entity tag, the value of an updated-at column. Equal stamps mean equal documents;
    empty proves nothing."""
    mtime_ns: int = 0
    """When it was written; for sources without stamps. 0: not known."""
    size: int = 0
    """In bytes; 0 where it is not known before reading."""
    fault: Problem | None = None
    """Why it can't be read, where that showed while listing."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source has now.

    ``unlisted`` are id prefixes that could not be listed, or not to the end: nothing below them
    counts as gone. A document that has a problem does not count as gone either.
    """

    source: Source
    documents: tuple[Listed, ...]
    problems: tuple[Problem, ...] = ()
    unlisted: tuple[str, ...] = ()


class Source(Protocol):
    """A place that documents are read from.

    Built in or by the entry point group ``merestone.sources``, whose entries make a source of its
    :class:`~merestone.types.settings.SourceSettings`. Ids begin with ``name:`` where the settings
    have a name. Used by one thread at a time.
    """

    def scan(self, look: Look) -> Listing:
        """All documents that are there now, each id once.

        Raises :class:`~merestone.types.errors.SourceError` or ``OSError`` if the source can't be
        listed; a listing that was cut short names what is missing in ``unlisted``.
        """

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        """The bytes of a document of the last scan, not older than its stamp.

        Raises ``OSError``, :class:`~merestone.types.errors.SourceError` or, for more than
        ``max_bytes``, :class:`~merestone.types.errors.ExtractionError`.
        """

    def uri_of(self, listed: Listed) -> str:
        """Where a person finds the document. Never holds a password."""
