"""Units as focus sees them: the pieces of a chunk that can answer alone, with their terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeAlias

from merestone.text.analysis import terms
from merestone.types import Chunk, Unit

_CHUNKS_KEPT = 4096
"""Chunks whose terms by unit are remembered: about 5 KB each."""

_CELLS = re.compile(r"[^\s|][^|\n]*\|[^|\n]*[^\s|]|\S[^\t\n]*\t+[^\t\n]*\S|\S {3,}\S+ {3,}\S")
"""A line that is a row of cells: parted by bars, by tabs, or by wide gaps that come twice."""
_PARTING = ("|", "\t", "   ")
"""One of these is in each such line."""

_QUESTION_MARKS = ("?", "？", "؟")


Groups: TypeAlias = tuple[tuple[int, ...], ...]


class ReadUnits:
    """The units of a chunk and what they hold."""

    def __init__(
        self, units: Sequence[Unit], ends: Sequence[int], terms: Sequence[str], asks: frozenset[int]
    ) -> None:
        self.units = tuple(units)
        self.terms = tuple(terms)
        """Of all units, in order."""
        self._ends = tuple(ends)
        """How many of the terms stand before the end of each unit."""
        self.asks = asks
        """Indexes of sentences that are questions: they repeat the words of another question and
        answer none."""

    @cached_property
    def holders(self) -> Mapping[str, Sequence[int]]:
        """Each different term → indexes of the units that hold it, one for each time."""
        found: dict[str, list[int]] = {}
        for at, (first, last) in enumerate(pairwise((0, *self._ends))):
            for term in self.terms[first:last]:
                if term in found:
                    found[term].append(at)
                else:
                    found[term] = [at]
        return found

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Terms of each unit's own text."""
        return tuple(after - before for before, after in pairwise((0, *self._ends)))

    @cached_property
    def near(self) -> Groups:
        """For each unit the indexes of those that it is read with: itself, the one before and the
        one behind; of a row its table's first row and what introduces the table."""
        if any(unit.kind == "table_row" for unit in self.units):
            return tuple(_near(self.units))
        return _in_a_row(len(self.units))

    @cached_property
    def beside(self) -> Groups:
        """For each unit the indexes of those that are read with it."""
        if self.near is _in_a_row(len(self.units)):
            return self.near
        found: list[list[int]] = [[] for _ in self.units]
        for at, group in enumerate(self.near):
            for each in group:
                found[each].append(at)
        return tuple(map(tuple, found))

    @cached_property
    def lengths_near(self) -> tuple[int, ...]:
        """Terms of each unit together with those that it is read with."""
        return tuple([sum([self.lengths[each] for each in group]) for group in self.near])

    def places(self, wanted: Iterable[str]) -> dict[str, Sequence[int]]:
        """Those of the wanted terms that stand here, as :attr:`holders` has them."""
        holders = self.holders
        return {term: holders[term] for term in wanted if term in holders}


@lru_cache(maxsize=_CHUNKS_KEPT)
def units_of(chunk: Chunk) -> ReadUnits:
    """The units of ``chunk`` in order. They tile it as ``chunk.units`` do, but a unit of several
    lines that are rows of cells becomes its rows, and one without a word goes with the one before.

    A chunk that was stored without units is one unit.
    """
    text, offset = chunk.text, chunk.start
    units = tuple(chunk.units) or (Unit(chunk.start, chunk.end, "sentence", "", 0, 0),)
    found: list[Unit] = []
    ends: list[int] = []
    every: list[str] = []
    for unit in units:
        for part in _rows(text[unit.start - offset : unit.end - offset], unit):
            own = terms(text[part.start - offset : part.end - offset])
            every += own
            if own or not found:
                found.append(part)
                ends.append(len(every))
            else:
                found[-1] = found[-1]._replace(end=part.end)
    asks = frozenset(
        at
        for at, unit in enumerate(found)
        if unit.kind == "sentence"
        and text[unit.start - offset : unit.end - offset].rstrip().endswith(_QUESTION_MARKS)
    )
    return ReadUnits(found, ends, every, asks)


@lru_cache(maxsize=_CHUNKS_KEPT)
def _in_a_row(count: int) -> Groups:
    """Each of so many with the one before and the one behind."""
    return tuple(tuple(range(max(0, at - 1), min(count, at + 2))) for at in range(count))


def _near(units: Sequence[Unit]) -> Iterator[tuple[int, ...]]:
    first = 0
    for at, unit in enumerate(units):
        if unit.kind != "table_row":
            yield _in_a_row(len(units))[at]
            continue
        if at == 0 or units[at - 1].kind != "table_row" or _table(units[at - 1]) != _table(unit):
            first = at
        yield tuple(sorted({max(0, first - 1), first, at}))


def _table(unit: Unit) -> tuple[str, int]:
    return unit.around, unit.around_start


def _rows(text: str, unit: Unit) -> Sequence[Unit]:
    """The lines of a unit that is a table in a format that has none, as rows; else the unit."""
    if unit.kind != "sentence" or "\n" not in text.strip() or not _has_cells(text):
        return (unit,)
    lines = text.splitlines(keepends=True)
    stripped = list(map(str.strip, lines))
    rows = [line for line in stripped if _has_cells(line) and _CELLS.search(line)]
    if len(rows) < 2 or 2 * len(rows) < sum(map(bool, stripped)):
        return (unit,)
    parts: list[Unit] = []
    start = unit.start
    for line in lines:
        end = start + len(line)
        if line.strip() or not parts:
            parts.append(Unit(start, end, "table_row", "table", unit.start, unit.end))
        else:
            parts[-1] = parts[-1]._replace(end=end)
        start = end
    return parts


def _has_cells(text: str) -> bool:
    """False for what holds nothing that parts cells."""
    return any(mark in text for mark in _PARTING)
