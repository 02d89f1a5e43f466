"""Listing all sources of a library, of which some may fail."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from merestone.indexing.sources.faults import problem_of, unreachable
from merestone.text.plugins import required_plugin
from merestone.types import (
    Listed,
    Listing,
    Look,
    MerestoneError,
    RawDocument,
    Source,
    SourceError,
    SourceSettings,
)

_EVERYTHING = Look()
_LOGGER = logging.getLogger("merestone")


def open_source(settings: SourceSettings) -> Source:
    """The source that ``settings`` describe; ``SettingsError`` if they can't be met here."""
    source: Source = required_plugin("sources", settings.kind)(settings)
    return source


def list_source(settings: SourceSettings, look: Look = _EVERYTHING) -> Listing:
    """What one source has now; ``SourceError`` if it cannot be listed."""
    return _scan(open_source(settings), settings, look)


def list_sources(sources: Sequence[SourceSettings], look: Look = _EVERYTHING) -> list[Listing]:
    """What the sources have now, as far as the scope reaches them.

    A source that cannot be listed has a problem and no documents, and nothing of it counts as
    gone; the others go on. Where it is the only one of the library, ``SourceError`` is raised.
    """
    listings = []
    for settings in sources:
        if not look.scope.reaches(settings.prefix):
            continue
        source = open_source(settings)
        try:
            listings.append(_scan(source, settings, look))
        except SourceError as error:
            if len(sources) == 1:
                raise
            problem = problem_of(settings.prefix, error)
            listings.append(Listing(source, (), (problem,), (settings.prefix,)))
    return listings


def _scan(source: Source, settings: SourceSettings, look: Look) -> Listing:
    try:
        return source.scan(look)
    except MerestoneError:
        raise
    except OSError as error:
        raise unreachable(f"The source {settings.place}", str(error.strerror or error)) from error
    except Exception as error:
        # A plugin's fault is one source's failure. Its words may hold a password: they are for
        # the log of who looks for it, not for the report.
        _LOGGER.debug("The source %r failed.", settings.name or settings.kind, exc_info=True)
        raise SourceError(
            "source-failed",
            f"The source {settings.place} failed with {type(error).__name__}.",
            "Report it to the author of the source.",
        ) from error


def read(source: Source, listed: Listed, max_bytes: int) -> RawDocument:
    """The bytes of a listed document; ``OSError``, ``SourceError`` or ``ExtractionError`` if they
    can't be had."""
    try:
        return source.read(listed, max_bytes)
    except (MerestoneError, OSError):
        raise
    except Exception as error:
        _LOGGER.debug("A source failed to read %r.", listed.id, exc_info=True)
        raise SourceError(
            "source-failed",
            f"{listed.id} cannot be read: its source failed with {type(error).__name__}.",
            "Report it to the author of the source.",
        ) from error
