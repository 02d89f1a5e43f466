"""What should be known of questions before their scores are believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from merestone.evaluation.gold.freshness import freshness_notes
from merestone.evaluation.gold.whole_documents import whole_document_notes
from merestone.evaluation.questions.keys import key_notes
from merestone.evaluation.questions.values import Question
from merestone.types import Snapshot, SourceSettings


def question_notes(
    snapshot: Snapshot, questions: Iterable[Question], sources: Sequence[SourceSettings]
) -> tuple[str, ...]:
    """Of files that the library has not read again, of keys that mean nothing, and of whole
    documents as answers."""
    asked = list(questions)
    return (
        *freshness_notes(snapshot, asked, sources),
        *key_notes(asked),
        *whole_document_notes(snapshot, asked),
    )
