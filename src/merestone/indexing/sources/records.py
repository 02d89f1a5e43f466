"""A row or a record as a document."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from urllib.parse import quote

from merestone.extraction import detect_media_type
from merestone.extraction.media_types import TEXT_TYPES, type_by_name
from merestone.text.hashing import digest
from merestone.types import JSON, METADATA_KEY, Problem, RawDocument, SourceSettings, Status

_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")

Fields = Mapping[str, object]
"""A row by column, or the object of a record."""


def document_of(identifier: str, uri: str, fields: Fields, settings: SourceSettings) -> RawDocument:
    """The document that a row is: its text in bytes, the other columns as metadata.

    A column of bytes that is the only one of the text is the document as it stands, a PDF for
    instance. ``NULL`` is nothing; ``access`` goes through whatever its form.
    """
    metadata = {
        name: plain(value)
        for name, value in fields.items()
        if name not in settings.text and value is not None and not isinstance(value, bytes)
    } | _stated_access(fields)
    whole = fields.get(settings.text[0]) if len(settings.text) == 1 else None
    if isinstance(whole, bytes):
        return RawDocument(identifier, whole, uri, settings.media_type, metadata)
    text = _text(fields, settings)
    data = _bytes_of(text)
    media_type = settings.media_type or _type_of_text(identifier, data)
    return RawDocument(identifier, data, uri, media_type, metadata)


def _stated_access(fields: Fields) -> dict[str, JSON]:
    """Who may read the row. Names of columns have no case in SQL; a value that is text in bytes or
    a part of the document's text counts too: no form of it may leave the row open."""
    named = [name for name in fields if name.lower() == METADATA_KEY and fields[name] is not None]
    if not named:
        return {}
    value = fields[METADATA_KEY if METADATA_KEY in named else named[0]]
    return {METADATA_KEY: _shown(value) if isinstance(value, bytes) else plain(value)}


def _text(fields: Fields, settings: SourceSettings) -> str:
    if settings.text:
        return "\n\n".join(filter(None, (_shown(fields.get(name)) for name in settings.text)))
    shown = {name: _shown(fields[name]) for name in text_fields(fields, settings)}
    return "".join(f"{name}: {text}\n" for name, text in shown.items() if text)


def text_fields(names: Iterable[str], settings: SourceSettings) -> tuple[str, ...]:
    """Those of the columns or keys ``names`` that a document's text is made of."""
    if settings.text:
        return settings.text
    return tuple(
        name for name in names if name != settings.updated and name.lower() != METADATA_KEY
    )


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        return value
    found = plain(value)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _bytes_of(text: str) -> bytes:
    """The bytes of a text in UTF-8, those that were none included; surrogates that stand for no
    byte, which JSON can write, become U+FFFD."""
    return _NO_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def _type_of_text(identifier: str, data: bytes) -> str:
    """By the key where it is the name of a text file; a key such as ``12.png`` makes no picture
    of a text."""
    promised = type_by_name(identifier)
    return detect_media_type(identifier if promised in TEXT_TYPES else "", data)


def plain(value: object) -> JSON:
    """A column's value as JSON: times in ISO 8601, what JSON has no word for as text."""
    if isinstance(value, str):
        return _bytes_of(value).decode("utf-8", "replace")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)


def form_of(settings: SourceSettings, place: str, columns: Iterable[str] = ()) -> str:
    """What makes a record a document besides its values: where it lies, the settings, and
    ``columns`` if the source has any of its own. Where one of these changed, an unchanged time
    of change proves nothing."""
    asked = (settings.query, settings.key, settings.updated, settings.media_type or "")
    return digest("form", place, *asked, *settings.text, "", *columns)[:16]


def stamp_of(value: object, form: str) -> str:
    """The stamp that an updated-at value is in a record of that form; empty for ``NULL``."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        told = value.hex()
    else:
        told = value.isoformat() if isinstance(value, datetime | date) else str(value)
    return f"updated={form}:{told}"


def uri_of_record(place: str, identifier: str) -> str:
    """Where the record lies: its file or database, and the id after ``#``."""
    return f"{place}#{quote(identifier, safe='/', errors='surrogatepass')}"


def without_key(settings: SourceSettings, count: int) -> Problem:
    """The problem of records that can have no id. It is told of once, as that of a document of a
    name that no key can have."""
    return Problem(
        f"{settings.prefix}%NULL",
        Status.UNREADABLE,
        "record-without-key",
        f"{count} of the records of {settings.place} have no {settings.key}, so they are no "
        "documents.",
        "Give each a key, or leave them out by the query.",
    )


def long_key(settings: SourceSettings, count: int, max_bytes: int) -> Problem:
    """The problem of records whose keys are too long to be read, told of in the same way."""
    return Problem(
        f"{settings.prefix}%LONG",
        Status.UNREADABLE,
        "record-key-too-long",
        f"{count} of the records of {settings.place} have a {settings.key} of more than "
        f"{max_bytes} bytes, so they are no documents.",
        "Give each a shorter key, leave them out by the query, or raise max_document_bytes in "
        "[extraction]; until then nothing that is stored of the source is removed.",
    )
