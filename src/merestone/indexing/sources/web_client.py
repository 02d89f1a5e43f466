"""Requests over HTTP that end when they have to, and that reach no private network unasked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import Any, TypeVar
from urllib.request import Request

import httpx

from merestone.event_loop import EventLoop
from merestone.indexing.sources.addresses import is_private

_Result = TypeVar("_Result")
_Peer = tuple[str, int]
"""Address and port at the other end of a connection."""
_HEADERS = {"User-Agent": "merestone", "Accept-Encoding": "gzip"}


class PrivateAddressError(Exception):
    """A name leads to a private address, and who gave it stands outside of that network."""


class _CookiePolicy(DefaultCookiePolicy):
    """Keeps no cookie that can't be sent back: every later request to its host would fail."""

    def set_ok(self, cookie: Cookie, request: Request) -> bool:
        text = cookie.name + (cookie.value or "")
        return text.isascii() and text.isprintable() and super().set_ok(cookie, request)


class WebClient:
    """May be used by several threads. Proxies are those of the environment; what a name leads to
    that a proxy looks up, it alone knows."""

    def __init__(self, timeout: float) -> None:
        """``timeout``: seconds of one wait, for a connection or for a part of an answer."""
        self._timeout = timeout
        self._loop = EventLoop()
        self._cookies = CookieJar(_CookiePolicy())
        self._certificates = httpx.create_ssl_context()
        self._proxies: set[_Peer] = set()
        # Connections of what the settings name, and of where pages of public hosts lead: no
        # connection of the first kind, into a private network perhaps, serves the second.
        self._named = self._opened()
        self._led_to = self._opened()

    def get(
        self,
        url: str,
        headers: Mapping[str, str],
        take: Callable[[httpx.Response], Awaitable[_Result]],
        seconds: float,
        *,
        is_led_to: bool = False,
    ) -> _Result:
        """What ``take`` makes of the answer.

        Raises :class:`~merestone.event_loop.OutOfTimeError` after ``seconds``
        from the first step to the last, what ``httpx`` and ``take`` do, and, where a page of a
        public host has led to ``url``, :class:`PrivateAddressError` before anything is sent.
        """
        return self._loop.run(self._get(url, headers, take, is_led_to), seconds)

    def close(self) -> None:
        """Let go of connections."""
        self._loop.close(self._close)

    def is_public(self, response: httpx.Response) -> bool:
        """True if the answer came from a public address, or from one that a proxy alone knows."""
        peer = _peer_of(response.extensions.get("network_stream"))
        return peer is None or peer in self._proxies or not is_private(peer[0])

    async def _get(
        self,
        url: str,
        headers: Mapping[str, str],
        take: Callable[[httpx.Response], Awaitable[_Result]],
        is_led_to: bool,
    ) -> _Result:
        client = self._led_to if is_led_to else self._named
        host = httpx.URL(url).raw_host.decode("ascii")
        connecting = _Connecting(host, is_led_to, self._proxies)
        extensions = {"trace": connecting.take_notice}
        async with client.stream("GET", url, headers=headers, extensions=extensions) as response:
            return await take(response)

    def _opened(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            timeout=self._timeout,
            headers=_HEADERS,
            follow_redirects=False,
            cookies=self._cookies,
            verify=self._certificates,
        )

    async def _close(self) -> None:
        await self._named.aclose()
        await self._led_to.aclose()


@dataclass(slots=True)
class _Connecting:
    """Follows a request's way to its server, by the names that ``httpcore`` gives its steps."""

    host: str
    is_led_to: bool
    proxies: set[_Peer]
    """To be added to."""
    _asked: str = field(default="")

    async def take_notice(self, step: str, info: Mapping[str, Any]) -> None:
        if step.endswith("connect_tcp.started"):
            self._asked = info["host"]
        elif step.endswith("connect_tcp.complete"):
            stream = info["return_value"]
            peer = _peer_of(stream)
            if peer is None:
                return
            if self._asked != self.host:
                self.proxies.add(peer)
            elif self.is_led_to and is_private(peer[0]):
                await stream.aclose()
                raise PrivateAddressError(self.host)


def _peer_of(stream: Any) -> _Peer | None:
    found = stream.get_extra_info("server_addr") if stream is not None else None
    return (found[0], found[1]) if isinstance(found, tuple) else None
