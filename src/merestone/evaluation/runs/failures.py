"""Why a question's answer was not served whole: where on its way the gold was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from merestone.evaluation.gold.values import Gold, GoldSpan
from merestone.evaluation.measures.coverage import Coverage
from merestone.evaluation.questions.values import Evidence, Question
from merestone.evaluation.runs.serving import Answers, Desk, scoped
from merestone.evaluation.runs.values import PRECISE, Served
from merestone.retrieval.candidates import find_candidates
from merestone.retrieval.evidence import THE_REST
from merestone.retrieval.ranking import Ranking, reference
from merestone.retrieval.searching import check_question
from merestone.types import AllOf, Chunk, Comparison, ContextResult, Filter, Snapshot

Failure = Literal[
    "not-in-corpus",
    "no-text",
    "not-indexed",
    "filtered",
    "outranked",
    "copy-served",
    "cut-by-boundary",
    "dropped-by-budget",
    "answered-falsely",
]

FAILURES: Mapping[Failure, str] = {
    "not-in-corpus": "the library has no such document",
    "no-text": "no text could be read from the document",
    "not-indexed": "the answer stands in a part of the document that no chunk holds",
    "filtered": "access, the scope, a filter or the least relevance leaves it out",
    "outranked": "the answer's chunk is there, and others ranked before it",
    "copy-served": "a near-duplicate of it was served in its place",
    "cut-by-boundary": "a cut went through the answer, and only a part was found",
    "dropped-by-budget": "it was found, and did not fit",
    "answered-falsely": "nothing in the library answers, and passages were served all the same",
}
"""Each class in words, in the order in which a question may be lost."""

_DEEP = 1000
"""How far the ranking is searched for what was missed."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Why one question is a miss in one view."""

    failure: Failure
    detail: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a chunk stands for a question."""

    rank: int | None
    """Of all candidates; ``None``: not among the first thousand."""
    words: str
    copy_of: Chunk | None = None
    """The candidate that stands for it."""


class Examination:
    """Finds out for one question, in one state of the library, what became of its gold."""

    def __init__(
        self,
        desk: Desk,
        whole: Snapshot,
        question: Question,
        gold: Gold,
        answers: Answers,
        where: Filter | None,
    ) -> None:
        """``whole``: what whoever runs the evaluation may see, which can be more than the
        question's asker may."""
        self._desk = desk
        self._whole = whole
        self._question = question
        self._gold = gold
        self._answers = answers
        self._where = where
        self._places: dict[str, _Place] = {}

    def miss(self, view: str, served: Sequence[Served]) -> Miss | None:
        """The failure in ``view``, where FullGold is 0; ``None``: no part of the gold says why."""
        if not self._gold.anchored:
            return Miss("answered-falsely", f"{len(served)} passages were served.")
        found = [*self._lost_documents(), *self._lost_spans(view, served)]
        if not found:
            return None
        first, more = found[0], len(found) - 1
        if more and self._gold.match == "all":
            lost = f"{more} more {'is' if more == 1 else 'are'} lost"
            return replace(first, detail=f"{first.detail} Of its gold {lost}.")
        return first

    def _lost_documents(self) -> list[Miss]:
        pairs = zip(self._question.evidence, self._gold.anchored, strict=True)
        lost = [
            self._lost_document(evidence, anchored.outcome == "no-text")
            for evidence, anchored in pairs
            if anchored.outcome in ("no-document", "no-text")
        ]
        return [] if self._gold.match == "any" and self._gold.spans else lost

    def _lost_document(self, evidence: Evidence, has_no_text: bool) -> Miss:
        record = self._whole.record(evidence.doc)
        if has_no_text:
            status = f" Its status is {record.status}." if record else ""
            return Miss("no-text", f"No text was read from {evidence.doc}.{status}")
        if record is not None:
            asker = ", ".join(self._question.principals) or "the asker"
            return Miss("filtered", f"{evidence.doc} may not be read by {asker}.")
        return Miss("not-in-corpus", f"The library has no document {evidence.doc}.")

    def _lost_spans(self, view: str, served: Sequence[Served]) -> list[Miss]:
        texts = {
            span.document: self._desk.snapshot.text(span.document) or "" for span in self.spans
        }
        read = Coverage(((each.document, each.start, each.end) for each in served), texts)
        lost = [
            span for span in self.spans if not read.holds((span.document, span.start, span.end))
        ]
        if self._gold.match == "any":
            lost.sort(key=lambda span: -read.shared((span.document, span.start, span.end)))
            lost = lost[:1]
        return [self._told(span, self._lost_span(span, view)) for span in lost]

    @property
    def spans(self) -> list[GoldSpan]:
        """The gold that is to be found."""
        return [span for span in self._gold.spans if span.grade > 0]

    def _lost_span(self, span: GoldSpan, view: str) -> Miss:
        where = f"{span.document}#{span.start}-{span.end}"
        if not self._is_let_through(span.document):
            by = "the question's scope" if self._question.scope else "the filter"
            return Miss("filtered", f"{by.capitalize()} leaves {span.document} out.")
        parts = self._parts(span)
        if not parts:
            return Miss("not-indexed", f"No chunk holds {where}.")
        context = self._answers.contexts.get(view)
        inside = self._ranked_in(parts, view)
        copy = next((place.copy_of for place in map(self._place, parts) if place.copy_of), None)
        if not inside and copy is not None and self._is_served(copy, view):
            return Miss(
                "copy-served", f"{reference(copy)} says the same as {where} and stands for it."
            )
        refused = [self._refusals[part.id] for part in parts if part.id in self._refusals]
        if not inside and refused:
            return Miss("filtered", f"The chunk of {where} was found, and {refused[0]}.")
        if not inside:
            words = self._best(parts).words
            cut = f", which is parted over {len(parts)} chunks," if len(parts) > 1 else ""
            return Miss("outranked", f"The chunk of {where}{cut} {words}.")
        if len(inside) < len(parts):
            others = [self._place(part).words for part in parts if part not in inside]
            return Miss(
                "cut-by-boundary",
                f"{where} is parted over {len(parts)} chunks; {len(inside)} of them came in, "
                f"another one {others[0]}.",
            )
        if context is None:
            return Miss(
                "cut-by-boundary", f"{where} is parted, and no chunk holds what is between."
            )
        why = _why(context, inside)
        if _is_behind(context, inside, view):
            words = self._best(inside).words
            detail = f"The chunk of {where} {words}, behind all served"
            return Miss("outranked", f"{detail}: {why.reason}.")
        served = (
            "only a part of its chunk was served" if why.is_part else "nothing of it was served"
        )
        return Miss("dropped-by-budget", f"{where} was found, and {served}: {why.reason}.")

    def _told(self, span: GoldSpan, miss: Miss) -> Miss:
        """``miss``, in other words where its answer is a whole document, of which no room is ever
        enough to serve all."""
        text = self._desk.snapshot.text(span.document) or ""
        chunks = len(self._parts(span))
        is_whole = (span.start, span.end) == (0, len(text)) and chunks > 1
        if not is_whole or miss.failure not in ("cut-by-boundary", "dropped-by-budget"):
            return miss
        detail = (
            f"{span.document} was found. All of it is the answer, {len(text):,} characters in "
            f"{chunks} chunks: the measures of documents count it."
        )
        return replace(miss, detail=detail)

    def _parts(self, span: GoldSpan) -> list[Chunk]:
        """The chunk that holds the span, the best one, or else all that hold a part of it."""
        text = self._desk.snapshot.text(span.document) or ""
        touching = [
            chunk
            for chunk in self._desk.snapshot.chunks_of(span.document)
            if text[max(chunk.start, span.start) : min(chunk.end, span.end)].strip()
        ]
        whole = [c for c in touching if c.start <= span.start and span.end <= c.end]
        if len(whole) > 1:
            whole.sort(key=lambda chunk: self._place(chunk).rank or _DEEP + 1)
        return whole[:1] or touching

    def _ranked_in(self, parts: Sequence[Chunk], view: str) -> list[Chunk]:
        """Those of ``parts`` that are hits, or candidates of the context."""
        context = self._answers.contexts.get(view)
        if context is not None:
            ids = {decision.chunk for decision in context.decisions}
        else:
            ids = {hit.chunk.id for hit in self._answers.searches[int(view)].hits}
        return [chunk for chunk in parts if chunk.id in ids]

    def _is_served(self, chunk: Chunk, view: str) -> bool:
        """True if ``chunk`` is a hit, or a part of it in the context."""
        context = self._answers.contexts.get(view)
        if context is None:
            return bool(self._ranked_in([chunk], view))
        return any(each.chunk == chunk.id and each.outcome != "out" for each in context.decisions)

    def _best(self, parts: Sequence[Chunk]) -> _Place:
        return min(map(self._place, parts), key=lambda place: place.rank or _DEEP + 1)

    def _place(self, chunk: Chunk) -> _Place:
        if chunk.id not in self._places:
            self._places[chunk.id] = self._found_place(chunk)
        return self._places[chunk.id]

    def _found_place(self, chunk: Chunk) -> _Place:
        ranking = self._ranking
        note = " before reranking" if self._desk.has_reranker else ""
        ranks = {each.chunk.id: rank for rank, each in enumerate(ranking.ranked, 1)}
        if chunk.id in ranks:
            return _Place(ranks[chunk.id], f"ranks at {ranks[chunk.id]}{note}")
        kept = ranking.collapsed.get(chunk.id)
        if kept is not None:
            original = next(each.chunk for each in ranking.ranked if each.chunk.id == kept)
            words = f"is a copy of the one that ranks at {ranks[kept]}{note}"
            return _Place(ranks[kept], words, original)
        number = self._desk.number_of(chunk.id)
        sides = self._deep.get(number) if number is not None else None
        if sides is None:
            return _Place(None, f"is not among the first {_DEEP:,}")
        rank, dense, lexical = sides
        return _Place(
            max(rank, len(ranks) + 1),
            f"ranks at {rank} (by meaning {dense or 'not found'}, by words "
            f"{lexical or 'not found'})",
        )

    @cached_property
    def _refusals(self) -> Mapping[str, str]:
        return self._desk.refusals(self._question, self._where)

    @cached_property
    def _ranking(self) -> Ranking:
        return self._desk.ranking(self._question, self._where)

    @cached_property
    def _deep(self) -> Mapping[int, tuple[int, int | None, int | None]]:
        """Chunk number → rank of all, by meaning, by words; before focus and reranking."""
        desk = self._desk
        found = find_candidates(
            desk.snapshot,
            desk.embedder,
            self._question.question,
            _DEEP,
            check_question(self._question.question, _DEEP, desk.mode),
            scoped(self._question, self._where),
            replace(desk.settings, focus=False),
        )
        return {
            each.number: (rank, each.dense_rank, each.lexical_rank)
            for rank, each in enumerate(found.ranked, 1)
        }

    def _is_let_through(self, document: str) -> bool:
        where = scoped(self._question, self._where)
        if where is None:
            return True
        # Any vector finds some chunk, if one is let through at all.
        anything = np.full(self._desk.embedder.dimension, 1.0, np.float32)
        anything /= np.linalg.norm(anything)
        both = AllOf((where, Comparison("document", "=", document)))
        return bool(self._desk.snapshot.dense(anything, 1, both))


def _is_behind(context: ContextResult, chunks: Sequence[Chunk], view: str) -> bool:
    """True if a little more room would not have served ``chunks``: others stood before them that
    were not served either, or nothing so far behind the best was to be served."""
    ids = {chunk.id for chunk in chunks}
    served = [at for at, each in enumerate(context.decisions) if each.outcome != "out"]
    places = [at for at, each in enumerate(context.decisions) if each.chunk in ids]
    waiting = min(places, default=0) - max(served, default=-1) - 1
    return waiting > 0 or (view == PRECISE and waiting == 0)


class _Why(NamedTuple):
    reason: str
    is_part: bool
    """True: a part of the chunk is in the context."""


def _why(context: ContextResult, chunks: Sequence[Chunk]) -> _Why:
    """Why the first of ``chunks`` is not whole in the context."""
    ids = {chunk.id for chunk in chunks}
    for decision in context.decisions:
        if decision.chunk in ids and decision.outcome != "in":
            is_part = decision.outcome == "shortened"
            return _Why(decision.reason.removeprefix(THE_REST), is_part)
    return _Why("its parts are in, with a gap between them", True)
