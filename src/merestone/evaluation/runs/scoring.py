"""One question after another: asked, scored, and where it was missed, looked into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from merestone.evaluation.gold.anchoring import anchor_questions
from merestone.evaluation.gold.values import Gold, GoldSpan
from merestone.evaluation.measures.spans import NO_ANSWER, at, no_answer_measures, span_measures
from merestone.evaluation.questions.values import Evidence, Question
from merestone.evaluation.runs.documents import with_documents
from merestone.evaluation.runs.failures import Examination
from merestone.evaluation.runs.serving import Answers, Desk
from merestone.evaluation.runs.values import SEARCH, QuestionResult, Served
from merestone.evaluation.runs.views import Views
from merestone.types import Filter, Progress, ProgressCallback, content_type

_LOST = ("no-document", "no-text")
"""Outcomes of evidence that make a question a miss. Others make it one to be reviewed."""


@dataclass(slots=True)
class Scored:
    """What came of all questions."""

    results: list[QuestionResult] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    """What each took to answer once, its vector at hand."""
    notes: Counter[str] = field(default_factory=Counter)
    """What the answers said besides → how often."""
    refused: set[str] = field(default_factory=set)
    """Questions that have an answer and were told that nothing here answers them."""
    embedded: int = 0
    """Questions that had to be embedded."""
    documents: dict[str, Sequence[str]] = field(default_factory=dict)
    """By question those that ``search`` finds, best first; empty where hits are not measured."""


class Scoring:
    """Asks questions at the desks of their askers."""

    def __init__(
        self, desks: Mapping[tuple[str, ...], Desk], views: Views, where: Filter | None
    ) -> None:
        """``desks`` by principals; under ``()`` that of who runs the evaluation."""
        self._desks = desks
        self._views = views
        self._where = where

    def score(self, questions: Sequence[Question], progress: ProgressCallback) -> Scored:
        """Results in the order of ``questions``."""
        scored = Scored()
        gold = self._anchored(questions)
        by_asker: dict[tuple[str, ...], list[Question]] = {}
        for question in questions:
            by_asker.setdefault(question.principals, []).append(question)
        for asker, own in by_asker.items():
            scored.embedded += self._desks[asker].prepare(own)
        for done, question in enumerate(questions):
            progress(Progress("evaluate", done, len(questions), item=question.id))
            reason = review_reason(gold[question.id]) or self._scope_fault(question)
            if reason:
                scored.skipped[question.id] = reason
            else:
                scored.results.append(self._result(question, gold[question.id], scored))
        progress(Progress("evaluate", len(questions), len(questions)))
        scored.results = with_documents(scored.results, gold, scored.documents, self._views.ks)
        return scored

    def _scope_fault(self, question: Question) -> str:
        """What is wrong with the scope of a question that nothing is to answer: where nothing can
        be found, saying that there is nothing is no merit."""
        if question.evidence:
            return ""
        snapshot = self._desks[question.principals].snapshot
        missing = [name for name in question.scope if snapshot.record(name) is None]
        return f"its scope names {missing[0]}, which is not there" if missing else ""

    def _anchored(self, questions: Sequence[Question]) -> dict[str, Gold]:
        """Gold by question, as far as the question's asker may read."""
        found: dict[str, Gold] = {}
        for asker, desk in self._desks.items():
            own = [question for question in questions if question.principals == asker]
            found.update((gold.question.id, gold) for gold in anchor_questions(desk.snapshot, own))
        return found

    def _result(self, question: Question, gold: Gold, scored: Scored) -> QuestionResult:
        desk = self._desks[question.principals]
        answers = desk.answer(question, self._views, self._where)
        scored.seconds.append(answers.seconds)
        scored.notes.update(answers.notes)
        if gold.anchored and answers.says_nothing(self._views.main):
            scored.refused.add(question.id)
        served = self._served(desk, answers)
        if self._views.ks:
            deepest = self._views.ks[-1]
            scored.documents[question.id] = desk.documents(question, deepest, self._where)
        measures: dict[str, float] = {}
        for view, passages in served.items():
            for name, value in self._measures(desk, gold, answers, view, passages).items():
                measures[at(name, view)] = value
        examination = Examination(
            desk, self._desks[()].snapshot, question, gold, answers, self._where
        )
        misses = {}
        for view, passages in served.items():
            if measures.get(at("FullGold", view), measures.get(at(NO_ANSWER, view), 1.0)) == 0:
                miss = examination.miss(view, passages)
                if miss is not None:
                    misses[view] = miss
        main = misses.get(self._views.main)
        best = next((hit for each in answers.searches.values() for hit in each.hits), None)
        return QuestionResult(
            id=question.id,
            question=question.question,
            match=gold.match,
            gold=gold.spans,
            served=self._recorded(served),
            measures=measures,
            failure=main.failure if main else None,
            detail=main.detail if main else "",
            content_type=_content_type(desk, gold),
            tags=question.tags,
            language=question.language,
            made=question.made,
            relevance=best.relevance if best else None,
            failures={view: miss.failure for view, miss in misses.items()},
        )

    def _served(self, desk: Desk, answers: Answers) -> dict[str, tuple[Served, ...]]:
        """Passages by the name of the view."""
        found = {str(k): desk.served_hits(answers.searches[k]) for k in self._views.ks}
        for view, result in answers.contexts.items():
            found[view] = desk.served_passages(result)
        return {view: found[view] for view in self._views.names}

    def _recorded(self, served: Mapping[str, tuple[Served, ...]]) -> dict[str, tuple[Served, ...]]:
        """As a run keeps them: of searches the one that goes deepest."""
        kept = {SEARCH: served[str(self._views.ks[-1])]} if self._views.ks else {}
        names = set(map(str, self._views.ks))
        return kept | {view: each for view, each in served.items() if view not in names}

    def _measures(
        self, desk: Desk, gold: Gold, answers: Answers, view: str, served: Sequence[Served]
    ) -> dict[str, float]:
        if not gold.anchored:
            return no_answer_measures(answers.says_nothing(view))
        spans = (*gold.spans, *_lost_spans(gold))
        texts = {span.document: desk.snapshot.text(span.document) or "" for span in spans}
        return span_measures(spans, gold.match, served, texts=texts)


def review_reason(gold: Gold) -> str:
    """Why a question cannot be scored before someone has looked at it; empty if it can be."""
    if gold.is_usable:
        return ""
    outcomes = [each.outcome for each in gold.anchored]
    reviewed = [each for each in outcomes if each in ("changed", "gone")]
    if not reviewed or (gold.match == "any" and not all(each in reviewed for each in outcomes)):
        return ""
    what = "has changed" if "changed" in reviewed else "is gone"
    count = len(reviewed)
    return (
        f"the text of {count} of {len(outcomes)} pieces of evidence {what}; see `questions check`"
    )


def _lost_spans(gold: Gold) -> list[GoldSpan]:
    """Stand-ins for evidence that is in no document: gold that cannot be found."""
    pairs = zip(gold.question.evidence, gold.anchored, strict=True)
    return [_stand_in(evidence) for evidence, anchored in pairs if anchored.outcome in _LOST]


def _stand_in(evidence: Evidence) -> GoldSpan:
    length = len(evidence.quote) or (evidence.end or 0) - (evidence.start or 0)
    return GoldSpan(evidence.doc, 0, max(1, length), evidence.grade)


def _content_type(desk: Desk, gold: Gold) -> str:
    found = set()
    for span in gold.spans:
        record = desk.snapshot.record(span.document)
        if record is not None:
            found.add(content_type(record.media_type))
    return found.pop() if len(found) == 1 else "mixed" if found else ""
