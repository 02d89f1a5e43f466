"""The ``robots.txt`` of each server, fetched when the first page of it is asked for."""

from __future__ import annotations

import threading
from io import BytesIO
from urllib.parse import urlsplit

from merestone.indexing.sources.page_answer import StatusError
from merestone.indexing.sources.robots import RobotRules
from merestone.indexing.sources.transfer import HostGaveUpError, Transfer
from merestone.types import MerestoneError

_MOST_BYTES = 5_000_000


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

    def allow(self, url: str) -> bool:
        """True if the page at ``url`` may be fetched. Raises ``HostGaveUpError`` where its server
        can't say so now: then no page of it may be."""
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc.lower()}"
        with self._lock:
            lock = self._locks.setdefault(place, threading.Lock())
        with lock:
            if place not in self._rules:
                self._rules[place] = self._fetched(f"{place}/robots.txt")
            rules = self._rules[place]
        if rules is None:
            raise HostGaveUpError(parts.netloc, "its robots.txt cannot be read")
        return rules.allow(url)

    def _fetched(self, url: str) -> RobotRules | None:
        out = BytesIO()
        try:
            answer = self._transfer.fetch(url, out, _MOST_BYTES)
        except StatusError as error:
            # "Unavailable" in RFC 9309: there are no rules that a program could know of.
            return RobotRules() if 400 <= error.status < 500 else None
        except MerestoneError:
            return None
        if answer.is_gone:
            return RobotRules()
        return RobotRules.of(out.getvalue().decode("utf-8", "replace"))
