"""Reading comprehension in the form of SQuAD: answers are places in paragraphs.

Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text", 2016. The nested
form of the original is read, and the flat one, a row for each question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from merestone.evaluation.questions.importing.faults import not_read, text_of
from merestone.evaluation.questions.importing.values import Reading
from merestone.evaluation.questions.values import Evidence, Question, question_id
from merestone.text.sentences import sentence_spans
from merestone.types import JSON

_AROUND = 32


class _Answer(NamedTuple):
    text: str
    start: int


def read_squad(path: Path, judgements: Path | None = None) -> Reading:
    """Questions with the sentences that hold an answer as evidence, each alone enough. Questions
    marked as impossible have none. Documents go by the article's title."""
    questions: dict[str, Question] = {}
    for title, context, row in _rows(path):
        text = str(row.get("question") or "").strip()
        if not text:
            raise not_read(path, f"a row of {title!r} has no question")
        question = _question(title, context, text, row)
        questions.setdefault(question.id, question)
    return Reading(list(questions.values()))


def _question(title: str, context: str, text: str, row: Mapping[str, Any]) -> Question:
    answers = [] if row.get("is_impossible") else _answers(row.get("answers"), context)
    spans = dict.fromkeys(_sentences(context, answer) for answer in answers)
    return Question(
        id=str(row.get("id") or question_id(text)),
        question=text,
        evidence=tuple(
            Evidence(
                title,
                quote=context[start:end],
                prefix=context[max(0, start - _AROUND) : start],
                suffix=context[end : end + _AROUND],
            )
            for start, end in spans
        ),
        match="any" if len(spans) > 1 else "all",
        extra={"answers": list(dict.fromkeys(answer.text for answer in answers))},
    )


def _answers(given: JSON, context: str) -> list[_Answer]:
    """Answers that stand where they are said to, or at least once in the paragraph."""
    if isinstance(given, dict):
        texts, starts = given.get("text") or [], given.get("answer_start") or []
        given = [{"text": t, "answer_start": s} for t, s in zip(texts, starts, strict=False)]
    found = []
    for item in given or []:
        text, start = str(item.get("text") or ""), item.get("answer_start")
        if not isinstance(start, int) or context[start : start + len(text)] != text:
            start = context.find(text) if context.count(text) == 1 else -1
        if text and start >= 0:
            found.append(_Answer(text, start))
    return found


def _sentences(context: str, answer: _Answer) -> tuple[int, int]:
    """The sentence that holds the answer, or those that it reaches over."""
    end = answer.start + len(answer.text)
    spans = sentence_spans(context, 0, len(context))
    held = [(low, high) for low, high in spans if low < end and answer.start < high]
    low = min((low for low, _ in held), default=answer.start)
    high = max((high for _, high in held), default=end)
    piece = context[low:high]
    return low + len(piece) - len(piece.lstrip()), high - len(piece) + len(piece.rstrip())


def _rows(path: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(title, paragraph, row of a question)"""
    for item in _items(path):
        if not isinstance(item, dict):
            raise not_read(path, "an item is no object")
        title = str(item.get("title") or "")
        if "paragraphs" not in item:
            yield title, str(item.get("context") or ""), item
            continue
        for paragraph in item["paragraphs"]:
            for row in paragraph.get("qas") or []:
                yield title, str(paragraph.get("context") or ""), row


def _items(path: Path) -> list[Any]:
    text = text_of(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        data: list[Any] = value["data"]
        return data
    if isinstance(value, list):
        return value
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise not_read(path, f"it is no JSON: {error}") from error
