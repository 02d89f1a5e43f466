"""Finding where the answers of questions stand in a library's documents.

Whatever leaves room for doubt is ``changed``: someone should look. Nothing is decided by a guess.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from merestone.evaluation.gold.evidence_places import EvidencePlaces, PlacedEvidence
from merestone.evaluation.gold.values import CERTAIN, AnchoredEvidence, Gold
from merestone.evaluation.questions.values import Question
from merestone.types import Snapshot


class Placed(NamedTuple):
    """A piece of evidence by its place in a list of questions, and what was found."""

    question: int
    evidence: int
    found: PlacedEvidence


def anchor_questions(snapshot: Snapshot, questions: Iterable[Question]) -> list[Gold]:
    """Where the evidence of each question stands in the documents of ``snapshot``.

    By its span where the stored version is the one that the span was taken in; else by what the
    library knows of the edits since, by the quote and what stood around it; for pages by the
    quote's words. Each document is read once.
    """
    questions = list(questions)
    anchored: dict[tuple[int, int], AnchoredEvidence] = {}
    for placed in place_evidence(snapshot, questions):
        anchored[placed.question, placed.evidence] = placed.found.anchored
    return [
        _gold(question, [anchored[number, each] for each in range(len(question.evidence))])
        for number, question in enumerate(questions)
    ]


def place_evidence(snapshot: Snapshot, questions: Sequence[Question]) -> Iterator[Placed]:
    """What becomes of every piece of evidence, document by document."""
    by_document: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, question in enumerate(questions):
        for index, evidence in enumerate(question.evidence):
            by_document[evidence.doc].append((number, index))
    for document in sorted(by_document):
        places = EvidencePlaces(snapshot, document)
        for number, index in by_document[document]:
            yield Placed(number, index, places.place(questions[number].evidence[index]))


def _gold(question: Question, anchored: Sequence[AnchoredEvidence]) -> Gold:
    spans = tuple(
        each.span
        for each in anchored
        if each.span is not None and each.outcome in CERTAIN and each.span.grade > 0
    )
    return Gold(question, spans, question.match, tuple(anchored))
