"""Questions that whole documents answer: what their measures can say."""

from __future__ import annotations

from collections.abc import Iterable

from merestone.evaluation.questions.values import Question
from merestone.types import Snapshot


def answered_by_whole_documents(
    snapshot: Snapshot, questions: Iterable[Question]
) -> list[Question]:
    """Those of ``questions`` that name a document of several chunks as a whole."""
    several: dict[str, bool] = {}
    found = []
    for question in questions:
        for evidence in question.evidence:
            if not evidence.is_whole or evidence.page is not None or not evidence.grade:
                continue
            if evidence.doc not in several:
                several[evidence.doc] = len(snapshot.inputs(evidence.doc)) > 1
            if several[evidence.doc]:
                found.append(question)
                break
    return found


def whole_document_notes(snapshot: Snapshot, questions: Iterable[Question]) -> list[str]:
    """What should be known of the scores of such questions; nothing if there are none."""
    asked = list(questions)
    count = len(answered_by_whole_documents(snapshot, asked))
    if not count:
        return []
    names = "names" if count == 1 else "name"
    return [
        f"{count} of {len(asked)} questions {names} a whole document of several chunks as the "
        "answer. Hardly a budget holds that, so FullGold and GoldCoverage stay low even where the "
        "document is found: look at the measures of documents, which `merestone eval` shows (with "
        "the extra `eval`), or quote the passages that answer."
    ]
