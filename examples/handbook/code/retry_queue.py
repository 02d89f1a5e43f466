"""Sending of readings with retries, as the Pierbox gateway does it.

Readings are put into a queue on disk and sent in batches. A reading leaves the queue only when
the cloud has confirmed it, so a power cut between sending and confirming sends it twice; the
cloud knows readings by serial number and time and drops the second copy.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

BATCH_SIZE = 200
"""Readings in one request. The cloud refuses more than 500."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0


@dataclass(frozen=True)
class Reading:
    """One counter value of one meter."""

    serial: str
    meter: str
    time: int
    """Seconds since 1970, UTC."""
    value: float
    """Kilowatt-hours or cubic metres, as the meter counts."""


class QueueFullError(Exception):
    """The queue holds as many readings as the card has room for."""


class ReadingQueue:
    """Readings that wait to be sent, oldest first, one JSON object a line.

    ``limit`` is the largest number of readings. At one reading every 15 minutes from six meters,
    23,040 readings are 40 days.
    """

    def __init__(self, path: Path, limit: int = 23_040) -> None:
        self.path = path
        self.limit = limit
        self._waiting: list[Reading] = list(self._load())

    def _load(self) -> Iterator[Reading]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield Reading(**json.loads(line))
            except (ValueError, TypeError):
                # The last line can be cut short by a power cut. Nothing after it exists.
                return

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, reading: Reading) -> None:
        """Append a reading.

        Raises :class:`QueueFullError` if the limit is reached. The caller then switches to one
        reading an hour instead of dropping the oldest, since invoices need the first and the last
        value.
        """
        if len(self._waiting) >= self.limit:
            raise QueueFullError(f"{self.limit} readings are waiting")
        self._waiting.append(reading)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(reading)) + "\n")

    def batch(self) -> list[Reading]:
        """The oldest readings, up to ``BATCH_SIZE``."""
        return self._waiting[:BATCH_SIZE]

    def confirm(self, count: int) -> None:
        """Drop the ``count`` oldest readings, after the cloud has confirmed them."""
        self._waiting = self._waiting[count:]
        temporary = self.path.with_suffix(".new")
        lines = (json.dumps(asdict(reading)) + "\n" for reading in self._waiting)
        temporary.write_text("".join(lines), encoding="utf-8")
        temporary.replace(self.path)


def pause_before(attempt: int, retry_after: float | None = None) -> float:
    """Seconds to wait before a further try; ``attempt`` counts from 1.

    The pause doubles with each try up to five minutes. A random share of up to a fifth is added,
    so that the units of a marina don't all come back in the same second after an outage. A value
    that the server names in ``Retry-After`` is used as it is, without the random share.
    """
    if retry_after is not None:
        return retry_after
    pause: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1))
    return pause * (1 + random.random() / 5)


def send_all(
    queue: ReadingQueue,
    post: Callable[[list[Reading]], tuple[int, float | None]],
    sleep: Callable[[float], None],
    max_retries: int = 5,
) -> int:
    """Send everything in the queue and return how many readings were confirmed.

    ``post`` sends one batch and returns the HTTP status and the value of ``Retry-After``. Status
    429 and 503 are tried again, at most ``max_retries`` times in a row; every success starts the
    count anew. Any other failure ends the run and leaves the readings in the queue.
    """
    sent = 0
    attempt = 0
    while batch := queue.batch():
        status, retry_after = post(batch)
        if status == 202:
            queue.confirm(len(batch))
            sent += len(batch)
            attempt = 0
            continue
        attempt += 1
        if status not in (429, 503) or attempt > max_retries:
            break
        sleep(pause_before(attempt, retry_after))
    return sent
