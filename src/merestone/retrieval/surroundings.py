"""What stands around a unit in its document, read chunk by chunk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from merestone.retrieval.units import units_of
from merestone.types import Chunk, Snapshot, Unit


class PlacedUnit(NamedTuple):
    """A unit with its text and the chunk that holds it."""

    unit: Unit
    text: str
    chunk: Chunk


class Surroundings:
    """Neighbouring chunks of one snapshot's documents, each read once, by ordinal. What the asker
    may not see is not in the snapshot, and another document's chunks are never asked for."""

    def __init__(self, snapshot: Snapshot, known: Iterable[Chunk]) -> None:
        self._snapshot = snapshot
        self._chunks = {(chunk.document, chunk.ordinal): chunk for chunk in known}
        self._bounds: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        """Starts and ends of the units of a chunk and those beside it."""

    def chunk(self, document: str, ordinal: int) -> Chunk | None:
        """The chunk of that ordinal, if the document has one."""
        found = self._chunks.get((document, ordinal))
        if found is None and ordinal >= 0:
            for found in self._snapshot.chunks_of(document, ordinal, ordinal):
                self._chunks[document, ordinal] = found
        return found

    def chunks(self, chunk: Chunk, start: int, end: int) -> list[Chunk]:
        """``chunk`` and those before and behind it, as far as ``[start, end)`` goes."""
        found = [chunk]
        while found[0].start > start:
            before = self.chunk(chunk.document, found[0].ordinal - 1)
            if before is None or before.end <= start:
                break
            found.insert(0, before)
        while found[-1].end < end:
            behind = self.chunk(chunk.document, found[-1].ordinal + 1)
            if behind is None or behind.start >= end:
                break
            found.append(behind)
        return found

    def units(self, chunk: Chunk, start: int, end: int) -> list[PlacedUnit]:
        """The units with a part in ``[start, end)`` in order, none twice where chunks overlap."""
        return placed(self.chunks(chunk, start, end), start, end)

    def between(self, chunk: Chunk, start: int, end: int, count: int) -> tuple[int, int]:
        """How far a range in ``chunk`` reaches with ``count`` more units on each side, as far as
        the chunks beside it were read already."""
        if not count:
            return start, end
        starts, ends = self._units_near(chunk)
        before = bisect_left(starts, start)
        behind = bisect_left(starts, end)
        return (
            starts[max(0, before - count)] if before else start,
            ends[min(len(ends), behind + count) - 1] if behind < len(ends) else end,
        )

    def _units_near(self, chunk: Chunk) -> tuple[list[int], list[int]]:
        key = (chunk.document, chunk.ordinal)
        if key not in self._bounds:
            near = [self._chunks.get((chunk.document, chunk.ordinal + step)) for step in (-1, 0, 1)]
            read = [one for one in near if one is not None]
            self._bounds[key] = _bounds(read)
        return self._bounds[key]


def _bounds(chunks: Sequence[Chunk]) -> tuple[list[int], list[int]]:
    """Starts and ends of the units of chunks that follow each other, none twice."""
    starts: list[int] = []
    ends: list[int] = []
    for chunk in chunks:
        for unit in units_of(chunk).units:
            if not ends or unit.start >= ends[-1]:
                starts.append(unit.start)
                ends.append(unit.end)
    return starts, ends


def placed(chunks: Sequence[Chunk], start: int, end: int) -> list[PlacedUnit]:
    """Units of chunks that follow each other."""
    found: list[PlacedUnit] = []
    for chunk in chunks:
        for unit in units_of(chunk).units:
            is_new = not found or unit.start >= found[-1].unit.end
            if is_new and unit.start < end and unit.end > start:
                text = chunk.text[unit.start - chunk.start : unit.end - chunk.start]
                found.append(PlacedUnit(unit, text, chunk))
    return found
