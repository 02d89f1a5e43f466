"""The ``robots.txt`` of each server, fetched when the first page of it is asked for."""

from __future__ import annotations

import threading
from io import BytesIO
from urllib.parse import urlsplit

from merestone.indexing.sources.page_answer import StatusError, Wanted
from merestone.indexing.sources.robots import RobotRules
from merestone.indexing.sources.transfer import HostGaveUpError, Transfer
from merestone.types import MerestoneError

_MOST_BYTES = 5_000_000
"""Of a longer file the lines that are whole within them count (RFC 9309, section 2.5, wants 500
KiB at least)."""


class RobotFiles:
    """May be used by several threads."""

    def __init__(self, transfer: Transfer) -> None:
        self._transfer = transfer
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._rules: dict[str, RobotRules | None] = {}

    def forget(self) -> None:
        """Ask anew in the next run."""
        self._rules.clear()

    def allow(self, url: str, *, is_led_to: bool = False) -> bool:
        """True if the page at ``url`` may be fetched. ``is_led_to``: a page of a public host has
        led to it.

        Raises ``HostGaveUpError`` where its server can't say so now: then no page of it may be.
        ``PrivateAddressError`` says nothing of the server, nor of pages that are named.
        """
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc.lower()}"
        with self._lock:
            lock = self._locks.setdefault(place, threading.Lock())
        with lock:
            if place not in self._rules:
                self._rules[place] = self._fetched(f"{place}/robots.txt", is_led_to)
            rules = self._rules[place]
        if rules is None:
            raise HostGaveUpError(parts.netloc, "its robots.txt cannot be read")
        return rules.allow(url)

    def _fetched(self, url: str, is_led_to: bool) -> RobotRules | None:
        out = BytesIO()
        wanted = Wanted(url, _MOST_BYTES, is_cut=True, is_led_to=is_led_to)
        try:
            answer = self._transfer.fetch(wanted, out)
        except StatusError as error:
            # "Unavailable" in RFC 9309: there are no rules that a program could know of.
            return RobotRules() if 400 <= error.status < 500 else None
        except MerestoneError:
            return None
        if answer.is_gone:
            return RobotRules()
        data = out.getvalue()
        if len(data) == _MOST_BYTES:
            data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
        return RobotRules.of(data.decode("utf-8", "replace"))
