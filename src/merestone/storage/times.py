"""Dates and moments as ISO 8601 writes them, and what comes before what.

Whatever is compared is a stretch of time: a year, a month, a day, or a moment without length. Of
two stretches one lies wholly before the other, or one holds the other, which counts as equal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_WRITTEN = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?:[T ](?P<time>\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)"
    r"\s?(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?)?)?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST = 40
"""No text of more characters is a date."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """From ``start`` to ``end``, which is part of it only if both are one moment."""

    start: datetime
    """Without a zone, as clocks on the spot showed it."""
    end: datetime
    zone: timedelta | None = None
    """How far those clocks were ahead of UTC; ``None``: not said."""

    def order(self, other: Stretch) -> int:
        """Below 0: it lies before ``other``; 0: one holds the other; above 0: it lies after.

        In time where both say their zone, else by the clock: a day is the day on the spot.
        """
        start, end, first, last = self.start, self.end, other.start, other.end
        if self.zone is not None and other.zone is not None:
            shift = self.zone - other.zone
            first, last = _moved(first, shift), _moved(last, shift)
        if start == end and first == last:
            return (start > first) - (start < first)
        if start == end:
            return -1 if start < first else int(start >= last)
        if first == last:
            return 1 if first < start else -int(first >= end)
        return -1 if end <= first else int(last <= start)


def _moved(moment: datetime, shift: timedelta) -> datetime:
    try:
        return moment + shift
    except OverflowError:
        return datetime.max if shift > timedelta(0) else datetime.min


def read_time(text: str) -> Stretch | None:
    """The month, day or moment that ``text`` is in ISO 8601; ``None`` if it is none."""
    if not 7 <= len(text) <= LONGEST or text[4] != "-":
        return None
    found = _quickly(text)
    if found is not None:
        return found
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        return None
    year, month = int(match["year"]), int(match["month"])
    try:
        if match["day"] is None:
            start = datetime(year, month, 1)
            following = (year, month + 1) if month < 12 else (year + 1, 1)
            return Stretch(start, _begin(*following))
        day = datetime(year, month, int(match["day"]))
        if match["time"] is None:
            return Stretch(day, _moved(day, timedelta(days=1)))
        moment = _at(day, match["time"].replace(",", "."))
        return Stretch(moment, moment, _zone(match["zone"]))
    except ValueError:
        return None


def _quickly(text: str) -> Stretch | None:
    """A moment that the standard library can read, which takes a tenth of the time."""
    if len(text) < 16 or text[7] != "-":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    bare = moment.replace(tzinfo=None)
    return Stretch(bare, bare, moment.utcoffset())


def year(number: int) -> Stretch | None:
    """The whole year; ``None`` if there is none of that number."""
    if not 1 <= number <= 9999:
        return None
    return Stretch(datetime(number, 1, 1), _begin(number + 1, 1))


def written(nanoseconds: int) -> str:
    """A moment since 1970 as ISO 8601 in UTC; empty for one that no calendar has."""
    try:
        moment = _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return ""
    return moment.isoformat()


def _begin(year: int, month: int) -> datetime:
    return datetime(year, month, 1) if year <= 9999 else datetime.max


def _at(day: datetime, time: str) -> datetime:
    """A moment of the day; ``ValueError`` if it has none such."""
    hours, minutes, *rest = time.split(":")
    seconds = float(rest[0]) if rest else 0.0
    # 24:00 is the end of the day, and a leap second is the second after.
    is_beyond = int(hours) == 24 and (int(minutes) > 0 or seconds > 0)
    if int(hours) > 24 or int(minutes) > 59 or seconds >= 61 or is_beyond:
        raise ValueError(time)
    return _moved(day, timedelta(hours=int(hours), minutes=int(minutes), seconds=seconds))


def _zone(text: str | None) -> timedelta | None:
    """Of ``Z`` or ``+hh:mm``; ``None`` if nothing is said, ``ValueError`` if there is no such."""
    if text is None:
        return None
    if text in "Zz":
        return timedelta(0)
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if hours > 23 or minutes > 59:
        raise ValueError(text)
    ahead = timedelta(hours=hours, minutes=minutes)
    return -ahead if text[0] == "-" else ahead
