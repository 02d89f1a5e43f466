"""Which characters of documents are covered, as intervals."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping

Place = tuple[str, int, int]
"""A document's id, and ``document.text[start:end]``."""


class Coverage:
    """Characters of documents, each once: per document disjoint intervals in ascending order.

    Intervals that overlap or touch are one. With ``texts``, the text of each document by its id,
    so are intervals with nothing but white space between them, and that space is covered.
    """

    def __init__(self, places: Iterable[Place], texts: Mapping[str, str] | None = None) -> None:
        by_document: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for document, start, end in places:
            if start < end:
                by_document[document].append((start, end))
        self._intervals = {
            document: _joined(sorted(intervals), (texts or {}).get(document, ""))
            for document, intervals in by_document.items()
        }
        self._starts = {
            document: [start for start, _ in intervals]
            for document, intervals in self._intervals.items()
        }

    @property
    def size(self) -> int:
        """In characters."""
        return sum(end - start for document, start, end in self.places)

    @property
    def places(self) -> list[Place]:
        """The intervals, by document."""
        return [
            (document, start, end)
            for document, intervals in self._intervals.items()
            for start, end in intervals
        ]

    def shared(self, place: Place) -> int:
        """How many characters of a place are covered."""
        document, start, end = place
        intervals = self._intervals.get(document, ())
        found = 0
        for number in range(self._first(document, start), len(intervals)):
            low, high = intervals[number]
            if low >= end:
                break
            found += max(0, min(high, end) - max(low, start))
        return found

    def holds(self, place: Place) -> bool:
        """True if one interval holds the place whole."""
        document, start, end = place
        number = self._first(document, start)
        intervals = self._intervals.get(document, ())
        return (
            number < len(intervals) and intervals[number][0] <= start < end <= intervals[number][1]
        )

    def _first(self, document: str, start: int) -> int:
        """The number of the last interval that starts at or before ``start``, at least 0."""
        return max(0, bisect_right(self._starts.get(document, ()), start) - 1)


def _joined(intervals: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in intervals:
        if joined and (start <= joined[-1][1] or text[joined[-1][1] : start].isspace()):
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
