"""Asking questions as users ask them, in every view that is measured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import cast

from merestone import retrieval
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.remembering import (
    RememberedQueries,
    RememberedRanker,
    RememberedReranker,
    remembered,
)
from merestone.evaluation.runs.values import Served
from merestone.evaluation.runs.views import Views
from merestone.library import Serving
from merestone.retrieval.evidence import CANDIDATES
from merestone.retrieval.ranking import Ranking, Request
from merestone.retrieval.relevance import NOTHING, judge_answer
from merestone.retrieval.reranking import rerank_chunks
from merestone.retrieval.searching import check_question
from merestone.retrieval.trace import Trace
from merestone.types import (
    AllOf,
    Comparison,
    ContextResult,
    Embedder,
    Filter,
    Reranker,
    SearchResult,
    Tokenizer,
)

_COUNTED = 20_000


@dataclass(frozen=True, slots=True)
class Answers:
    """What one question was answered with."""

    searches: Mapping[int, SearchResult]
    """By k."""
    contexts: Mapping[str, ContextResult]
    """By the name of the view: ``1000t``, ``precise``."""
    seconds: float
    """What the main view took, the question's vector at hand."""

    def says_nothing(self, view: str) -> bool:
        """True if the answer in ``view`` was that nothing here answers the question."""
        context = self.contexts.get(view)
        if context is not None:
            return context.verdict == "nothing" or not context.passages
        search = self.searches[int(view)]
        return search.verdict == "nothing" or not search.hits

    @property
    def notes(self) -> tuple[str, ...]:
        """What they say besides, each once; that nothing answers the question is a verdict."""
        said = [result.notes for result in self.contexts.values()]
        said += [result.notes for result in self.searches.values()]
        notes = dict.fromkeys(chain.from_iterable(said))
        return tuple(note for note in notes if not note.startswith(NOTHING))


class Desk:
    """One asker's state of the library. Answers are those of ``Library.search`` and
    ``Library.context``: the same functions, put to the same state."""

    def __init__(self, serving: Serving, tokenizer: Tokenizer | None, mode: str) -> None:
        """Budgets and passages are counted by ``tokenizer``, by default the embedder's."""
        self.snapshot = remembered(serving.snapshot)
        self.mode = mode
        self.settings = serving.settings
        self._queries = RememberedQueries(serving.embedder, serving.cache)
        self.embedder = cast("Embedder", self._queries)
        self.tokenizer = tokenizer or serving.embedder.tokenizer
        self._kept = serving.cache
        self._ranker = RememberedRanker()
        self._reranking = serving.reranking
        if serving.reranking is not None:
            model = cast("Reranker", RememberedReranker(serving.reranking.model))
            self._reranking = replace(serving.reranking, model=model)
        self._numbers: dict[str, int] | None = None
        self._counts = lru_cache(_COUNTED)(lambda text: self.tokenizer.counts([text])[0])

    def number_of(self, chunk_id: str) -> int | None:
        """The number that the store knows a chunk by."""
        if self._numbers is None:
            self._numbers = {found: number for number, found, _ in self.snapshot.numbers()}
        return self._numbers.get(chunk_id)

    def prepare(self, questions: Sequence[Question]) -> int:
        """Have the vectors of all questions ready; how many had to be embedded."""
        if self.mode == "lexical":
            return 0
        return self._queries.prepare([question.question for question in questions])

    def search(self, question: Question, k: int, where: Filter | None = None) -> SearchResult:
        """What ``Library.search`` gives."""
        return retrieval.search(
            self.snapshot,
            self.embedder,
            self.settings,
            question.question,
            k=k,
            mode=self.mode,
            where=scoped(question, where),
            explain=False,
            reranking=self._reranking,
            ranker=self._ranker,
            kept=self._kept,
        )

    def evidence(self, question: Question, where: Filter | None = None) -> retrieval.Evidence:
        """What ``Library.context`` fills its budget with."""
        return retrieval.find_evidence(
            self.snapshot,
            self.embedder,
            self.tokenizer,
            self.settings,
            question.question,
            mode=self.mode,
            where=scoped(question, where),
            reranking=self._reranking,
            ranker=self._ranker,
            kept=self._kept,
        )

    def ranking(self, question: Question, where: Filter | None = None) -> Ranking:
        """The candidates that ``context`` has, best first, before any reranker."""
        return self._ranked(question, CANDIDATES, where, least=0)

    def _ranked(self, question: Question, k: int, where: Filter | None, *, least: int) -> Ranking:
        mode = check_question(question.question, k, self.mode)
        request = Request(question.question, k, mode, scoped(question, where), least)
        return self._ranker(self.snapshot, self.embedder, self.settings, request, Trace(False))

    def documents(self, question: Question, k: int, where: Filter | None = None) -> tuple[str, ...]:
        """Documents of all chunks that ``search`` ranks for ``k`` hits, best first, each once."""
        ranking = self._ranked(question, k, where, least=k)
        if self._reranking is not None:
            ranking = rerank_chunks(ranking, question.question, self._reranking, Trace(False))
        refused = self._refused(question, ranking)
        return tuple(
            dict.fromkeys(
                each.chunk.document for each in ranking.ranked if each.chunk.id not in refused
            )
        )

    def refusals(self, question: Question, where: Filter | None = None) -> dict[str, str]:
        """Chunk id → why a candidate is refused, where the settings refuse what is of little
        relevance."""
        if not self.settings.min_relevance:
            return {}
        return self._refused(question, self.ranking(question, where))

    def _refused(self, question: Question, ranking: Ranking) -> dict[str, str]:
        if not self.settings.min_relevance:
            return {}
        return judge_answer(
            self.snapshot,
            self.embedder,
            self.settings,
            ranking,
            question.question,
            None,
            Trace(False),
            self._kept,
        ).refusals

    @property
    def has_reranker(self) -> bool:
        return self._reranking is not None

    def answer(self, question: Question, views: Views, where: Filter | None = None) -> Answers:
        """Everything that ``views`` want."""
        began = time.perf_counter()
        searches: dict[int, SearchResult] = {}
        contexts: dict[str, ContextResult] = {}
        if wanted := views.contexts:
            evidence = self.evidence(question, where)
            # The main view first: what it takes is what an answer takes.
            first, *rest = sorted(wanted, key=lambda name: name != views.main)
            contexts[first] = evidence.fill(*wanted[first])
            seconds = time.perf_counter() - began
            contexts |= {name: evidence.fill(*wanted[name]) for name in rest}
        else:
            searches[views.ks[0]] = self.search(question, views.ks[0], where)
            seconds = time.perf_counter() - began
        for k in views.ks:
            searches[k] = searches.get(k) or self.search(question, k, where)
        return Answers(searches, contexts, seconds)

    def served_hits(self, result: SearchResult) -> tuple[Served, ...]:
        """The hits as passages."""
        return tuple(
            Served(
                hit.chunk.document,
                hit.chunk.start,
                hit.chunk.end,
                self._counts(hit.chunk.text),
                (hit.chunk.id,),
                hit.score,
            )
            for hit in result.hits
        )

    def served_passages(self, result: ContextResult) -> tuple[Served, ...]:
        """The passages, their citations and context aside."""
        return tuple(
            Served(
                passage.document,
                passage.start,
                passage.end,
                self._counts(passage.text),
                passage.chunks,
            )
            for passage in result.passages
        )


def scoped(question: Question, where: Filter | None) -> Filter | None:
    """The filter of a question: its scope, and what all questions are limited to."""
    if not question.scope:
        return where
    scope = Comparison("document", "in", list(question.scope))
    return scope if where is None else AllOf((scope, where))
