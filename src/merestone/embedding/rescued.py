"""What a call to a service gave before another part of it failed."""

from __future__ import annotations

from threading import Lock

from merestone.retrying import Timing
from merestone.types import EmbedderError, Vectors

_KEPT = 4096
_KEPT_SECONDS = 300.0


class RescuedVectors:
    """What a call gave that failed in part, by text: handed out once, and not for long."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._lock = Lock()
        self._held: dict[str, tuple[float, Vectors | EmbedderError]] = {}

    def keep(self, text: str, outcome: Vectors | EmbedderError) -> None:
        """Have the vector ready, or the error, should ``text`` be asked for again soon."""
        with self._lock:
            self._held.pop(text, None)
            if len(self._held) >= _KEPT:
                del self._held[next(iter(self._held))]
            self._held[text] = (self._timing.clock() + _KEPT_SECONDS, outcome)

    def take(self, text: str) -> Vectors | None:
        """The vector, or ``None``; raises the error if that is what the text gave."""
        with self._lock:
            until, outcome = self._held.pop(text, (0.0, None))
        if outcome is None or self._timing.clock() > until:
            return None
        if isinstance(outcome, EmbedderError):
            raise outcome
        return outcome
