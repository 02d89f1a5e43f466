"""Finding chunks on two sides, by meaning and by words, and making one ranking of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from merestone.retrieval.asked import asked_terms, asked_text, quoted_phrases
from merestone.retrieval.sides import Mode, choose_sides
from merestone.types import Embedder, Filter, RetrievalSettings, Scored, Snapshot, Vectors

KEPT = 50
"""Candidates that go on to the later stages, or ``k`` if that is more."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk by number, with what each side says of it."""

    number: int
    score: float
    dense_rank: int | None
    dense_score: float | None
    """Looked up where the side did not find the chunk; ``None``: the side was not asked."""
    lexical_rank: int | None
    lexical_score: float | None


@dataclass(frozen=True, slots=True)
class Candidates:
    """A ranking, best first, and how it came about."""

    ranked: tuple[Candidate, ...]
    """Those that go on."""
    rest: tuple[Candidate, ...]
    """Those behind, in their order: they fill up where others turn out to be copies."""
    mode: Mode
    """What was done; differs from what was asked where a side was turned off."""
    terms: tuple[str, ...]
    notes: tuple[str, ...]
    found: Mapping[str, int]
    vector: Vectors | None = field(default=None, compare=False)
    """Of the question, float32 of shape ``(dimension,)``; ``None`` if meaning was not asked for."""


def find_candidates(
    snapshot: Snapshot,
    embedder: Embedder,
    query: str,
    k: int,
    mode: Mode,
    where: Filter | None,
    settings: RetrievalSettings,
) -> Candidates:
    """The best ``max(50, k)`` chunks for ``query`` among those that ``where`` lets through."""
    mode, notes = choose_sides(embedder, query, mode)
    terms, note = asked_terms(snapshot, query)
    if mode != "dense":
        notes += note
    searched = (*terms, *quoted_phrases(query))
    limit = max(settings.candidates, 2 * k)
    lexical: Sequence[Scored] = ()
    dense: Sequence[Scored] = ()
    vector: Vectors | None = None
    if mode != "dense" and terms:
        lexical = snapshot.lexical(searched, limit, where)
    if mode != "lexical":
        beginning, note = asked_text(embedder, query)
        notes += note
        vector = embedder.embed_queries([beginning])[0]
        dense = snapshot.dense(vector, limit, where)
    weight = {"hybrid": settings.dense_weight, "dense": 1.0, "lexical": 0.0}[mode]
    fused = fuse(dense, lexical, weight)
    kept = max(KEPT, k)
    ranked = fused[:kept]
    if settings.focus:
        ranked = _completed(snapshot, ranked, vector, searched if mode != "dense" else ())
    found = {"dense": len(dense), "lexical": len(lexical)}
    return Candidates(ranked, fused[kept:], mode, tuple(terms), notes, found, vector)


def _completed(
    snapshot: Snapshot,
    ranked: Sequence[Candidate],
    vector: Vectors | None,
    terms: Sequence[str],
) -> tuple[Candidate, ...]:
    """``ranked`` with the scores looked up that one side lacks."""
    dense: Mapping[int, float] = {}
    lexical: Mapping[int, float] = {}
    without = [item.number for item in ranked if item.dense_score is None]
    if vector is not None and without:
        dense = snapshot.dense_scores(vector, without)
    without = [item.number for item in ranked if item.lexical_score is None]
    if terms and without:
        # A chunk that holds none of the words is absent from the answer.
        lexical = dict.fromkeys(without, 0.0) | snapshot.lexical_scores(terms, without)
    return tuple(
        replace(
            item,
            dense_score=dense.get(item.number, item.dense_score),
            lexical_score=lexical.get(item.number, item.lexical_score),
        )
        for item in ranked
    )


def fuse(
    dense: Sequence[Scored], lexical: Sequence[Scored], dense_weight: float
) -> tuple[Candidate, ...]:
    """Weighted sum of min-max-scaled scores over the union of both sides; a side that lacks a
    chunk counts 0. Both are best first; equal sums keep the order of chunk numbers."""
    scaled = (_scaled(dense), _scaled(lexical))
    places = tuple(
        {item.number: rank for rank, item in enumerate(side, 1)} for side in (dense, lexical)
    )
    raw = tuple({item.number: item.score for item in side} for side in (dense, lexical))
    candidates = [
        Candidate(
            number,
            dense_weight * scaled[0].get(number, 0.0)
            + (1 - dense_weight) * scaled[1].get(number, 0.0),
            places[0].get(number),
            raw[0].get(number),
            places[1].get(number),
            raw[1].get(number),
        )
        for number in places[0].keys() | places[1].keys()
    ]
    return tuple(sorted(candidates, key=lambda item: (-item.score, item.number)))


def _scaled(side: Sequence[Scored]) -> dict[int, float]:
    if not side:
        return {}
    best, worst = side[0].score, side[-1].score
    spread = best - worst
    return {item.number: (item.score - worst) / spread if spread > 0 else 1.0 for item in side}
