"""How long to wait before a service or a server is asked again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
LONGEST_RETRY_AFTER = 60.0
"""Who wants to be left alone for longer is not waited for."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Where time comes from; tests give their own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    wall: Callable[[], float] = time.time


def backoff(number: int) -> float:
    """Seconds before the next try: doubled each time, and spread so that callers part."""
    doubled: float = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (number - 1))
    return doubled * random.uniform(0.75, 1.25)


def wanted_wait(retry_after: str | None, wall: float) -> float | None:
    """Seconds that the header ``Retry-After`` asks for, a number or a date (RFC 9110, 10.2.3);
    ``None`` if it is not there or says neither. ``wall``: seconds since 1970."""
    if retry_after is None:
        return None
    try:
        # What is no finite number is no number of seconds.
        seconds = float(retry_after)
        return max(0.0, seconds) if seconds == seconds else None
    except ValueError:
        pass
    try:
        moment: float = parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, moment - wall)
