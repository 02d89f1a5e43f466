"""From a question to ranked chunks and units: the stages that ``search`` and ``context`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from merestone.retrieval.candidates import KEPT, Candidate, Candidates, find_candidates
from merestone.retrieval.diversity import redundancies
from merestone.retrieval.duplicates import collapse
from merestone.retrieval.focus import FocusedUnit, focus_units
from merestone.retrieval.sides import Mode
from merestone.retrieval.trace import Trace
from merestone.types import (
    JSON,
    Chunk,
    Embedder,
    Filter,
    RetrievalSettings,
    Snapshot,
    Unit,
)


@dataclass(frozen=True, slots=True)
class Reread:
    """What a reranker says of a chunk, or of the best passage of it."""

    rank: int
    """From 1."""
    score: float
    """As the reranker gave it."""


class Signals(NamedTuple):
    """What is known of a hit without looking at any other; see ``retrieval.relevance``."""

    words: float
    """Share of what the question's words weigh that stands in the chunk, its headings or its
    context, 0 to 1."""
    near: float
    """The share that stands in one unit, its neighbours, and the headings."""
    likeness: float | None
    """How alike the vectors are, where 0 is unrelated and 1 related; see ``embedding.likeness``.
    ``None``: not compared, or on no known scale."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk in its place."""

    candidate: Candidate
    chunk: Chunk
    score: float
    units: tuple[FocusedUnit, ...] = ()
    """Best first; without focus the chunk as a whole."""
    also: tuple[Chunk, ...] = ()
    """Near-duplicates that were dropped for it."""
    reread: Reread | None = None
    """``None``: no reranker was asked about it, or it had no answer."""
    signals: Signals | None = None
    relevance: float | None = None
    """``None``: it was not judged, or can't be."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates of a question, best first."""

    found: Candidates
    ranked: tuple[Ranked, ...]
    units: tuple[FocusedUnit, ...]
    """Of all of them, best first."""
    collapsed: Mapping[str, str] = field(default_factory=dict)
    """Chunk id → id of the chunk that it was dropped for."""
    dropped: tuple[Ranked, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be ranked."""

    query: str
    k: int
    """Chunks that are wanted; more are looked at."""
    mode: Mode
    where: Filter | None = None
    least: int = 0
    """Chunks that are found at least, if there are so many that are permitted and no copies."""


class Ranker(Protocol):
    """A way to a ranking that comes to what :func:`rank` gives; it may have found it before."""

    def __call__(
        self,
        snapshot: Snapshot,
        embedder: Embedder,
        settings: RetrievalSettings,
        request: Request,
        trace: Trace,
    ) -> Ranking: ...


def rank(
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RetrievalSettings,
    request: Request,
    trace: Trace,
) -> Ranking:
    """The candidates for what is asked, by their best unit, copies collapsed."""
    with trace.stage("candidates") as entry:
        found = find_candidates(
            snapshot,
            embedder,
            request.query,
            request.k,
            request.mode,
            request.where,
            settings,
        )
        entry.update(
            mode=found.mode,
            terms=list(found.terms),
            found=dict(found.found),
            dense_weight=settings.dense_weight,
        )
    return arrange(snapshot, found, settings, request.least, trace)


def arrange(
    snapshot: Snapshot, found: Candidates, settings: RetrievalSettings, least: int, trace: Trace
) -> Ranking:
    """The ranking of candidates that were found."""
    with trace.stage("read"):
        chunks = snapshot.by_number([item.number for item in found.ranked])
        pairs = [(item, chunks[item.number]) for item in found.ranked if item.number in chunks]
        # Numbers tell in which order things were stored, which should decide nothing.
        pairs.sort(key=lambda pair: (-pair[0].score, pair[1].document, pair[1].ordinal))
    with trace.stage("focus") as entry:
        entry["on"] = settings.focus
        weight = settings.dense_weight
        units = focus_units(pairs, found.terms, weight) if settings.focus else _wholes(pairs)
        entry["units"] = len(units)
    if settings.mmr < 1:
        with trace.stage("diversity") as entry:
            entry["mmr"] = settings.mmr
            units = _diverse(snapshot, units, settings.mmr)
    ranked = _by_best_unit(pairs, units)
    collapsed: dict[str, str] = {}
    if settings.collapse:
        with trace.stage("collapse") as entry:
            ranked, collapsed = _collapsed(snapshot, found, ranked, least)
            entry["dropped"] = len(collapsed)
    return Ranking(
        found,
        tuple(each for each in ranked if each.chunk.id not in collapsed),
        tuple(unit for unit in units if unit.chunk.id not in collapsed),
        collapsed,
        tuple(each for each in ranked if each.chunk.id in collapsed),
    )


def _wholes(pairs: Sequence[tuple[Candidate, Chunk]]) -> tuple[FocusedUnit, ...]:
    return tuple(
        FocusedUnit(item, chunk, Unit(chunk.start, chunk.end, "sentence", "", 0, 0), item.score, ())
        for item, chunk in pairs
    )


def _diverse(
    snapshot: Snapshot, units: Sequence[FocusedUnit], weight: float
) -> tuple[FocusedUnit, ...]:
    """Units with what their chunk has in common with those that rank above taken off."""
    best: dict[int, float] = {}
    for unit in units:
        best.setdefault(unit.candidate.number, unit.score)
    alike = redundancies(snapshot.vectors(list(best)), best, weight)
    scored = [
        unit._replace(score=weight * unit.score - (1 - weight) * alike[unit.candidate.number])
        for unit in units
    ]
    return tuple(sorted(scored, key=lambda unit: -unit.score))


def _by_best_unit(
    pairs: Sequence[tuple[Candidate, Chunk]], units: Sequence[FocusedUnit]
) -> list[Ranked]:
    """The chunks by their best unit. One all of whose units another chunk has too comes last."""
    own: dict[int, list[FocusedUnit]] = {}
    for unit in units:
        own.setdefault(unit.candidate.number, []).append(unit)
    by_number = {item.number: (item, chunk) for item, chunk in pairs}
    first = [
        Ranked(*by_number[number], found[0].score, tuple(found)) for number, found in own.items()
    ]
    return first + [
        Ranked(item, chunk, min(0.0, item.score)) for item, chunk in pairs if item.number not in own
    ]


def _collapsed(
    snapshot: Snapshot, found: Candidates, ranked: list[Ranked], least: int
) -> tuple[list[Ranked], dict[str, str]]:
    """``ranked`` without copies, filled up from the candidates behind as far as needed."""
    ranked = list(ranked)
    dropped = collapse([each.chunk for each in ranked], found.terms)
    rest = list(found.rest)
    while rest and len(ranked) - len(dropped) < least:
        part, rest = rest[:KEPT], rest[KEPT:]
        chunks = snapshot.by_number([item.number for item in part])
        ranked += [Ranked(item, chunks[item.number], 0.0) for item in part if item.number in chunks]
        dropped = collapse([each.chunk for each in ranked], found.terms)
    also: dict[str, list[Chunk]] = {}
    for each in ranked:
        if each.chunk.id in dropped:
            also.setdefault(dropped[each.chunk.id], []).append(each.chunk)
    named = [
        replace(each, also=tuple(also[each.chunk.id])) if each.chunk.id in also else each
        for each in ranked
    ]
    return named, dropped


def reference(chunk: Chunk) -> str:
    """The chunk's place as ``show`` and ``resolve`` take it."""
    return f"{chunk.document}#{chunk.start}-{chunk.end}"


def row(each: Ranked, place: int) -> dict[str, JSON]:
    """What a trace says of a candidate."""
    item = each.candidate
    best = each.units[0] if each.units else None
    return {
        "chunk": each.chunk.id,
        "document": each.chunk.document,
        "rank": place,
        "score": round(each.score, 6),
        "fused": round(item.score, 6),
        "dense": {"rank": item.dense_rank, "score": item.dense_score},
        "lexical": {"rank": item.lexical_rank, "score": item.lexical_score},
        "focus": None
        if best is None
        else {
            "start": best.unit.start,
            "end": best.unit.end,
            "signals": [round(value, 6) for value in best.signals],
        },
        "rerank": None
        if each.reread is None
        else {"rank": each.reread.rank, "score": each.reread.score},
        "relevance": None
        if each.signals is None
        else {"value": each.relevance, **each.signals._asdict()},
        "also": [reference(chunk) for chunk in each.also],
    }
