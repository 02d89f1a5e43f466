"""Ranges of a text: put together, and shortened to what is worth keeping."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]


def merged(ranges: Iterable[Range], gap: int = 0) -> list[Range]:
    """``ranges`` in order, those as one that overlap, touch or have at most ``gap`` between."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if found and start <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def ends_of(start: int, end: int, longest: int) -> list[Range]:
    """The range, or of one that is longer than ``longest`` its beginning and its end."""
    if end - start <= longest:
        return [(start, end)]
    return [(start, start + longest * 2 // 3), (end - longest // 3, end)]


def widened(span: Range, by: int, length: int) -> Range:
    """``span`` with as much on each side, inside of a text of this length."""
    return max(span[0] - by, 0), min(span[1] + by, length)
