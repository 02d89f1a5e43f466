"""The spans of a cutting, whoever cut, in order and ready to be asked about places."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from merestone.types import JSON, Chunk, ContextSpan, Cutting, SettingsError, Span

AnySpan = Chunk | Mapping[str, JSON] | Sequence[int]
"""A chunk; a mapping with ``start`` and ``end``; or a pair of offsets."""


class Passage(NamedTuple):
    """``text[start:end]`` of a document, with what is known of it."""

    start: int
    end: int
    tokens: int | None = None
    """Of the embedder input, as whoever cut counted."""
    context: tuple[ContextSpan, ...] = ()


def passages_of(spans: Cutting | Iterable[AnySpan], length: int) -> list[Passage]:
    """Passages of a document of ``length`` code points, by start and then by end.

    Raises ``SettingsError`` for a range outside the text; empty ranges are left out.
    """
    items = spans.chunks if isinstance(spans, Cutting) else spans
    if not isinstance(items, Iterable):
        raise _no_span(items)
    found = sorted(map(_passage, items), key=lambda passage: passage[:2])
    for passage in found:
        if not 0 <= passage.start <= passage.end <= length:
            raise SettingsError(
                "span-outside-text",
                f"A chunk has the range {passage.start}-{passage.end}, but the document has "
                f"{length} characters.",
                "Give offsets in code points of the document's text.",
            )
    return [passage for passage in found if passage.start < passage.end]


def _passage(span: AnySpan) -> Passage:
    if isinstance(span, Chunk):
        return Passage(span.start, span.end, span.tokens, span.context)
    try:
        if isinstance(span, Mapping):
            found = Passage(span["start"], span["end"], span.get("tokens"))
        else:
            found = Passage(span[0], span[1])
    except (TypeError, KeyError, IndexError) as error:
        raise _no_span(span) from error
    if not isinstance(found.start, int) or not isinstance(found.end, int):
        raise _no_span(span)
    return found


def _no_span(value: object) -> SettingsError:
    return SettingsError(
        "invalid-span",
        f"{str(value)[:80]!r} is not a range of a text.",
        "Give chunks, mappings with start and end, or pairs of offsets in code points.",
    )


class Places:
    """Which ranges of a text are held by passages. Each question costs a binary search."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """``passages`` are in order of their starts."""
        self._passages = passages
        self._starts = [passage.start for passage in passages]
        self._reach = list(accumulate((passage.end for passage in passages), max))
        """By index: the largest end up to there."""

    def holds(self, start: int, end: int) -> bool:
        """True if one passage holds all of ``[start, end)``."""
        last = bisect_right(self._starts, start)
        return last > 0 and self._reach[last - 1] >= end

    def touches(self, start: int, end: int) -> bool:
        """True if a passage holds any of ``[start, end)``."""
        last = bisect_left(self._starts, end)
        return last > 0 and self._reach[last - 1] > start

    def first_reaching(self, offset: int) -> int | None:
        """Index of the first passage that ends behind ``offset``."""
        index = bisect_right(self._reach, offset)
        return index if index < len(self._reach) else None

    def overlapping(self, ranges: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
        """For each of ``ranges``, in order of their starts, the passages that share a character
        with it, as ascending indexes."""
        active: list[int] = []
        following = 0
        for start, end in ranges:
            while following < len(self._passages) and self._starts[following] < end:
                active.append(following)
                following += 1
            active = [index for index in active if self._passages[index].end > start]
            yield [index for index in active if self._starts[index] < end]


def merged(ranges: Iterable[tuple[int, int]]) -> list[Span]:
    """The same characters as ``ranges``, which are in order of starts, in ranges apart."""
    found: list[Span] = []
    for start, end in ranges:
        if found and start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, end))
        else:
            found.append(Span(start, end))
    return found
