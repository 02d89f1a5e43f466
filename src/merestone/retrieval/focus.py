"""Which sentence, row or line of a candidate answers.

The units of all candidates are scored together by the equal-weight mean of min-max-scaled signals:
what the dense and the lexical side say of the chunk, BM25 of the unit, and BM25 of the unit with
its neighbours (Robertson and Zaragoza 2009, section 3). Nothing is embedded or read for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from operator import mul
from typing import NamedTuple

from merestone.retrieval.candidates import Candidate
from merestone.retrieval.question_words import telling
from merestone.retrieval.units import ReadUnits, units_of
from merestone.types import Chunk, Unit

_K1 = 1.2
_B = 0.75
_UNIT_TERMS = 15
"""Mean terms of a unit, fixed, so that a score does not depend on the other candidates' lengths."""
_NEIGHBOUR_TERMS = 45
_QUESTION = 0.5
"""What the words of a sentence count that is a question itself."""


class FocusedUnit(NamedTuple):
    """A unit of a candidate with its score, 0 to 1 within one query."""

    candidate: Candidate
    chunk: Chunk
    unit: Unit
    score: float
    signals: tuple[float, ...]
    """Before scaling: of the unit, of it with its neighbours, and of the sides that were asked."""


def focus_units(
    candidates: Sequence[tuple[Candidate, Chunk]],
    terms: Sequence[str],
    dense_weight: float = 0.5,
) -> tuple[FocusedUnit, ...]:
    """Every unit of the candidates, best first; equal scores in the order of the candidates.
    ``dense_weight`` is what the dense side's signal counts of both sides' together.

    A range that two chunks share, such as an overlap, counts once, for the better candidate.
    """
    read = [units_of(chunk) for _, chunk in candidates]
    asked = dict.fromkeys(telling(terms))
    places = [units.places(asked) for units in read]
    weights = _weights(places, asked)
    sides = [name for name in ("dense", "lexical") if _is_known(candidates, name)]
    seen: set[tuple[str, int, int]] = set()
    rows: list[tuple[Candidate, Chunk, Unit]] = []
    signals: list[tuple[float, ...]] = []
    for (item, chunk), units, held in zip(candidates, read, places, strict=True):
        own, near = _bm25(units, held, weights)
        of_chunk = tuple(_side(item, name) or 0.0 for name in sides)
        for place, unit in enumerate(units.units):
            key = (chunk.document, unit.start, unit.end)
            if key not in seen:
                seen.add(key)
                rows.append((item, chunk, unit))
                signals.append((own[place], near[place], *of_chunk))
    shares = (2 * dense_weight, 2 - 2 * dense_weight) if len(sides) > 1 else (1.0,) * len(sides)
    scores = _means([_scaled(values) for values in zip(*signals, strict=True)], (1.0, 1.0, *shares))
    found = [
        FocusedUnit(*row, score, values)
        for row, score, values in zip(rows, scores, signals, strict=True)
    ]
    found.sort(key=lambda each: -each.score)
    return tuple(found)


def _side(item: Candidate, name: str) -> float | None:
    return item.dense_score if name == "dense" else item.lexical_score


def _is_known(candidates: Sequence[tuple[Candidate, Chunk]], name: str) -> bool:
    return any(_side(item, name) is not None for item, _ in candidates)


def _weights(
    places: Sequence[Mapping[str, Sequence[int]]], terms: Iterable[str]
) -> dict[str, float]:
    """Inverse document frequency of each term over the candidate chunks."""
    total = len(places)
    found = {}
    for term in terms:
        holders = sum(term in held for held in places)
        if holders:
            found[term] = log(1 + (total - holders + 0.5) / (holders + 0.5))
    return found


def _bm25(
    units: ReadUnits, places: Mapping[str, Sequence[int]], weights: Mapping[str, float]
) -> tuple[list[float], list[float]]:
    """BM25 of each unit, and of each with the units before and behind it as one text."""
    own, near = [0.0] * len(units.units), [0.0] * len(units.units)
    if not places:
        return own, near
    lengths, beside, around = units.lengths, units.beside, units.lengths_near
    for term, weight in weights.items():
        if term not in places:
            continue
        times: dict[int, int] = {}
        together: dict[int, int] = {}
        for place in places[term]:
            times[place] = times.get(place, 0) + 1
            for at in beside[place]:
                together[at] = together.get(at, 0) + 1
        for at, count in times.items():
            own[at] += weight * _saturated(count, lengths[at] / _UNIT_TERMS)
        for at, count in together.items():
            near[at] += weight * _saturated(count, around[at] / _NEIGHBOUR_TERMS)
    for at in units.asks:
        own[at] *= _QUESTION
        near[at] *= _QUESTION
    return own, near


def _saturated(times: int, length: float) -> float:
    return times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * length))


def _scaled(values: Sequence[float]) -> list[float]:
    """``values`` from 0 to 1. Where they are equal they tell nothing and are 0, unless there is
    one value alone, which is the best there is."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    spread = high - low
    if spread > 0:
        return [(value - low) / spread for value in values]
    return [float(len(values) == 1 and high > 0)] * len(values)


def _means(columns: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [sum(map(mul, row, weights)) / total for row in zip(*columns, strict=True)]
