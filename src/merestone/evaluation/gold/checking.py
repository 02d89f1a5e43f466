"""What became of questions' evidence after documents were edited, and bringing it up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from merestone.evaluation.gold.anchoring import place_evidence
from merestone.evaluation.gold.evidence_places import PlacedEvidence
from merestone.evaluation.gold.values import CERTAIN, AnchoredEvidence, AnchorOutcome
from merestone.evaluation.questions.json_form import evidence_to_json
from merestone.evaluation.questions.values import Evidence, Question, Questions
from merestone.types import JSON, Snapshot

_AROUND = 32
"""Code points kept before and behind, so that a passage is told from an equal one."""


@dataclass(frozen=True, slots=True)
class CheckedEvidence:
    """A piece of evidence, what became of it, and how it would be written now."""

    evidence: Evidence
    anchored: AnchoredEvidence
    now: Evidence | None
    """``None`` where someone should look first."""
    found: str = ""
    """The text that stands there, of changed evidence what took its place."""

    @property
    def outcome(self) -> AnchorOutcome:
        return self.anchored.outcome

    def to_json(self) -> dict[str, JSON]:
        span = self.anchored.span
        return {
            "evidence": evidence_to_json(self.evidence),
            "outcome": self.outcome,
            "reason": self.anchored.reason,
            "document": span.document if span else None,
            "start": span.start if span else None,
            "end": span.end if span else None,
            "found": self.found or None,
        }


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question with what became of its evidence."""

    question: Question
    evidence: tuple[CheckedEvidence, ...]
    missing_scope: tuple[str, ...] = ()
    """Documents of its scope that the library does not have."""

    @property
    def needs_review(self) -> bool:
        """True if someone should look at it."""
        return bool(self.missing_scope) or any(
            each.outcome not in CERTAIN for each in self.evidence
        )

    @property
    def now(self) -> Question:
        """With the spans, versions and quotes of now, as far as those are certain."""
        renamed = {
            each.evidence.doc: each.now.doc
            for each in self.evidence
            if each.now and each.now.doc != each.evidence.doc
        }
        return replace(
            self.question,
            evidence=tuple(each.now or each.evidence for each in self.evidence),
            scope=tuple(renamed.get(name, name) for name in self.question.scope),
        )

    def to_json(self) -> dict[str, JSON]:
        return {
            "id": self.question.id,
            "question": self.question.question,
            "needs_review": self.needs_review,
            "missing_scope": list(self.missing_scope),
            "evidence": [each.to_json() for each in self.evidence],
        }


@dataclass(frozen=True)
class QuestionsCheck:
    """What became of each question."""

    questions: tuple[CheckedQuestion, ...]
    notes: tuple[str, ...] = ()
    """What else should be known of them."""

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Pieces of evidence by outcome."""
        return Counter(each.outcome for item in self.questions for each in item.evidence)

    @property
    def to_review(self) -> tuple[CheckedQuestion, ...]:
        return tuple(item for item in self.questions if item.needs_review)

    @property
    def moves(self) -> int:
        """Pieces of evidence that :meth:`applied` would write in another way."""
        return sum(
            each.now is not None and each.now != each.evidence
            for item in self.questions
            for each in item.evidence
        )

    def applied(self, questions: Questions) -> Questions:
        """``questions`` with the spans, versions and quotes of now where the passage is certain;
        what is changed or gone stays as it was."""
        now = {item.question: item.now for item in self.questions}
        return Questions(now.get(question, question) for question in questions)

    def to_json(self) -> dict[str, JSON]:
        return {
            "questions": len(self.questions),
            "evidence": dict(self.counts),
            "needs_review": [item.question.id for item in self.to_review],
            "notes": list(self.notes),
            "per_question": [item.to_json() for item in self.questions],
        }


def check_questions(snapshot: Snapshot, questions: Iterable[Question]) -> QuestionsCheck:
    """What became of every piece of evidence in the documents of ``snapshot``."""
    questions = list(questions)
    checked: dict[tuple[int, int], CheckedEvidence] = {}
    for number, index, found in place_evidence(snapshot, questions):
        evidence = questions[number].evidence[index]
        checked[number, index] = _checked(evidence, found)
    known: dict[str, bool] = {}
    items = []
    for number, question in enumerate(questions):
        evidence_now = tuple(checked[number, index] for index in range(len(question.evidence)))
        item = CheckedQuestion(question, evidence_now)
        for name in item.now.scope:
            if name not in known:
                known[name] = snapshot.record(name) is not None
        missing = tuple(name for name in item.now.scope if not known[name])
        items.append(replace(item, missing_scope=missing))
    return QuestionsCheck(tuple(items))


def _checked(evidence: Evidence, found: PlacedEvidence) -> CheckedEvidence:
    span = found.anchored.span
    if span is None:
        return CheckedEvidence(evidence, found.anchored, None)
    text = found.text[span.start : span.end]
    if found.anchored.outcome not in CERTAIN:
        return CheckedEvidence(evidence, found.anchored, None, text)
    if evidence.is_whole:
        now = replace(evidence, doc=span.document)
        return CheckedEvidence(evidence, found.anchored, now)
    now = written(evidence, span.document, (span.start, span.end), found.text, found.version)
    return CheckedEvidence(evidence, found.anchored, now, text)


def written(
    evidence: Evidence, document: str, span: tuple[int, int], text: str, version: str
) -> Evidence:
    """``evidence`` as a span of a document's ``text``, with what it takes to find it again."""
    start, end = span
    return replace(
        evidence,
        doc=document,
        start=start,
        end=end,
        quote=text[start:end],
        prefix=text[max(0, start - _AROUND) : start],
        suffix=text[end : end + _AROUND],
        version=version,
        coordinates="text",
    )
