"""Fetching one document over HTTP: conditionally, within limits, with bounded patience, and never
more than asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import urljoin, urlsplit

import httpx

from merestone.event_loop import OutOfTimeError
from merestone.indexing.sources.credentials import Credentials
from merestone.indexing.sources.faults import unreachable
from merestone.indexing.sources.page_answer import Answer, StatusError, Wanted, conditions, take
from merestone.indexing.sources.redirects import (
    MOST_REDIRECTS,
    REDIRECT,
    check_redirect,
    leads_inside,
    too_many,
)
from merestone.indexing.sources.transfer_options import TransferOptions
from merestone.indexing.sources.web_client import PrivateAddressError, WebClient
from merestone.retrying import LONGEST_RETRY_AFTER, Timing, backoff, wanted_wait
from merestone.types import SourceSettings

_PATIENCE = 3
"""A host that failed for so many documents in a row is not asked again in the same run."""
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


@dataclass(frozen=True, slots=True)
class _Further:
    """Where an answer leads instead of being one."""

    url: str
    is_from_public: bool


Permit = Callable[[str, bool], None]
"""Raises if an address may not be fetched; also told whether a page of a public host led there."""


def permit_all(_url: str, _is_led_to: bool) -> None:
    """Let everything be fetched."""


class Transfer:
    """Fetches the documents of a source, from several threads if wanted. Proxies are those of the
    environment."""

    def __init__(
        self, settings: SourceSettings, concurrency: int, timing: Timing | None = None
    ) -> None:
        self._options = TransferOptions.of(settings.options, concurrency)
        self._credentials = Credentials(settings)
        self._timing = timing or Timing()
        self._client = WebClient(self._options.timeout)
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

    def fetch(self, wanted: Wanted, out: BinaryIO, permit: Permit = permit_all) -> Answer:
        """Write the document that is ``wanted`` to ``out``, which is empty, unless it is as known.

        What may go better a little later is tried again, at most as often as the options say and
        only once for a host that has just failed. ``permit`` is asked before a redirect is
        followed. All of it together, tries and redirects and the waits between them, has the time
        of the options.

        Raises ``SourceError`` if it can't be had whole, ``ExtractionError`` if it is too large,
        and :class:`HostGaveUpError` without asking.
        """
        host = urlsplit(wanted.url).netloc
        with self._lock:
            failures = self._failures.get(host, 0)
            if failures >= _PATIENCE:
                raise HostGaveUpError(host)
        tries = 1 if failures else 1 + self._options.retries
        until = self._timing.clock() + self._options.whole
        for number in range(1, tries + 1):
            try:
                self._rest(host, until)
                answer = self._follow(wanted, out, until, permit)
            except (*_FAILING, *_ODD, _BusyError, OutOfTimeError) as error:
                wait = self._wait_before_next(error, number)
                is_late = wait is not None and self._timing.clock() + wait > until
                if number == tries or wait is None or is_late:
                    raise self._given_up(wanted.url, host, error, number, is_late) from error
                self._leave_alone(host, wait)
                out.seek(0)
                out.truncate()
                continue
            with self._lock:
                self._failures.pop(host, None)
            return answer
        raise AssertionError("a loop of at least one try ends by answer or error")

    def _follow(self, wanted: Wanted, out: BinaryIO, until: float, permit: Permit) -> Answer:
        place, is_led_to = wanted.url, wanted.is_led_to
        for number in range(MOST_REDIRECTS + 1):
            try:
                found = self._ask(place, wanted, out, until, is_led_to)
                if isinstance(found, Answer):
                    return found
                check_redirect(wanted.url, place, found.url)
                # The page that was named decides, however it leads on.
                is_led_to = is_led_to or (number == 0 and found.is_from_public)
                permit(found.url, is_led_to)
            except PrivateAddressError:
                if wanted.is_led_to:
                    raise  # for whose page led here
                raise leads_inside(wanted.url) from None
            place = found.url
        raise too_many(wanted.url)

    def _ask(
        self, place: str, wanted: Wanted, out: BinaryIO, until: float, is_led_to: bool
    ) -> Answer | _Further:
        """One request."""

        async def taken(response: httpx.Response) -> Answer | _Further:
            target = response.headers.get("location", "")
            if response.status_code in REDIRECT and target:
                return _Further(urljoin(place, target), self._client.is_public(response))
            return await self._taken(response, wanted, out)

        headers = conditions(wanted.stamp) | self._credentials.headers(place)
        seconds = until - self._timing.clock()
        return self._client.get(place, headers, taken, seconds, is_led_to=is_led_to)

    async def _taken(self, response: httpx.Response, wanted: Wanted, out: BinaryIO) -> Answer:
        try:
            return await take(response, wanted, out)
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

    def _rest(self, host: str, until: float) -> None:
        """Wait as long as the host wants to be left alone, whichever document it said so of.
        Raises ``OutOfTimeError`` if that is longer than there is time."""
        with self._lock:
            now = self._timing.clock()
            wait = self._rests.get(host, 0.0) - now
        if wait > until - now:
            raise OutOfTimeError
        if wait > 0:
            self._timing.sleep(wait)

    def _leave_alone(self, host: str, wait: float) -> None:
        with self._lock:
            moment = self._timing.clock() + wait
            self._rests[host] = max(moment, self._rests.get(host, moment))

    def _given_up(
        self, url: str, host: str, error: Exception, tries: int, is_late: bool
    ) -> Exception:
        if isinstance(error, httpx.TransportError | _BusyError | OutOfTimeError):
            with self._lock:
                self._failures[host] = self._failures.get(host, 0) + 1
        after = f" ({tries} tries)" if tries > 1 else ""
        if is_late:
            after += f"; for another try the {self._options.whole:g} s of a page are too short"
        if isinstance(error, _BusyError):
            status = error.error.status
            return unreachable(url, f"the server answers {status}{_wish(error.wait)}{after}")
        return unreachable(url, self._reason(error) + after)

    def _reason(self, error: Exception) -> str:
        if isinstance(error, OutOfTimeError):
            return (
                f"it took longer than the {self._options.whole:g} s that a page may take in all, "
                "ten times its timeout"
            )
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
