"""What a server says of a page: whether it is there, its bytes within limits, its validators.

Conditional requests and validators are those of RFC 9110, sections 8.8 and 13.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
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


def take(response: httpx.Response, url: str, out: BinaryIO, max_bytes: int, until: float) -> Answer:
    """Write the body to ``out``. ``until``: the moment of the monotonic clock at which there is
    no more waiting.

    Raises :class:`StatusError` or ``SourceError`` if there is no whole page, ``ExtractionError``
    if it has more than ``max_bytes``.
    """
    status = response.status_code
    if status in _GONE:
        return Answer(is_gone=True)
    if status == 304 and any(name.startswith("if-") for name in response.request.headers):
        return Answer(is_unchanged=True, day=_day(response))
    if status != 200:
        raise StatusError(url, status)
    declared = response.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > max_bytes:
        raise too_large(url, max_bytes)
    size = 0
    for part in _decoded(response, url, until):
        size += len(part)
        if size > max_bytes:
            raise too_large(url, max_bytes)
        out.write(part)
    return Answer(
        stamp=_stamp(response), media_type=_media_type(response), size=size, day=_day(response)
    )


def _decoded(response: httpx.Response, url: str, until: float) -> Iterator[bytes]:
    """The body in parts, inflated a little at a time: a small answer may be a huge document."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip"):
        raise unreachable(url, f"the server sends the unwanted coding {coding!r}")
    inflater = zlib.decompressobj(wbits=31) if "gzip" in coding else None
    for raw in response.iter_raw():
        if time.monotonic() > until:
            raise unreachable(url, "the server took too long")
        if inflater is None:
            yield raw
            continue
        try:
            pending = raw
            while pending and not inflater.eof:
                yield inflater.decompress(pending, 1 << 20)
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
