"""Cutting at separators, strongest first, and merging what is small: the method that textbooks
call recursive."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypedDict

from merestone.chunking.limits import check_plain_sizes
from merestone.text.graphemes import grapheme_boundary_before
from merestone.text.white_space import stripped
from merestone.types import SEPARATORS, SettingsError, Span


class RecursiveChunk(TypedDict):
    """``text`` is ``source[start:end]``, in code points."""

    start: int
    end: int
    text: str


Sizes = tuple[int, ...]
"""Of one span by each measure, such as tokens and code points."""


class Splitter:
    """Cuts spans of one text until each is within ``limits``.

    ``measure`` gives the sizes of many spans at once, one number for each limit. Neighbours are
    merged up to the limits; each chunk begins with parts of the one before of at most ``overlaps``.
    """

    def __init__(
        self,
        text: str,
        measure: Callable[[Sequence[Span]], list[Sizes]],
        limits: Sizes,
        overlaps: Sizes,
        separators: Sequence[str],
    ) -> None:
        self._text = text
        self._measure = measure
        self._limits = limits
        self._overlaps = overlaps
        self._separators = tuple(separators)

    def chunks(self, start: int, end: int) -> list[tuple[Span, int]]:
        """Spans of ``text[start:end]`` and for each the index of the separator it begins at."""
        found: list[tuple[Span, int]] = []
        self._cut(Span(start, end), 0, found)
        return found

    def _cut(self, span: Span, level: int, found: list[tuple[Span, int]]) -> None:
        """Append the chunks of ``span``. Calls itself once for each separator at most."""
        level, parts = self._parts(span, level)
        small: list[Span] = []
        sizes: list[Sizes] = []
        for part, size in zip(parts, self._measure(parts), strict=True):
            if not _above(size, self._limits):
                small.append(part)
                sizes.append(size)
                continue
            found.extend((merged, level) for merged in self._merged(small, sizes))
            small, sizes = [], []
            if level + 1 < len(self._separators):
                self._cut(part, level + 1, found)
            else:
                found.append((part, level))
        found.extend((merged, level) for merged in self._merged(small, sizes))

    def _parts(self, span: Span, level: int) -> tuple[int, list[Span]]:
        """``span`` cut before each of the first separator from ``level`` on that it holds."""
        for index in range(level, len(self._separators)):
            separator = self._separators[index]
            if not separator:
                return index, self._anywhere(span)
            inside = re.finditer(re.escape(separator), self._text[span.start : span.end])
            offsets = [span.start + match.start() for match in inside]
            if offsets:
                cuts = [span.start, *(offset for offset in offsets if offset > span.start)]
                ends = [*cuts[1:], span.end]
                return index, [Span(*pair) for pair in zip(cuts, ends, strict=True)]
        return len(self._separators) - 1, [span]

    def _anywhere(self, span: Span) -> list[Span]:
        """Pieces within the limits, cut between graphemes where one fits."""
        found: list[Span] = []
        start, step = span.start, self._limits[-1]
        while start < span.end:
            high = min(span.end, start + step)
            while True:
                cut = high if high == span.end else grapheme_boundary_before(self._text, high)
                cut = cut if cut > start else high
                if cut - start == 1 or not _above(
                    self._measure([Span(start, cut)])[0], self._limits
                ):
                    break
                high = start + max(1, (cut - start) // 2)
            found.append(Span(start, cut))
            start = cut
        return found

    def _merged(self, parts: Sequence[Span], sizes: Sequence[Sizes]) -> list[Span]:
        """Neighbours put together up to the limits, with overlap."""
        found: list[Span] = []
        first, total = 0, (0,) * len(self._limits)
        for index, size in enumerate(sizes):
            if first < index and _above(_sum(total, size), self._limits):
                found.append(Span(parts[first].start, parts[index - 1].end))
                while first < index and (
                    _above(total, self._overlaps) or _above(_sum(total, size), self._limits)
                ):
                    total = tuple(a - b for a, b in zip(total, sizes[first], strict=True))
                    first += 1
            total = _sum(total, size)
        if first < len(parts):
            found.append(Span(parts[first].start, parts[-1].end))
        return found


def recursive_chunks(
    text: str, size: int, overlap: int = 0, separators: Sequence[str] = SEPARATORS
) -> list[RecursiveChunk]:
    """Cut ``text`` at the strongest separator that gives parts of at most ``size`` code points,
    and merge small neighbours up to it; each chunk repeats up to ``overlap`` of the one before.

    A separator stays with what follows it; ``""`` allows a cut between any two graphemes, and
    without it a part may be larger. White space around a chunk is left out, and so is a chunk
    that then lies within the next. Raises
    :class:`SettingsError`, a ``ValueError``, unless ``size`` is at least 1 and
    ``0 <= overlap < size``.
    """
    check_plain_sizes(text, size, overlap)
    if not isinstance(separators, list | tuple) or not all(
        isinstance(each, str) for each in separators
    ):
        raise SettingsError(
            "invalid-window", f"separators = {separators!r} is no list of str.", "Give a list."
        )

    def measure(spans: Sequence[Span]) -> list[Sizes]:
        return [(span.end - span.start,) for span in spans]

    splitter = Splitter(text, measure, (size,), (overlap,), tuple(separators) or ("",))
    found: list[RecursiveChunk] = []
    for (low, high), _ in splitter.chunks(0, len(text)):
        start, end = stripped(text, low, high)
        # Without the white space around them one may lie within the other.
        while found and start <= found[-1]["start"] and found[-1]["end"] <= end:
            found.pop()
        if start < end and (not found or found[-1]["end"] < end):
            found.append({"start": start, "end": end, "text": text[start:end]})
    return found


def _sum(one: Sizes, other: Sizes) -> Sizes:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _above(size: Sizes, limits: Sizes) -> bool:
    return any(a > b for a, b in zip(size, limits, strict=True))
