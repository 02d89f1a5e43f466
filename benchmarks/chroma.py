"""Chroma's chunking benchmark: its questions, and its measures as published.

``recall`` is the share of reference characters that the passages hold, ``precision`` and ``IoU``
hold them against every character of the passages, overlaps and other corpora included. References
are ranges of the five corpora, which all stand in one library.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from gold import Question, Span


def chroma_questions(folder: Path) -> list[Question]:
    """The 472 questions with their references as gold."""
    questions = []
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            document = f"{row['corpus_id']}.md"
            gold = [
                (document, item["start_index"], item["end_index"])
                for item in json.loads(row["references"])
            ]
            questions.append(Question(str(number), row["question"], "all", [], gold))
    return questions


def chroma_measures(question: Question, passages: Sequence[Span]) -> dict[str, float]:
    """Recall, precision and IoU in characters, and whether nothing is missing."""
    wanted = _characters(question.gold)
    found = len(wanted & _characters(passages))
    charged = sum(end - start for _, start, end in passages)
    return {
        "recall": found / len(wanted),
        "precision": found / max(1, charged),
        "IoU": found / (charged + len(wanted) - found),
        "complete": found == len(wanted),
    }


def _characters(spans: Iterable[Span]) -> set[tuple[str, int]]:
    return {(document, at) for document, start, end in spans for at in range(start, end)}
