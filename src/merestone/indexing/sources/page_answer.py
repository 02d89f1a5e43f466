"""What a server says of a page: whether it is there, its bytes within limits, its validators.

Conditional requests and validators are those of RFC 9110, sections 8.8 and 13.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, BinaryIO

from merestone.indexing.sources.faults import too_large, unreachable
from merestone.types import SourceError

if TYPE_CHECKING:
    import httpx

_GONE = frozenset({404, 410})
_KNOWN = frozenset(HTTPStatus)
_PIECE = 1 << 20
_STRONG_SECONDS = 2
"""A time of change this shortly before the answer proves nothing: the document may change again
within it (RFC 9110, section 8.8.2.2)."""


class StatusError(SourceError):
    """The server answers with a status that is no page. ``status`` is its number."""

    def __init__(self, url: str, status: int) -> None:
        # Not the server's own words: it may repeat what it was sent.
        phrase = HTTPStatus(status).phrase if status in _KNOWN else ""
        error = unreachable(url, f"the server answers {status} {phrase}".strip())
        super().__init__(error.code, error.message, error.remedy)
        self.status = status


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that a server is asked for."""

    url: str
    max_bytes: int
    """Inflated."""
    stamp: str = ""
    """With which it is known: it need not be sent if it still has it."""
    is_cut: bool = False
    """Whether of a larger document the first ``max_bytes`` will do."""
    is_led_to: bool = False
    """Whether a page of a public host has led to it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said of a document."""

    is_gone: bool = False
    is_unchanged: bool = False
    stamp: str = ""
    media_type: str | None = None
    """Without parameters; ``None`` if the server doesn't know."""
    size: int = 0
    """Bytes that were written."""
    day: str = ""
    """The server's date, as ``2026-11-30``; empty if it doesn't say."""


def conditions(stamp: str) -> dict[str, str]:
    """Headers that ask for a document only if it has no longer ``stamp``."""
    kind, _, value = stamp.partition("=")
    name = {"etag": "If-None-Match", "modified": "If-Modified-Since"}.get(kind)
    return {name: value} if name and _can_be_sent(value) else {}


async def take(response: httpx.Response, wanted: Wanted, out: BinaryIO) -> Answer:
    """Write the body to ``out``.

    Raises :class:`StatusError` or ``SourceError`` if there is no whole page, ``ExtractionError``
    if it has more bytes than are wanted.
    """
    url, max_bytes = wanted.url, wanted.max_bytes
    status = response.status_code
    if status in _GONE:
        return Answer(is_gone=True)
    if status == 304 and any(name.startswith("if-") for name in response.request.headers):
        return Answer(is_unchanged=True, day=_day(response))
    if status != 200:
        raise StatusError(url, status)
    declared = response.headers.get("content-length", "")
    is_declared = declared.isascii() and declared.isdigit()
    if not wanted.is_cut and is_declared and int(declared) > max_bytes:
        raise too_large(url, max_bytes)
    size = 0
    async with aclosing(_decoded(response, url)) as parts:
        async for part in parts:
            room = max_bytes - size
            if len(part) > room and not wanted.is_cut:
                raise too_large(url, max_bytes)
            size += out.write(part[:room])
            if wanted.is_cut and size == max_bytes:
                break
    return Answer(
        stamp=_stamp(response), media_type=_media_type(response), size=size, day=_day(response)
    )


async def _decoded(response: httpx.Response, url: str) -> AsyncGenerator[bytes]:
    """The body in parts, inflated a little at a time: a small answer may be a huge document."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip"):
        raise unreachable(url, f"the server sends the unwanted coding {coding!r}")
    inflater = zlib.decompressobj(wbits=31) if "gzip" in coding else None
    async for raw in response.aiter_raw():
        if inflater is None:
            yield raw
            continue
        try:
            pending = raw
            while pending and not inflater.eof:
                yield inflater.decompress(pending, _PIECE)
                pending = inflater.unconsumed_tail
        except zlib.error as error:
            raise unreachable(url, f"the answer is damaged ({error})") from error
    if inflater is not None and not inflater.eof:
        raise unreachable(url, "the answer was cut short")


def _stamp(response: httpx.Response) -> str:
    tag = response.headers.get("etag", "").strip()
    if tag and _can_be_sent(tag):
        return f"etag={tag}"
    modified = response.headers.get("last-modified", "").strip()
    try:
        age = parsedate_to_datetime(response.headers.get("date", "")) - parsedate_to_datetime(
            modified
        )
    except (TypeError, ValueError, OverflowError):
        return ""
    is_strong = age.total_seconds() >= _STRONG_SECONDS and _can_be_sent(modified)
    return f"modified={modified}" if is_strong else ""


def _can_be_sent(validator: str) -> bool:
    """True if a header of ours can hold what one of the server's did."""
    return validator.isascii() and validator.isprintable()


def _day(response: httpx.Response) -> str:
    try:
        return parsedate_to_datetime(response.headers.get("date", "")).date().isoformat()
    except (TypeError, ValueError, OverflowError):
        return ""


def _media_type(response: httpx.Response) -> str | None:
    given = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    return given if "/" in given and given != "application/octet-stream" else None
