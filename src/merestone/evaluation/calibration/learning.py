"""Asking a library the questions that it is to learn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merestone.evaluation.gold.anchoring import anchor_questions
from merestone.evaluation.gold.values import Gold
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.serving import Desk, scoped
from merestone.library import Library, Principals
from merestone.retrieval.ranking import Ranking, Request, rank
from merestone.retrieval.relevance import LOOKED_AT
from merestone.retrieval.sides import Mode
from merestone.retrieval.trace import Trace
from merestone.text.hashing import digest
from merestone.types import Chunk, RetrievalSettings, SettingsError

LEAST_QUESTIONS = 50
FOLDS = 5


@dataclass(frozen=True, slots=True)
class GoldDesk:
    """One state of a library, and the questions that can be judged there."""

    desk: Desk
    golds: tuple[Gold, ...]

    def ranking(self, gold: Gold, settings: RetrievalSettings, mode: Mode) -> Ranking:
        """The first hits of a question, before any reranker."""
        where = scoped(gold.question, None)
        request = Request(gold.question.question, LOOKED_AT, mode, where, least=LOOKED_AT)
        return rank(self.desk.snapshot, self.desk.embedder, settings, request, Trace(False))

    def holds(self, chunk: Chunk, gold: Gold) -> bool:
        """True if ``chunk`` holds half of an answer, or lies half in one."""
        for span in gold.spans:
            shared = min(span.end, chunk.end) - max(span.start, chunk.start)
            least = min(span.end - span.start, chunk.end - chunk.start) / 2
            if span.document == chunk.document and shared > 0 and shared >= least:
                return True
        return False


@contextmanager
def open_gold_desk(
    library: Library,
    questions: Sequence[Question],
    principals: Principals = None,
    *,
    as_owner: bool = False,
) -> Iterator[GoldDesk]:
    """The questions of people that can be judged, and someone to put them to.

    Raises ``SettingsError`` with code ``too-few-questions`` if they are not enough.
    """
    with library.serving(principals=principals, as_owner=as_owner) as serving:
        desk = Desk(serving, None, "hybrid")
        asked = [question for question in questions if not question.made]
        golds = tuple(gold for gold in anchor_questions(desk.snapshot, asked) if gold.is_usable)
        require_enough(len(golds), "that people wrote and that can be judged")
        desk.prepare([gold.question for gold in golds])
        yield GoldDesk(desk, golds)


def folds_of(golds: Sequence[Gold]) -> NDArray[np.int64]:
    """To which of the parts each question belongs: by its id, so that it is the same each time."""
    order = sorted(range(len(golds)), key=lambda number: digest(golds[number].question.id))
    found = np.zeros(len(golds), np.int64)
    found[order] = np.arange(len(golds)) % FOLDS
    return found


def require_enough(count: int, which: str) -> None:
    """Raise ``SettingsError`` if ``count`` questions are too few to learn from."""
    if count < LEAST_QUESTIONS:
        raise too_few(count, f"{LEAST_QUESTIONS} are needed {which}")


def too_few(count: int, why: str) -> SettingsError:
    """The error for ``count`` questions."""
    return SettingsError(
        "too-few-questions",
        f"{count} questions can be learned from: {why}.",
        "Write more, among them such as nothing in the library answers.",
    )
