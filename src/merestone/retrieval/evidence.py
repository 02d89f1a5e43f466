"""The answer to ``context``: cited passages within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merestone.embedding.likeness import VectorStore
from merestone.retrieval.citation import CitedDocuments
from merestone.retrieval.expansion import expand
from merestone.retrieval.filtering import apply_filter, near_misses
from merestone.retrieval.packing import Filling, Packing, fully_held
from merestone.retrieval.passages import Passages
from merestone.retrieval.ranking import Ranked, Ranker, Ranking, Request, rank
from merestone.retrieval.relevance import Judgement, judge_answer
from merestone.retrieval.reranking import Reranking, rerank_chunks, rerank_passages
from merestone.retrieval.searching import check_question, rows
from merestone.retrieval.trace import Trace
from merestone.types import (
    JSON,
    ContextResult,
    Decision,
    Embedder,
    Filter,
    LeftOut,
    Passage,
    RetrievalSettings,
    SettingsError,
    Snapshot,
    Tokenizer,
)

CANDIDATES = 50
"""Chunks whose units may become passages."""
THE_REST = "the rest: "
"""Begins the reason of a decision about a chunk of which a part is served."""


def context(
    snapshot: Snapshot,
    embedder: Embedder,
    tokenizer: Tokenizer,
    settings: RetrievalSettings,
    query: str,
    *,
    budget: int,
    mode: str,
    where: Filter | None,
    precise: bool = False,
    cited: bool = True,
    explain: bool = False,
    reranking: Reranking | None = None,
    ranker: Ranker = rank,
    kept: VectorStore | None = None,
) -> ContextResult:
    """Fill ``budget`` tokens of ``tokenizer`` with the best passages, in rank order.

    Separators and citations are counted; without ``cited`` the text holds no citations.
    ``precise`` stops earlier: below the share of the best score, and after so many passages, that
    ``settings`` say. ``kept`` holds vectors that serve every question.
    """
    _check_budget(budget)
    found = find_evidence(
        snapshot,
        embedder,
        tokenizer,
        settings,
        query,
        mode=mode,
        where=where,
        cited=cited,
        explain=explain,
        reranking=reranking,
        ranker=ranker,
        kept=kept,
    )
    return found.fill(budget, precise=precise)


def find_evidence(
    snapshot: Snapshot,
    embedder: Embedder,
    tokenizer: Tokenizer,
    settings: RetrievalSettings,
    query: str,
    *,
    mode: str,
    where: Filter | None,
    cited: bool = True,
    explain: bool = False,
    reranking: Reranking | None = None,
    ranker: Ranker = rank,
    kept: VectorStore | None = None,
) -> Evidence:
    """What :func:`context` does before it looks at the budget."""
    asked = check_question(query, CANDIDATES, mode)
    trace = Trace(explain)
    told = apply_filter(snapshot, where, trace)
    request = Request(query, CANDIDATES, asked, where)
    ranking = ranker(snapshot, embedder, settings, request, trace)
    documents = CitedDocuments(snapshot, settings.editor)
    own = embedder.tokenizer
    if reranking is not None and reranking.settings.on == "chunks":
        ranking = rerank_chunks(ranking, query, reranking, trace)
    elif reranking is not None:
        expanded = expand(snapshot, ranking, documents, own, settings)
        ranking = rerank_passages(expanded, documents, query, reranking, trace)
    judged = judge_answer(snapshot, embedder, settings, ranking, query, None, trace, kept)
    if explain and where is not None:
        missed = near_misses(snapshot, embedder, settings, query, asked, where)
        trace.amend("filter", near_misses=missed)
    expanded = expand(snapshot, judged.ranking, documents, own, settings)
    packing = Packing(expanded, Passages(snapshot, documents), tokenizer, settings, cited=cited)
    notes = (*told, *judged.ranking.found.notes, *judged.notes)
    return Evidence(query, snapshot.library_version, settings.expand, judged, packing, notes, trace)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is for a question, the same at every budget."""

    query: str
    library_version: int
    rule: str
    """How units become passages."""
    judged: Judgement
    packing: Packing
    """Of the ranking that was judged."""
    notes: tuple[str, ...]
    trace: Trace
    """Of what was done so far."""

    def fill(self, budget: int, precise: bool = False) -> ContextResult:
        """As much of it as ``budget`` holds."""
        _check_budget(budget)
        trace, ranking = self.trace.copy(), self.judged.ranking
        with trace.stage("pack") as entry:
            made, text, tokens, filling = self.packing.pack(budget, precise=precise)
            entry.update(rule=self.rule, precise=precise, tokens=tokens)
            if trace.is_wanted:
                entry["pieces"] = filling.rows()
        decisions = tuple(decision(each, made, filling) for each in ranking.ranked)
        if trace.is_wanted:
            trace.amend("candidates", ranked=_fates(self.judged, decisions))
        return ContextResult(
            query=self.query,
            budget=budget,
            tokens=tokens,
            text=text,
            passages=tuple(_with_relevance(passage, ranking) for passage in made),
            left_out=(*_left_out(ranking, decisions), *_refused(self.judged)),
            library_version=self.library_version,
            decisions=decisions,
            mode=ranking.found.mode,
            notes=self.notes,
            trace=trace.entries,
            verdict=self.judged.verdict,
        )


def _check_budget(budget: int) -> None:
    if not isinstance(budget, int) or budget < 0:
        raise SettingsError(
            "invalid-budget",
            f"The budget of {budget!r} tokens is not a whole number from 0 on.",
            "Change it.",
        )


def _fates(judged: Judgement, decisions: Sequence[Decision]) -> list[JSON]:
    """Every candidate for the trace, and why it is not in the context."""
    held = {each.chunk for each in decisions if each.outcome != "out"}
    reasons = {each.chunk: each.reason for each in decisions} | judged.refusals
    return rows(judged.whole, held, reasons, "never offered")


def decision(each: Ranked, passages: tuple[Passage, ...], filling: Filling) -> Decision:
    """What became of a candidate, judged by the passages as they are."""
    chunk, score = each.chunk, round(each.score, 6)
    why = filling.reasons.get(chunk.id, filling.stopped)
    held = fully_held(chunk, passages)
    if held is None:
        return Decision(chunk.id, chunk.document, score, "out", why)
    if held:
        return Decision(chunk.id, chunk.document, score, "in", "all of it")
    return Decision(chunk.id, chunk.document, score, "shortened", f"{THE_REST}{why}")


def _with_relevance(passage: Passage, ranking: Ranking) -> Passage:
    known = [
        each.relevance
        for each in ranking.ranked
        if each.relevance is not None and each.chunk.id in passage.chunks
    ]
    return replace(passage, relevance=max(known)) if known else passage


def _refused(judged: Judgement) -> list[LeftOut]:
    return [
        LeftOut(
            each.chunk.id, judged.refusals[each.chunk.id], each.chunk.document, each.chunk.lines
        )
        for each in judged.refused
    ]


def _left_out(ranking: Ranking, decisions: tuple[Decision, ...]) -> list[LeftOut]:
    found = [
        LeftOut(each.chunk.id, decided.reason, each.chunk.document, each.chunk.lines)
        for each, decided in zip(ranking.ranked, decisions, strict=True)
        if decided.outcome == "out"
    ]
    found += [
        LeftOut(
            each.chunk.id,
            f"near-duplicate of {ranking.collapsed[each.chunk.id]}",
            each.chunk.document,
            each.chunk.lines,
        )
        for each in ranking.dropped
    ]
    return found
