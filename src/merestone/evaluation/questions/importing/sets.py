"""Evaluation sets: a folder with ``documents/`` and ``questions.jsonl``, whose spans and quotes
are of the source files, markup included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from merestone.evaluation.questions.files import read_questions
from merestone.evaluation.questions.importing.values import Reading
from merestone.evaluation.questions.values import Question


def read_set(path: Path, judgements: Path | None = None) -> Reading:
    """The questions in coordinates of the source, ``label`` as tag and ``lang`` as language; other
    keys are kept."""
    file = path / "questions.jsonl" if path.is_dir() else path
    return Reading([_of_source(question) for question in read_questions(file)])


def _of_source(question: Question) -> Question:
    extra = dict(question.extra)
    label, language = extra.pop("label", None), extra.pop("lang", None)
    tags = (*question.tags, *([label] if isinstance(label, str) else []))
    evidence = tuple(
        replace(each, coordinates="source") if each.span is not None else each
        for each in question.evidence
    )
    return replace(
        question,
        evidence=evidence,
        tags=tags,
        language=question.language or (language if isinstance(language, str) else None),
        extra=extra,
    )
