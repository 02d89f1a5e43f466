"""What a PDF says about itself: properties, language, page labels and outline."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pypdfium2.raw as pdfium

from merestone.extraction.pdf_headings import Entry
from merestone.types import JSON

_MAX_OUTLINE = 5_000
_MAX_BYTES = 20_000
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?"
    r"(?:(Z)|([+-])(\d\d)'?(?:(\d\d)'?)?)?"
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_PLACEHOLDERS = ("anonymous", "unknown", "unspecified", "user", "author")


def read_metadata(file: Any) -> dict[str, JSON]:
    """Author, dates in ISO 8601, and number of pages, as far as the file has them."""
    metadata: dict[str, JSON] = {}
    author = property_of(file, "Author")
    if author and author.lower() not in _PLACEHOLDERS:
        metadata["author"] = author
    for name, key in (("created", "CreationDate"), ("modified", "ModDate")):
        moment = parse_date(property_of(file, key))
        if moment:
            metadata[name] = moment
    metadata["page_count"] = len(file)
    return metadata


def property_of(file: Any, key: str) -> str:
    """One entry of the document information dictionary, or ``""``."""
    return _text(lambda *buffer: pdfium.FPDF_GetMetaText(file.raw, key.encode(), *buffer))


def read_language(file: Any) -> str | None:
    """The language tag of the whole document, if it is one."""

    def get(buffer: Any, size: int) -> Any:
        units = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)) if buffer else None
        return pdfium.FPDFCatalog_GetLanguage(file.raw, units, size)

    tag = _text(get)
    return tag if _LANGUAGE.fullmatch(tag) else None


def page_label(file: Any, index: int) -> str | None:
    """What the file calls page ``index`` (from 0), such as ``"iv"``."""
    return _text(lambda *buffer: pdfium.FPDF_GetPageLabel(file.raw, index, *buffer)) or None


def read_outline(file: Any) -> list[Entry]:
    """The entries of the outline in order, at most 5,000."""
    entries: list[Entry] = []
    for bookmark in file.get_toc():
        title = _text(lambda *buffer, raw=bookmark.raw: pdfium.FPDFBookmark_GetTitle(raw, *buffer))
        destination = bookmark.get_dest()
        index = destination.get_index() if destination is not None else None
        if title:
            page = index + 1 if index is not None and index >= 0 else None
            entries.append(Entry(title, bookmark.level + 1, page))
        if len(entries) >= _MAX_OUTLINE:
            break
    return entries


def _text(get: Callable[..., Any]) -> str:
    """A UTF-16 text that PDFium writes into a buffer, on one line and without controls."""
    size = get(None, 0)
    if not 2 < size <= _MAX_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(buffer, size)
    decoded = buffer.raw[: size - 2].decode("utf-16-le", "replace")
    words = "".join(
        " " if unicodedata.category(char) in ("Cc", "Cs", "Cn") else char for char in decoded
    )
    return " ".join(words.split())


def parse_date(text: str) -> str | None:
    """ISO 8601 for a date such as ``D:20240131120000+01'00'``; ``None`` if it is none."""
    match = _DATE.match(text)
    if match is None:
        return None
    year, *rest = match.groups()[:6]
    month, day, hour, minute, second = (
        int(part) if part else least for part, least in zip(rest, (1, 1, 0, 0, 0), strict=True)
    )
    zone: tzinfo | None = UTC if match[7] else None
    try:
        if match[8]:
            offset = timedelta(hours=int(match[9]), minutes=int(match[10] or 0))
            zone = timezone(offset if match[8] == "+" else -offset)
        moment = datetime(int(year), month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None
    return moment.isoformat() if match[4] else moment.date().isoformat()
