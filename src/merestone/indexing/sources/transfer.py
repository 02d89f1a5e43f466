"""Fetching one document over HTTP: conditionally, within limits, with bounded patience, and never
more than asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import BinaryIO
from urllib.parse import urljoin, urlsplit
from urllib.request import Request

import httpx

from merestone.embedding.retrying import LONGEST_RETRY_AFTER, Timing, backoff, wanted_wait
from merestone.indexing.sources.credentials import Credentials
from merestone.indexing.sources.faults import unreachable
from merestone.indexing.sources.page_answer import Answer, StatusError, conditions, take
from merestone.indexing.sources.redirects import (
    MOST_REDIRECTS,
    REDIRECT,
    check_redirect,
    too_many,
)
from merestone.indexing.sources.transfer_options import TransferOptions
from merestone.types import SourceSettings

_PATIENCE = 3
"""A host that failed for so many documents in a row is not asked again in the same run."""
_WHOLE = 10
"""A document may take so many times the timeout, which is that of one wait."""
_BUSY = frozenset({429, 502, 503, 504})
_PASSING = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError)
_FAILING = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)
_ODD = (ValueError, OverflowError)
"""What addresses, numbers and texts of a server raise, here or in a library, that nobody thought
of. ``UnicodeError`` is a ``ValueError``."""
_LONG_WAIT = 3600
"""Seconds. How much longer a server wants to be left alone, nobody needs to know."""


class HostGaveUpError(Exception):
    """The host is not asked any more: it failed too often, or can't say what may be fetched."""

    def __init__(self, host: str, why: str = "it does not answer") -> None:
        super().__init__(host)
        self.host = host
        self.why = why


class _BusyError(Exception):
    """The server has too much to do. ``wait``: the seconds that it asks for, if it does."""

    def __init__(self, error: StatusError, wait: float | None) -> None:
        super().__init__(error.status)
        self.error = error
        self.wait = wait


class _CookiePolicy(DefaultCookiePolicy):
    """Keeps no cookie that can't be sent back: every later request to its host would fail."""

    def set_ok(self, cookie: Cookie, request: Request) -> bool:
        text = cookie.name + (cookie.value or "")
        return text.isascii() and text.isprintable() and super().set_ok(cookie, request)


class Transfer:
    """Fetches the documents of a source, from several threads if wanted. Proxies are those of the
    environment."""

    def __init__(
        self, settings: SourceSettings, concurrency: int, timing: Timing | None = None
    ) -> None:
        self._options = TransferOptions.of(settings.options, concurrency)
        self._credentials = Credentials(settings)
        self._timing = timing or Timing()
        self._client = httpx.Client(
            timeout=self._options.timeout,
            headers={"User-Agent": "merestone", "Accept-Encoding": "gzip"},
            follow_redirects=False,
            cookies=CookieJar(_CookiePolicy()),
        )
        self._failures: dict[str, int] = {}
        self._rests: dict[str, float] = {}
        """When a host may be asked again that wanted to be left alone."""
        self._lock = threading.Lock()

    @property
    def concurrency(self) -> int:
        """Requests at a time."""
        return self._options.concurrency

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def forgive(self) -> None:
        """Ask hosts again that failed in an earlier run."""
        self._failures.clear()
        self._rests.clear()

    def fetch(
        self,
        url: str,
        out: BinaryIO,
        max_bytes: int,
        stamp: str = "",
        permit: Callable[[str], None] = lambda _: None,
    ) -> Answer:
        """Write the document at ``url`` to ``out``, which is empty, unless it still has ``stamp``.

        What may go better a little later is tried again, at most as often as the options say and
        only once for a host that has just failed. ``permit`` is asked before a redirect is
        followed, and raises if it may not be.

        Raises ``SourceError`` if it can't be had whole, ``ExtractionError`` if it has more than
        ``max_bytes``, and :class:`HostGaveUpError` without asking.
        """
        host = urlsplit(url).netloc
        with self._lock:
            failures = self._failures.get(host, 0)
            if failures >= _PATIENCE:
                raise HostGaveUpError(host)
        tries = 1 if failures else 1 + self._options.retries
        for number in range(1, tries + 1):
            self._rest(host)
            try:
                answer = self._follow(url, out, max_bytes, stamp, permit)
            except (*_FAILING, *_ODD, _BusyError) as error:
                wait = self._wait_before_next(error, number)
                if number == tries or wait is None:
                    raise self._given_up(url, host, error, number) from error
                self._leave_alone(host, wait)
                out.seek(0)
                out.truncate()
                continue
            with self._lock:
                self._failures.pop(host, None)
            return answer
        raise AssertionError("a loop of at least one try ends by answer or error")

    def _follow(
        self, url: str, out: BinaryIO, max_bytes: int, stamp: str, permit: Callable[[str], None]
    ) -> Answer:
        place = url
        until = time.monotonic() + _WHOLE * self._options.timeout
        for _ in range(MOST_REDIRECTS + 1):
            headers = conditions(stamp) | self._credentials.headers(place)
            with self._client.stream("GET", place, headers=headers) as response:
                target = response.headers.get("location", "")
                if response.status_code not in REDIRECT or not target:
                    return self._taken(response, url, out, max_bytes, until)
                following = urljoin(place, target)
            check_redirect(url, place, following)
            permit(following)
            place = following
        raise too_many(url)

    def _taken(
        self, response: httpx.Response, url: str, out: BinaryIO, max_bytes: int, until: float
    ) -> Answer:
        try:
            return take(response, url, out, max_bytes, until)
        except StatusError as error:
            if error.status not in _BUSY:
                raise
            after = wanted_wait(response.headers.get("retry-after"), self._timing.wall())
            raise _BusyError(error, after) from error

    def _wait_before_next(self, error: Exception, number: int) -> float | None:
        """Seconds; ``None`` if there is no use in asking again, or not soon enough."""
        if isinstance(error, _BusyError):
            wait = backoff(number) if error.wait is None else error.wait
            return wait if wait <= LONGEST_RETRY_AFTER else None
        return backoff(number) if isinstance(error, _PASSING) else None

    def _rest(self, host: str) -> None:
        """Wait as long as the host wants to be left alone, whichever document it said so of."""
        with self._lock:
            wait = self._rests.get(host, 0.0) - self._timing.clock()
        if wait > 0:
            self._timing.sleep(wait)

    def _leave_alone(self, host: str, wait: float) -> None:
        with self._lock:
            moment = self._timing.clock() + wait
            self._rests[host] = max(moment, self._rests.get(host, moment))

    def _given_up(self, url: str, host: str, error: Exception, tries: int) -> Exception:
        if isinstance(error, httpx.TransportError | _BusyError):
            with self._lock:
                self._failures[host] = self._failures.get(host, 0) + 1
        after = f" ({tries} tries)" if tries > 1 else ""
        if isinstance(error, _BusyError):
            status = error.error.status
            return unreachable(url, f"the server answers {status}{_wish(error.wait)}{after}")
        return unreachable(url, self._reason(error) + after)

    def _reason(self, error: Exception) -> str:
        if isinstance(error, httpx.TimeoutException):
            return "the server took too long"
        if isinstance(error, _ODD):
            return f"its address or its answer makes no sense ({type(error).__name__})"
        return self._credentials.hide(str(error)) or type(error).__name__


def _wish(wait: float | None) -> str:
    if not wait:
        return ""
    length = f"for {wait:.0f} s" if wait <= _LONG_WAIT else "too long"
    return f" and wants to be left alone {length}"
