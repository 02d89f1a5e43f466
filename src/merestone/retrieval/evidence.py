"""The answer to ``context``: cited passages within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from merestone.embedding.likeness import VectorStore
from merestone.retrieval.citation import CitedDocuments
from merestone.retrieval.expansion import Expansion, Piece
from merestone.retrieval.filtering import apply_filter, near_misses
from merestone.retrieval.packing import Packer, Taken, fully_held
from merestone.retrieval.passages import Passages
from merestone.retrieval.ranking import Ranked, Ranker, Ranking, rank
from merestone.retrieval.relevance import Judgement, judge_answer
from merestone.retrieval.reranking import Reranking, rerank_chunks, rerank_passages
from merestone.retrieval.searching import check_question, rows
from merestone.retrieval.surroundings import Surroundings
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
    (made,) = contexts(
        snapshot,
        embedder,
        tokenizer,
        settings,
        query,
        wanted=[Wanted(budget, precise)],
        mode=mode,
        where=where,
        cited=cited,
        explain=explain,
        reranking=reranking,
        ranker=ranker,
        kept=kept,
    )
    return made


class Wanted(NamedTuple):
    """How much of a question's passages is wanted."""

    budget: int
    precise: bool = False


def contexts(
    snapshot: Snapshot,
    embedder: Embedder,
    tokenizer: Tokenizer,
    settings: RetrievalSettings,
    query: str,
    *,
    wanted: Sequence[Wanted],
    mode: str,
    where: Filter | None,
    cited: bool = True,
    explain: bool = False,
    reranking: Reranking | None = None,
    ranker: Ranker = rank,
    kept: VectorStore | None = None,
) -> list[ContextResult]:
    """What :func:`context` gives for each of ``wanted``; all but the packing is done once."""
    asked = check_question(query, CANDIDATES, mode)
    for budget, _ in wanted:
        if not isinstance(budget, int) or budget < 0:
            raise SettingsError(
                "invalid-budget",
                f"The budget of {budget!r} tokens is not a whole number from 0 on.",
                "Change it.",
            )
    trace = Trace(explain)
    told = apply_filter(snapshot, where, trace)
    ranking = ranker(
        snapshot,
        embedder,
        settings,
        query,
        k=CANDIDATES,
        mode=asked,
        where=where,
        least=0,
        trace=trace,
    )
    packing = Packing(snapshot, embedder.tokenizer, tokenizer, settings)
    if reranking is not None:
        ranking = packing.reranked(ranking, query, reranking, trace)
    judged = judge_answer(snapshot, embedder, settings, ranking, query, None, trace, kept)
    ranking = judged.ranking
    results = []
    for budget, precise in wanted:
        with trace.stage("pack") as entry:
            made, text, tokens, filling = packing.pack(
                ranking, budget, precise=precise, cited=cited
            )
            entry.update(rule=settings.expand, precise=precise, tokens=tokens)
            if explain:
                entry["pieces"] = filling.rows()
        decisions = tuple(decision(each, made, filling) for each in ranking.ranked)
        if explain:
            trace.amend("candidates", ranked=_fates(judged, decisions))
            if where is not None:
                missed = near_misses(snapshot, embedder, settings, query, asked, where)
                trace.amend("filter", near_misses=missed)
        results.append(
            ContextResult(
                query=query,
                budget=budget,
                tokens=tokens,
                text=text,
                passages=tuple(_with_relevance(passage, ranking) for passage in made),
                left_out=(*_left_out(ranking, decisions), *_refused(judged)),
                library_version=snapshot.library_version,
                decisions=decisions,
                mode=ranking.found.mode,
                notes=(*told, *ranking.found.notes, *judged.notes),
                trace=trace.entries,
                verdict=judged.verdict,
            )
        )
    return results


def _fates(judged: Judgement, decisions: Sequence[Decision]) -> list[JSON]:
    """Every candidate for the trace, and why it is not in the context."""
    held = {each.chunk for each in decisions if each.outcome != "out"}
    reasons = {each.chunk: each.reason for each in decisions} | judged.refusals
    return rows(judged.whole, held, reasons, "never offered")


@dataclass
class Filling:
    """What became of the pieces that were offered."""

    taken: list[Taken] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    """By chunk id, why the best of its units is not in."""
    stopped: str = "its best part stands in a better candidate"
    """Why nothing more was offered."""

    def note(self, taken: Taken) -> None:
        self.taken.append(taken)
        if taken.outcome in ("out", "copy"):
            self.refuse(taken.piece, taken.reason)

    def refuse(self, piece: Piece, reason: str) -> None:
        self.reasons.setdefault(piece.hit.chunk.id, reason)

    def rows(self) -> list[JSON]:
        return [
            {
                "document": each.piece.document,
                "start": each.piece.start,
                "end": each.piece.end,
                "expanded": each.piece.way,
                "score": round(each.piece.hit.score, 6),
                "outcome": each.outcome,
                "reason": each.reason,
            }
            for each in self.taken
        ]


class Packing:
    """Expands the units of rankings of one snapshot and packs them."""

    def __init__(
        self,
        snapshot: Snapshot,
        own: Tokenizer,
        tokenizer: Tokenizer,
        settings: RetrievalSettings,
    ) -> None:
        """Limits of expansion are counted by ``own``, the budget by ``tokenizer``."""
        self._snapshot = snapshot
        self._own = own
        self._tokenizer = tokenizer
        self._settings = settings
        self._documents = CitedDocuments(snapshot, settings.editor)
        self._passages = Passages(snapshot, self._documents)

    def pack(
        self, ranking: Ranking, budget: int, *, precise: bool, cited: bool = True
    ) -> tuple[tuple[Passage, ...], str, int, Filling]:
        """Passages, text, its tokens, and what became of each piece."""
        expansion = self._expansion(ranking)
        packer = Packer(self._passages, self._tokenizer, budget, cited=cited)
        filling = self._fill(ranking, expansion, packer, precise)
        made, text, tokens, withdrawn = packer.finish()
        for piece in withdrawn:
            filling.refuse(piece, "the whole text was over the budget with it")
        made = tuple(
            replace(each, citation=self._documents.of(each.document).linked(each.citation))
            for each in made
        )
        return made, text, tokens, filling

    def reranked(self, ranking: Ranking, query: str, reranking: Reranking, trace: Trace) -> Ranking:
        """``ranking`` in the reranker's order, by chunks or by what their units are expanded to,
        as its settings say."""
        if reranking.settings.on == "chunks":
            return rerank_chunks(ranking, query, reranking, trace)
        expansion = self._expansion(ranking)
        return rerank_passages(ranking, expansion, self._documents, query, reranking, trace)

    def _expansion(self, ranking: Ranking) -> Expansion:
        surroundings = Surroundings(self._snapshot, (each.chunk for each in ranking.ranked))
        return Expansion(surroundings, self._documents, self._own, self._settings)

    def _fill(
        self, ranking: Ranking, expansion: Expansion, packer: Packer, precise: bool
    ) -> Filling:
        """Offer what the units become to ``packer``, best first. Where an expanded range does not
        fit, the bare unit may."""
        filling = Filling()
        best = ranking.units[0].score if ranking.units else 0.0
        share, most = self._settings.precise_share, self._settings.precise_passages
        for hit in ranking.units:
            if precise and hit.score < share * best:
                filling.stopped = f"below {share:.2f} of the best score"
                break
            if packer.is_full:
                filling.stopped = "the budget is full"
                break
            for piece in expansion.pieces(hit):
                taken = packer.offer(piece, most if precise else None)
                filling.note(taken)
                if taken.outcome != "out":
                    break
        return filling


def decision(each: Ranked, passages: tuple[Passage, ...], filling: Filling) -> Decision:
    """What became of a candidate, judged by the passages as they are."""
    chunk, score = each.chunk, round(each.score, 6)
    why = filling.reasons.get(chunk.id, filling.stopped)
    held = fully_held(chunk, passages)
    if held is None:
        return Decision(chunk.id, chunk.document, score, "out", why)
    if held:
        return Decision(chunk.id, chunk.document, score, "in", "all of it")
    return Decision(chunk.id, chunk.document, score, "shortened", f"the rest: {why}")


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
