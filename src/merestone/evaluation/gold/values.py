"""Where the answers of questions stand in the documents as a library holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from merestone.evaluation.questions.values import Match, Question

AnchorOutcome = Literal["same", "moved", "changed", "gone", "no-document", "no-text"]
"""As ``text.anchoring`` says, and: the library has no such document, or no text of it."""

CERTAIN: frozenset[AnchorOutcome] = frozenset({"same", "moved"})
"""Outcomes that can be scored. With every other someone should look."""


class GoldSpan(NamedTuple):
    """``document.text[start:end]`` is an answer or a part of one."""

    document: str
    start: int
    end: int
    grade: int = 1


@dataclass(frozen=True, slots=True)
class AnchoredEvidence:
    """What became of one piece of evidence."""

    outcome: AnchorOutcome
    span: GoldSpan | None
    """``None`` unless the text is there: same, moved or changed."""
    reason: str = ""
    """In words, where someone should look."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A question's answers as spans of one state of the library."""

    question: Question
    spans: tuple[GoldSpan, ...]
    """Those that are certain, same or moved, and of a grade above 0."""
    match: Match
    anchored: tuple[AnchoredEvidence, ...]
    """One for each piece of evidence, in its order."""

    @property
    def is_usable(self) -> bool:
        """True if the question can be scored: all of its spans are certain, or one of them where
        each alone answers. A question without evidence can be: nothing is to be found."""
        if not self.anchored:
            return True
        answers = sum(evidence.grade > 0 for evidence in self.question.evidence)
        wanted = answers if self.match == "all" else 1
        return len(self.spans) >= max(1, wanted)
