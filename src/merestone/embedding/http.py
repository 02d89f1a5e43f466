"""Asking a service over HTTP, with bounded patience.

What a service answers is sorted into three kinds, since each wants something else done: it will
not serve us at all (:class:`RefusedError`), it does not take this very request
(:class:`UnacceptedError`), or it could not answer just now (:class:`UnavailableError`, after all
tries were made).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from merestone.event_loop import EventLoop, OutOfTimeError
from merestone.retrying import LONGEST_RETRY_AFTER, Timing, backoff, wanted_wait
from merestone.types import JSON, SettingsError

if TYPE_CHECKING:
    import httpx

_TRIES = 4
"""Requests that are made for one answer at most."""
_LARGEST_ANSWER = 512 * 2**20
_SHOWN = 200

_QUIET_AFTER = 3
"""Answers in a row that failed, all tries of each, before patience ends."""
_QUIET_SECONDS = 30.0

_PASSING = frozenset({408, 409, 425, 429})
_GATEWAY = frozenset({502, 503, 504, 529})
"""What stands before the service says these; the request has no part in it."""
_UNACCEPTED = frozenset({400, 413, 422})


class ServiceError(Exception):
    """Why there is no answer, in words."""


class RefusedError(ServiceError):
    """Nothing that is asked like this will be answered: a wrong key, path or model."""


class UnacceptedError(ServiceError):
    """The service does not take this request; another one it might."""


class UnavailableError(ServiceError):
    """The service cannot be reached, has too much to do, or answers with an error."""

    def __init__(self, message: str, *, may_be_request: bool) -> None:
        """``may_be_request``: the request could be the cause, as it failed inside the service."""
        super().__init__(message)
        self.may_be_request = may_be_request


@dataclass(slots=True)
class Usage:
    """What a service was asked since it was opened."""

    requests: int = 0
    texts: int = 0
    """Texts sent, those that were sent again included."""
    tokens: int = 0
    """As the service counted; 0 if it does not say."""


@dataclass(slots=True)
class Client:
    """One endpoint. Safe in threads. The key stands in a header and nowhere else: not in an
    error, a log or a fingerprint."""

    url: str
    key_env: str = ""
    """The environment variable of the key, read at the first request; empty: none is sent."""
    timeout: float = 60.0
    """Seconds of one wait for a connection or for more of an answer. A try has twice that, whatever
    is slow."""
    timing: Timing = field(default_factory=Timing)
    usage: Usage = field(default_factory=Usage)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _key: str = field(default="", repr=False)
    _opened: httpx.AsyncClient | None = field(default=None, repr=False)
    _loop: EventLoop = field(default_factory=EventLoop, repr=False)
    _failures: int = 0
    _quiet_until: float = 0.0
    _last_problem: str = ""

    @property
    def place(self) -> str:
        """The address as it may be shown."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def ask(self, body: Mapping[str, JSON], texts: int, most: int | None = None) -> JSON:
        """The answer to ``body``, which holds so many texts, as a JSON value.

        Makes at most four requests, with waits between that double or are what the service asks
        for. ``most`` is for a part of what failed before: so many requests, and its failures are
        no news. After three answers in a row that failed, one request is made for an answer;
        after three more, none for 30 seconds.
        """
        if self._failures >= 2 * _QUIET_AFTER and self.timing.clock() < self._quiet_until:
            raise UnavailableError(
                f"{self.place} is left alone for a while, since it failed {self._failures} times "
                f"in a row: {self._last_problem}",
                may_be_request=False,
            )
        tries = most or (_TRIES if self._failures < _QUIET_AFTER else 1)
        data = json.dumps(body).encode()
        for number in range(1, tries + 1):
            try:
                answer = self._ask_once(data, texts)
            except _PassingError as problem:
                wait = problem.wait if problem.wait is not None else backoff(number)
                if number == tries or wait > LONGEST_RETRY_AFTER:
                    if most is None:
                        self._note_failure(problem)
                    raise self._given_up(problem, number, wait) from problem
                self.timing.sleep(wait)
            else:
                self._failures = 0
                return answer
        raise AssertionError("a loop of at least one try ends by answer or error")

    def _note_failure(self, problem: _PassingError) -> None:
        self._failures += 1
        self._last_problem = str(problem)
        self._quiet_until = self.timing.clock() + _QUIET_SECONDS

    def _given_up(self, problem: _PassingError, tries: int, wait: float) -> UnavailableError:
        message = f"{self.place} {problem}"
        if wait > LONGEST_RETRY_AFTER:
            message += f" and wants to be left alone for {wait:.0f} s"
        elif tries > 1:
            message += f" ({tries} tries)"
        return UnavailableError(message, may_be_request=problem.may_be_request)

    def close(self) -> None:
        """Let go of connections."""
        with self._lock:
            if self._opened is not None:
                self._loop.close(self._opened.aclose)
                self._opened = None

    def _ask_once(self, data: bytes, texts: int) -> JSON:
        import httpx

        with self._lock:
            if self._opened is None:
                self._key = read_key(self.key_env, self.place)
                # Without TLS there is nothing to verify, and certificates take long to read.
                self._opened = httpx.AsyncClient(
                    timeout=self.timeout,
                    follow_redirects=False,
                    verify=self.url.startswith("https:"),
                )
            client = self._opened
            self.usage.requests += 1
            self.usage.texts += texts
        try:
            answer, status, after = self._loop.run(self._exchange(client, data), 2 * self.timeout)
        except OutOfTimeError as error:
            message = f"did not answer within {2 * self.timeout:g} s, twice its timeout"
            raise _PassingError(message, True) from error
        except httpx.TimeoutException as error:
            raise _PassingError(f"did not answer within {self.timeout:g} s", True) from error
        except (httpx.ConnectError, httpx.UnsupportedProtocol) as error:
            raise _PassingError(f"cannot be reached: {self._clean(str(error))}", False) from error
        except httpx.TransportError as error:
            raise _PassingError(f"broke off: {self._clean(str(error))}", True) from error
        if status in _PASSING or status >= 500:
            raise _PassingError(
                f"answered {status}: {self._message(answer)}",
                status >= 500 and status not in _GATEWAY,
                wanted_wait(after, self.timing.wall()),
            )
        if status in _UNACCEPTED:
            raise UnacceptedError(f"{self.place} answered {status}: {self._message(answer)}")
        if not 200 <= status < 300:
            raise RefusedError(f"{self.place} answered {status}: {self._message(answer)}")
        try:
            value: JSON = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise _PassingError("answered with something else than JSON", True) from error
        return value

    async def _exchange(
        self, client: httpx.AsyncClient, data: bytes
    ) -> tuple[bytes, int, str | None]:
        """Body, status and ``Retry-After`` of what the service says."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        async with client.stream("POST", self.url, content=data, headers=headers) as response:
            answer = await _body(response)
            return answer, response.status_code, response.headers.get("Retry-After")

    def _message(self, answer: bytes) -> str:
        """What the service says of an error, in short."""
        text = answer.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        for key in ("error", "message", "detail", "error_type"):
            if isinstance(value, dict) and value.get(key):
                value = value[key]
        return self._clean(value if isinstance(value, str) else text)

    def _clean(self, text: str) -> str:
        """``text`` on one line, short, and without the key should the service repeat it."""
        if self._key:
            text = text.replace(self._key, "***")
        text = " ".join(text.split())
        return text[:_SHOWN] + ("…" if len(text) > _SHOWN else "") if text else "no reason given"


async def _body(response: httpx.Response) -> bytes:
    import httpx

    parts, size = [], 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > _LARGEST_ANSWER:
            raise httpx.ReadError("the answer is too large")
    return b"".join(parts)


class _PassingError(Exception):
    """One try that failed, and may go better next time."""

    def __init__(self, problem: str, may_be_request: bool, wait: float | None = None) -> None:
        super().__init__(problem)
        self.may_be_request = may_be_request
        self.wait = wait


def join_url(base: str, path: str) -> str:
    """The address of an endpoint; ``SettingsError`` for a base that is none or holds a key."""
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(
            "bad-service-url",
            f"{base.rpartition('@')[2]!r} is not the address of a service.",
            "Write it like http://localhost:11434/v1.",
        )
    if parts.username or parts.password or parts.query:
        raise SettingsError(
            "bad-service-url",
            f"The address of {parts.hostname} holds a user name, a password or a query.",
            "Put the key into an environment variable and name it as api_key_env.",
        )
    return base.rstrip("/") + path


def read_key(variable: str, service: str) -> str:
    """The key in the environment variable; ``SettingsError`` if it was named and is not set."""
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SettingsError(
            "api-key-missing",
            f"{service} wants a key, and the environment variable {variable} is not set.",
            f"Set {variable}, or name another one as api_key_env.",
        )
    return key
