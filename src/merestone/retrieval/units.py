"""Units as focus sees them: the pieces of a chunk that can answer alone, with their terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from merestone.text.analysis import terms
from merestone.types import Chunk, Unit

_CHUNKS_KEPT = 1024
"""Chunks whose terms by unit are remembered: about 20 KB each."""

_CELLS = re.compile(r"[^\s|][^|\n]*\|[^|\n]*[^\s|]|\S[^\t\n]*\t+[^\t\n]*\S|\S {3,}\S+ {3,}\S")
"""A line that is a row of cells: parted by bars, by tabs, or by wide gaps that come twice."""

_QUESTION_MARKS = ("?", "？", "؟")


class ReadUnits(NamedTuple):
    """The units of a chunk and what they hold."""

    units: tuple[Unit, ...]
    lengths: tuple[int, ...]
    """Terms of each unit's own text."""
    places: Mapping[str, Sequence[int]]
    """Term → indexes of the units that hold it, one for each time."""
    terms: tuple[str, ...]
    """Of all units, in order."""
    near: tuple[tuple[int, ...], ...]
    """For each unit the indexes of those that it is read with: itself, the one before and the one
    behind; of a row its table's first row and what introduces the table."""
    asks: frozenset[int]
    """Sentences that are questions: they repeat the words of another question and answer none."""


def units_of(chunk: Chunk) -> ReadUnits:
    """The units of ``chunk`` in order. They tile it as ``chunk.units`` do, but a unit of several
    lines that are rows of cells becomes its rows, and one without a word goes with the one before.

    A chunk that was stored without units is one unit.
    """
    units = tuple(chunk.units) or (Unit(chunk.start, chunk.end, "sentence", "", 0, 0),)
    return _read(chunk.text, chunk.start, units)


@lru_cache(maxsize=_CHUNKS_KEPT)
def _read(text: str, offset: int, units: tuple[Unit, ...]) -> ReadUnits:
    found: list[Unit] = []
    lengths: list[int] = []
    places: dict[str, list[int]] = {}
    every: list[str] = []
    for unit in units:
        for part in _rows(text[unit.start - offset : unit.end - offset], unit):
            own = terms(text[part.start - offset : part.end - offset])
            if not own and found:
                found[-1] = found[-1]._replace(end=part.end)
                continue
            for term in own:
                places.setdefault(term, []).append(len(found))
            found.append(part)
            lengths.append(len(own))
            every += own
    asks = frozenset(
        at
        for at, unit in enumerate(found)
        if unit.kind == "sentence"
        and text[unit.start - offset : unit.end - offset].rstrip().endswith(_QUESTION_MARKS)
    )
    return ReadUnits(tuple(found), tuple(lengths), places, tuple(every), tuple(_near(found)), asks)


def _near(units: Sequence[Unit]) -> Iterator[tuple[int, ...]]:
    first = 0
    for at, unit in enumerate(units):
        if unit.kind != "table_row":
            yield tuple(range(max(0, at - 1), min(len(units), at + 2)))
            continue
        if at == 0 or units[at - 1].kind != "table_row" or _table(units[at - 1]) != _table(unit):
            first = at
        yield tuple(sorted({max(0, first - 1), first, at}))


def _table(unit: Unit) -> tuple[str, int]:
    return unit.around, unit.around_start


def _rows(text: str, unit: Unit) -> Sequence[Unit]:
    """The lines of a unit that is a table in a format that has none, as rows; else the unit."""
    if unit.kind != "sentence" or "\n" not in text.strip():
        return (unit,)
    lines = text.splitlines(keepends=True)
    rows = [line for line in lines if _CELLS.search(line)]
    if len(rows) < 2 or 2 * len(rows) < sum(map(bool, map(str.strip, lines))):
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
