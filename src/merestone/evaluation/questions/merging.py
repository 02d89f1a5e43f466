"""What adding questions to others does to these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from merestone.evaluation.questions.values import Question, Questions
from merestone.types import JSON


@dataclass(frozen=True, slots=True)
class Merging:
    """Questions in number, by what :meth:`Questions.with_all` makes of them."""

    added: int = 0
    replaced: int = 0
    """There under the same id, and different."""
    unchanged: int = 0
    """There already, word for word."""

    def to_json(self) -> dict[str, JSON]:
        return {"added": self.added, "replaced": self.replaced, "unchanged": self.unchanged}


def merging_of(known: Questions, others: Iterable[Question]) -> Merging:
    """What becomes of ``others`` when they are added to ``known``."""
    by_id = {question.id: question for question in known}
    pairs = [(by_id.get(question.id), question) for question in others]
    return Merging(
        added=sum(old is None for old, _ in pairs),
        replaced=sum(old is not None and old != new for old, new in pairs),
        unchanged=sum(old == new for old, new in pairs),
    )
