"""Which extractor reads which media type."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Protocol

from merestone.text.hashing import canonical_json, digest
from merestone.types import Document, ExtractionSettings, Extractor, RawDocument, bare_type

GROUP = "merestone.extractors"

_MEMBERS = ("name", "revision", "media_types", "isolated", "extract")

_logger = logging.getLogger("merestone")


class IsolatedReader(Protocol):
    """Runs an extractor where a document cannot harm the caller."""

    def read(self, extractor: str, raw: RawDocument, settings: ExtractionSettings) -> Document:
        """What the extractor of this name makes of ``raw``; raises
        :class:`~merestone.types.errors.ExtractionError` if it fails, dies or takes too long."""


@cache
def extractors() -> Mapping[str, Extractor]:
    """Every extractor by its name: the built-in ones, then those of plugins by name.

    A plugin that cannot be loaded is logged as a warning and left out.
    """
    found: dict[str, Extractor] = {}
    for entry in sorted(entry_points(group=GROUP), key=_order):
        try:
            extractor = _load(entry)
        except Exception as error:
            _logger.warning(
                "The extractor %r (%s) cannot be loaded and is left out: %s: %s",
                entry.name,
                entry.value,
                type(error).__name__,
                error,
            )
        else:
            found[extractor.name] = extractor
    return MappingProxyType(found)


def _load(entry: EntryPoint) -> Extractor:
    extractor: Extractor = entry.load()
    missing = [name for name in _MEMBERS if not hasattr(extractor, name)]
    if missing:
        raise TypeError(f"it lacks {', '.join(missing)}")
    return extractor


def _order(entry: EntryPoint) -> tuple[bool, str]:
    return not entry.value.startswith("merestone."), entry.name


@cache
def _by_media_type() -> Mapping[str, Extractor]:
    """A plugin takes the place of a built-in extractor for the media types that it names."""
    return {
        media_type: extractor
        for extractor in extractors().values()
        for media_type in extractor.media_types
    }


def extractor_for(media_type: str) -> Extractor | None:
    """The extractor that reads ``media_type``; ``None`` if there is none.

    Text of a kind that nobody knows is read as plain text.
    """
    bare = bare_type(media_type)
    found = _by_media_type().get(bare)
    if found is None and bare.startswith("text/"):
        return _by_media_type().get("text/plain")
    return found


def extraction_fingerprint(media_type: str, settings: ExtractionSettings) -> str:
    """Changes when documents of ``media_type`` could be read differently.

    Limits are not part of it: they decide whether a document is read, not how.
    """
    extractor = extractor_for(media_type)
    if extractor is None:
        return digest("extraction", "none")
    effective = canonical_json({"default_encoding": settings.default_encoding})
    return digest("extraction", extractor.name, str(extractor.revision), effective)
