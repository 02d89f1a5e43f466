"""The answer to ``search``: chunks, ranked and cited, with what answers in them marked."""

from __future__ import annotations

from collections.abc import Mapping, Set

from merestone.embedding.likeness import VectorStore
from merestone.retrieval.citation import CitedDocuments, cite
from merestone.retrieval.filtering import apply_filter, near_misses
from merestone.retrieval.ranking import Ranked, Ranker, Ranking, Request, rank, reference, row
from merestone.retrieval.relevance import judge_answer
from merestone.retrieval.reranking import Reranking, rerank_chunks
from merestone.retrieval.sides import Mode
from merestone.retrieval.trace import Trace
from merestone.types import (
    JSON,
    Chunk,
    Embedder,
    Filter,
    Focus,
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
    if not isinstance(query, str):
        raise SettingsError(
            "query-not-text",
            f"The query is {query!r}, of the type {type(query).__name__}.",
            "Give a text.",
        )
    if not query.strip():
        raise SettingsError("empty-query", "The query is empty.", "Say what to look for.")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= _MOST_HITS:
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
    reranking: Reranking | None = None,
    ranker: Ranker = rank,
    kept: VectorStore | None = None,
) -> SearchResult:
    """The best ``k`` chunks, each with its citation. A reranker reads chunks here, whatever its
    settings say: they are what is handed out. ``kept`` holds vectors that serve every question."""
    asked = check_question(query, k, mode)
    trace = Trace(explain)
    told = apply_filter(snapshot, where, trace)
    request = Request(query, k, asked, where, least=k)
    ranking = ranker(snapshot, embedder, settings, request, trace)
    if reranking is not None:
        ranking = rerank_chunks(ranking, query, reranking, trace)
    judged = judge_answer(snapshot, embedder, settings, ranking, query, k, trace, kept)
    with trace.stage("cite"):
        documents = CitedDocuments(snapshot, settings.editor)
        hits = tuple(
            hit_of(each, documents, settings.precise_share if settings.focus else None)
            for each in judged.ranking.ranked[:k]
        )
    if explain:
        returned = {hit.chunk.id for hit in hits}
        trace.amend("candidates", ranked=rows(judged.whole, returned, judged.refusals, "beyond k"))
        if where is not None:
            missed = near_misses(snapshot, embedder, settings, query, asked, where)
            trace.amend("filter", near_misses=missed)
    found = ranking.found
    return SearchResult(
        query,
        found.mode,
        snapshot.library_version,
        hits,
        trace.entries,
        (*told, *found.notes, *judged.notes),
        judged.verdict,
    )


def hit_of(each: Ranked, documents: CitedDocuments, share: float | None) -> Hit:
    """A ranked chunk as it is handed out; ``share``: of its best unit's score, from which on other
    units are marked too."""
    document = documents.of(each.chunk.document)
    return Hit(
        chunk=each.chunk,
        score=round(each.score, 6),
        ranks=Ranks(
            dense=each.candidate.dense_rank,
            lexical=each.candidate.lexical_rank,
            rerank=each.reread.rank if each.reread else None,
        ),
        citation=document.linked(cite(document, [each.chunk])),
        relevance=each.relevance,
        focus=() if share is None else _focus(each, share),
        also=tuple(reference(chunk) for chunk in each.also),
    )


def _focus(each: Ranked, share: float) -> tuple[Focus, ...]:
    """The units that answer, in the order of the text, those that touch as one."""
    if not each.units:
        return ()
    least = share * each.units[0].score
    found: list[Focus] = []
    for unit in sorted(
        (one for one in each.units if one.score >= least), key=lambda one: one.unit.start
    ):
        start, end = unit.unit.start, unit.unit.end
        if found and start <= found[-1].end:
            best = max(found[-1].score, round(unit.score, 6))
            found[-1] = Focus(found[-1].start, end, best)
        else:
            found.append(Focus(start, end, round(unit.score, 6)))
    return tuple(_trimmed(focus, each.chunk) for focus in found)


def _trimmed(focus: Focus, chunk: Chunk) -> Focus:
    text = chunk.text[focus.start - chunk.start : focus.end - chunk.start]
    end = focus.start + len(text.rstrip())
    return focus._replace(start=focus.start + len(text) - len(text.lstrip()), end=end)


def rows(
    ranking: Ranking, taken: Set[str], removal: Mapping[str, str], otherwise: str
) -> list[JSON]:
    """Every candidate for the trace: whether it is in the answer, and if not what removed it."""
    found: list[JSON] = []
    for place, each in enumerate(ranking.ranked, 1):
        is_in = each.chunk.id in taken
        reason = None if is_in else removal.get(each.chunk.id, otherwise)
        found.append({**row(each, place), "returned": is_in, "removed_by": reason})
    for each in ranking.dropped:
        reason = f"near-duplicate of {ranking.collapsed[each.chunk.id]}"
        found.append({**row(each, 0), "rank": None, "returned": False, "removed_by": reason})
    return found
