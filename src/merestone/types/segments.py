"""Where each piece of a document's text came from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import Any, Literal, NamedTuple, overload


class Span(NamedTuple):
    """A half-open range ``[start, end)`` of code points of a document's text."""

    start: int
    end: int


class SourceSpan(NamedTuple):
    """A half-open range of the source.

    ``page`` is ``None`` for a file whose characters are counted as a whole (after decoding, a
    byte order mark included); for a paged format it is the page number from 1, and the range
    counts characters of that page as the extractor's engine numbers them.
    """

    start: int
    end: int
    page: int | None = None


SegmentKind = Literal["copy", "replace", "insert", "delete"]


class Segment(NamedTuple):
    """One pair of ranges, text and source.

    ``copy``: the same characters, one to one. ``replace``: other characters stand for a source
    range (a decoded entity, a folded ligature). ``insert``: text without a source (a separator);
    its source range is empty. ``delete``: source without text; its text range is empty.
    """

    start: int
    end: int
    source_start: int
    source_end: int
    kind: SegmentKind
    page: int | None = None


class StoredSegments(Sequence[Segment]):
    """Segments that are made of what was stored when they are asked for: a document has thousands,
    and where one passage stands takes few. Equal to a tuple of the same segments."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        """Raises ``ValueError`` or ``TypeError`` for rows of another length."""
        if not set(map(len, rows)) <= {len(Segment._fields)}:
            raise ValueError("A segment has other fields.")
        self._rows = rows

    @overload
    def __getitem__(self, index: int) -> Segment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Segment, ...]: ...
    def __getitem__(self, index: int | slice) -> Segment | tuple[Segment, ...]:
        if isinstance(index, slice):
            return tuple(map(Segment._make, self._rows[index]))
        return Segment._make(self._rows[index])

    def __iter__(self) -> Iterator[Segment]:
        return map(Segment._make, self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, StoredSegments) else other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[type[tuple[Segment, ...]], tuple[tuple[Segment, ...]]]:
        return tuple, (tuple(self),)


@dataclass(frozen=True)
class Segments:
    """The map between a document's text and its source.

    ``items`` are in text order, without gaps, and tile the text. The source side need not be in
    order: a page footer can stand after the body in the text and before it on the page.
    """

    items: Sequence[Segment]

    @classmethod
    def identity(cls, length: int, source_offset: int = 0) -> Segments:
        """The map of a text that is its source; ``source_offset`` is 1 behind a byte order mark."""
        if length == 0:
            return cls(())
        return cls((Segment(0, length, source_offset, source_offset + length, "copy"),))

    @property
    def is_identity(self) -> bool:
        """True if the text is the source itself, character for character."""
        return len(self.items) <= 1 and all(
            item.kind == "copy" and item.page is None for item in self.items
        )

    def _overlapping(self, span: tuple[int, int]) -> Iterator[Segment]:
        if span[0] >= span[1]:
            return
        index = max(0, bisect_right(self.items, span[0], key=attrgetter("start")) - 1)
        while index > 0 and self.items[index - 1].end > span[0]:
            index -= 1
        for at in range(index, len(self.items)):
            item = self.items[at]
            if item.start >= span[1]:
                return
            if item.end > span[0]:
                yield item

    def to_source(self, span: tuple[int, int]) -> tuple[SourceSpan, ...]:
        """Source ranges that ``span`` of the text was made from, in text order.

        Ranges that touch, or are parted only by source that has no text, come as one. A span of
        inserted text alone has no source, nor has an empty one: the result is empty.
        """
        found: list[SourceSpan] = []
        for piece in self.source_pieces(span):
            start, end, page = piece
            previous = found[-1] if found else None
            if (
                previous is not None
                and previous.page == page
                and previous.end <= start
                and self._only_deleted(previous, start, page)
            ):
                found[-1] = SourceSpan(previous.start, end, page)
            else:
                found.append(piece)
        return tuple(found)

    def source_pieces(self, span: tuple[int, int]) -> Iterator[SourceSpan]:
        """As :meth:`to_source`, a range for each segment: quicker where only the first and the
        last place matter."""
        for item in self._overlapping(span):
            if item.kind == "insert" or item.kind == "delete":
                continue
            start, end = item.source_start, item.source_end
            if item.kind == "copy":
                start += max(0, span[0] - item.start)
                end -= max(0, item.end - span[1])
            yield SourceSpan(start, end, item.page)

    def _only_deleted(self, previous: SourceSpan, start: int, page: int | None) -> bool:
        """True if the source between two ranges that follow in the text holds no other text."""
        if previous.end == start:
            return True
        return not any(True for _ in self._touching(previous.end, start, page))

    def from_source(self, span: SourceSpan | tuple[int, int]) -> tuple[Span, ...]:
        """Spans of the text that stand for a source range; a plain pair means no page.

        Spans parted only by inserted text come as one, so a range of markup over two paragraphs
        gives one span with the separator between them. The spans are in text order and hold no
        text of other source; an empty range has none.
        """
        start, end, page = SourceSpan(*span)
        found: list[Span] = []
        joinable = -1  # index of the item that would go on where the last span ends
        for index in sorted(self._touching(start, end, page)):
            item = self._with_source[index]
            low, high = item.start, item.end
            if item.kind == "copy":
                low += max(0, start - item.source_start)
                high -= max(0, item.source_end - end)
            if index == joinable and low == item.start:
                found[-1] = Span(found[-1].start, high)
            else:
                found.append(Span(low, high))
            # Where the source is in another order, an item's end can be cut off before the next.
            joinable = index + 1 if high == item.end else -1
        return tuple(found)

    def _touching(self, start: int, end: int, page: int | None) -> Iterator[int]:
        """Indexes in ``_with_source`` of the items that share source with ``[start, end)``."""
        by_source = self._by_source.get(page)
        if by_source is None or start >= end:
            return
        first = bisect_right(by_source.reach, start)
        last = bisect_left(by_source.starts, end)
        for index in by_source.indexes[first:last]:
            if self._with_source[index].source_end > start:
                yield index

    @cached_property
    def _with_source(self) -> tuple[Segment, ...]:
        return tuple(item for item in self.items if item.kind in ("copy", "replace"))

    @cached_property
    def _by_source(self) -> dict[int | None, _SourceOrder]:
        pages: dict[int | None, list[int]] = {}
        for index, item in enumerate(self._with_source):
            pages.setdefault(item.page, []).append(index)
        orders: dict[int | None, _SourceOrder] = {}
        for page, indexes in pages.items():
            indexes.sort(key=lambda index: self._with_source[index].source_start)
            items = [self._with_source[index] for index in indexes]
            orders[page] = _SourceOrder(
                indexes,
                [item.source_start for item in items],
                list(accumulate((item.source_end for item in items), max)),
            )
        return orders


class _SourceOrder(NamedTuple):
    """The items of one page in the order of their source, so that a range is found by bisection."""

    indexes: list[int]
    starts: list[int]
    """Where the source of each begins, ascending."""
    reach: list[int]
    """Where the source of each and of all before it ends at the latest."""
