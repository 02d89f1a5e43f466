"""How the documents of the gold rank among those that a library finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from merestone.evaluation.gold.values import Gold
from merestone.evaluation.measures.document_measures import document_measures
from merestone.evaluation.runs.values import QuestionResult
from merestone.types import SettingsError

_USUAL = 10
"""The cutoff that others report."""


def with_documents(
    results: Sequence[QuestionResult],
    gold: Mapping[str, Gold],
    found: Mapping[str, Sequence[str]],
    ks: Sequence[int],
) -> list[QuestionResult]:
    """``results`` with the measures of documents at each of ``ks`` and at 10.

    ``gold`` and ``found``, the documents best first, are by question. Questions that nothing
    answers have none of these measures; no question has without ir-measures, or where nothing was
    ``found`` since nobody looked.
    """
    if not found:
        return list(results)
    cutoffs = sorted({*ks, _USUAL})
    names = [f"{kind}@{k}" for kind in ("nDCG", "P", "R") for k in cutoffs]
    qrels = {result.id: graded(gold[result.id]) for result in results}
    try:
        measured = document_measures(qrels, found, [*names, "RR"])
    except SettingsError as error:
        if error.code != "extra-missing":
            raise
        return list(results)
    return [replace(result, documents=measured.get(result.id, {})) for result in results]


def graded(gold: Gold) -> dict[str, int]:
    """The best grade of each document that evidence is of, under its name of now."""
    grades: dict[str, int] = {}
    for evidence, anchored in zip(gold.question.evidence, gold.anchored, strict=True):
        document = anchored.span.document if anchored.span else evidence.doc
        grades[document] = max(evidence.grade, grades.get(document, 0))
    return grades
