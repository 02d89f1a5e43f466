"""Fetching one document over HTTP: conditionally, within limits, and never more than asked for.

Conditional requests and validators are those of RFC 9110, sections 8.8 and 13.
"""

from __future__ import annotations

import ipaddress
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import BinaryIO
from urllib.parse import urljoin, urlsplit

import httpx

from merestone.indexing.sources.faults import too_large, unreachable
from merestone.types import JSON, SettingsError, SourceError

_REDIRECTS = 5
_REDIRECT = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_PATIENCE = 3
"""A host that failed so often in a row is not asked again in the same run."""
_WHOLE = 10
"""A document may take so many times the timeout, which is that of one wait."""
_STRONG_SECONDS = 2
"""A time of change this shortly before the answer proves nothing: the document may change again
within it (RFC 9110, section 8.8.2.2)."""


class HostGaveUpError(Exception):
    """The host failed so often that it is not asked any more."""


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


class Transfer:
    """Fetches documents, from several threads if wanted.

    ``options`` may hold ``timeout`` (seconds of one wait, 20) and ``concurrency`` (requests at a
    time, 4). Proxies are those of the environment.
    """

    def __init__(self, options: Mapping[str, JSON], concurrency: int = 4) -> None:
        unknown = options.keys() - {"timeout", "concurrency"}
        if unknown:
            raise SettingsError(
                "unknown-setting",
                f"A source of pages has the unknown options {', '.join(sorted(unknown))}.",
                "Known are timeout (seconds) and concurrency.",
            )
        self._timeout = _positive(options, "timeout", 20.0)
        self.concurrency = int(_positive(options, "concurrency", concurrency))
        self._client = httpx.Client(
            timeout=self._timeout,
            headers={"User-Agent": "merestone", "Accept-Encoding": "gzip"},
            follow_redirects=False,
        )
        self._failures: dict[str, int] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def forgive(self) -> None:
        """Ask hosts again that failed in an earlier run."""
        self._failures.clear()

    def fetch(self, url: str, out: BinaryIO, max_bytes: int, stamp: str = "") -> Answer:
        """Write the document at ``url`` to ``out``, unless it still has ``stamp``.

        Raises ``SourceError`` if it can't be had whole, ``ExtractionError`` if it has more than
        ``max_bytes``, and :class:`HostGaveUpError` without asking.
        """
        host = urlsplit(url).netloc
        with self._lock:
            if self._failures.get(host, 0) >= _PATIENCE:
                raise HostGaveUpError(host)
        try:
            answer = self._follow(url, out, max_bytes, stamp)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            if isinstance(error, httpx.TransportError):
                with self._lock:
                    self._failures[host] = self._failures.get(host, 0) + 1
            raise unreachable(url, _reason(error)) from error
        with self._lock:
            self._failures.pop(host, None)
        return answer

    def _follow(self, url: str, out: BinaryIO, max_bytes: int, stamp: str) -> Answer:
        place = url
        until = time.monotonic() + _WHOLE * self._timeout
        for _ in range(_REDIRECTS + 1):
            with self._client.stream("GET", place, headers=_conditions(stamp)) as response:
                target = response.headers.get("location", "")
                if response.status_code not in _REDIRECT or not target:
                    return _take(response, url, out, max_bytes, until)
                following = urljoin(place, target)
                _check_redirect(url, place, following)
                place = following
        raise SourceError(
            "redirect-refused",
            f"{url} leads on from page to page, more than {_REDIRECTS} times.",
            "Name the page that it should lead to.",
        )


def _positive(options: Mapping[str, JSON], name: str, default: float) -> float:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise SettingsError(
            "invalid-setting", f"The option {name} of a source is no number above 0.", "Mend it."
        )
    return float(value)


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the server took too long"
    return str(error) or type(error).__name__


def _conditions(stamp: str) -> dict[str, str]:
    kind, _, value = stamp.partition("=")
    name = {"etag": "If-None-Match", "modified": "If-Modified-Since"}.get(kind)
    return {name: value} if name else {}


def _check_redirect(url: str, place: str, following: str) -> None:
    """A public page may not lead into what only this machine sees, nor out of encryption."""
    parts = urlsplit(following)
    fault = None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        fault = f"to the scheme {parts.scheme!r}"
    elif "@" in parts.netloc:
        fault = "to an address with a password"
    elif urlsplit(place).scheme == "https" and parts.scheme == "http":
        fault = "out of encryption"
    elif _is_private(parts.hostname) and not _is_private(urlsplit(url).hostname or ""):
        fault = "into a private network"
    if fault:
        raise SourceError(
            "redirect-refused",
            f"{url} leads {fault}, which is not followed.",
            "Name the page that it should lead to, if you trust it.",
        )


def _is_private(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _take(
    response: httpx.Response, url: str, out: BinaryIO, max_bytes: int, until: float
) -> Answer:
    status = response.status_code
    if status in _GONE:
        return Answer(is_gone=True)
    if status == 304 and any(name.startswith("if-") for name in response.request.headers):
        return Answer(is_unchanged=True, day=_day(response))
    if status != 200:
        raise unreachable(url, f"the server answers {status} {response.reason_phrase}".strip())
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
    if tag:
        return f"etag={tag}"
    modified = response.headers.get("last-modified", "").strip()
    try:
        age = parsedate_to_datetime(response.headers.get("date", "")) - parsedate_to_datetime(
            modified
        )
    except (TypeError, ValueError):
        return ""
    return f"modified={modified}" if age.total_seconds() >= _STRONG_SECONDS else ""


def _day(response: httpx.Response) -> str:
    try:
        return parsedate_to_datetime(response.headers.get("date", "")).date().isoformat()
    except (TypeError, ValueError):
        return ""


def _media_type(response: httpx.Response) -> str | None:
    given = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    return given if "/" in given and given != "application/octet-stream" else None
