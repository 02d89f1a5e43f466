"""The answer to ``search``: chunks, ranked and cited."""

from __future__ import annotations

import time
from dataclasses import asdict

from merestone.retrieval.candidates import Candidate, Candidates, Mode, find_candidates
from merestone.retrieval.citation import CitedDocuments, cite
from merestone.types import (
    JSON,
    Chunk,
    Embedder,
    Filter,
    Hit,
    Ranks,
    RetrievalSettings,
    SearchResult,
    SettingsError,
    Snapshot,
)

_MOST_HITS = 1_000_000

MODES: tuple[Mode, ...] = ("hybrid", "dense", "lexical")


def check_question(query: str, k: int, mode: str) -> Mode:
    """Raise ``SettingsError`` for what cannot be asked."""
    if not isinstance(query, str) or not query.strip():
        raise SettingsError("empty-query", "The query is empty.", "Say what to look for.")
    if not isinstance(k, int) or not 1 <= k <= _MOST_HITS:
        raise SettingsError(
            "invalid-k", f"k = {k!r} is not a whole number from 1 to {_MOST_HITS:,}.", "Change it."
        )
    for known in MODES:
        if mode == known:
            return known
    raise SettingsError(
        "unknown-mode", f"There is no mode {mode!r}.", f"Use one of: {', '.join(MODES)}."
    )


def search(
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RetrievalSettings,
    query: str,
    *,
    k: int,
    mode: str,
    where: Filter | None,
    explain: bool,
) -> SearchResult:
    """The best ``k`` chunks, each with its citation."""
    asked = check_question(query, k, mode)
    began = time.perf_counter()
    found = find_candidates(snapshot, embedder, query, k, asked, where, settings)
    ranked_at = time.perf_counter()
    chunks = snapshot.by_number([item.number for item in found.ranked[:k]])
    documents = CitedDocuments(snapshot)
    hits = tuple(
        hit_of(item, chunks[item.number], documents)
        for item in found.ranked[:k]
        if item.number in chunks
    )
    trace: tuple[dict[str, JSON], ...] = ()
    if explain:
        timing = {
            "candidates": (ranked_at - began) * 1000,
            "citations": (time.perf_counter() - ranked_at) * 1000,
        }
        trace = _trace(snapshot, found, k, where, settings, timing)
    return SearchResult(query, found.mode, snapshot.library_version, hits, trace, found.notes)


def hit_of(item: Candidate, chunk: Chunk, documents: CitedDocuments) -> Hit:
    """A candidate as it is handed out."""
    return Hit(
        chunk=chunk,
        score=round(item.score, 6),
        ranks=Ranks(dense=item.dense_rank, lexical=item.lexical_rank),
        citation=cite(documents.of(chunk.document), [chunk]),
    )


def _trace(
    snapshot: Snapshot,
    found: Candidates,
    k: int,
    where: Filter | None,
    settings: RetrievalSettings,
    timing: dict[str, float],
) -> tuple[dict[str, JSON], ...]:
    """What each stage did, for people who ask why."""
    chunks = snapshot.by_number([item.number for item in found.ranked])
    rows: list[JSON] = [
        {
            "chunk": chunks[item.number].id,
            "document": chunks[item.number].document,
            "score": round(item.score, 6),
            "dense": {"rank": item.dense_rank, "score": item.dense_score},
            "lexical": {"rank": item.lexical_rank, "score": item.lexical_score},
            "returned": place < k,
        }
        for place, item in enumerate(found.ranked)
        if item.number in chunks
    ]
    return (
        {"stage": "filter", "where": None if where is None else asdict(where)},
        {
            "stage": "candidates",
            "mode": found.mode,
            "terms": list(found.terms),
            "found": dict(found.found),
            "dense_weight": settings.dense_weight,
            "ranked": rows,
            "milliseconds": round(timing["candidates"], 2),
        },
        {"stage": "cite", "milliseconds": round(timing["citations"], 2)},
    )
