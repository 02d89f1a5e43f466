"""The questions of Chroma's evaluation of chunkers: CSV with ``question``, ``references`` (a JSON
list of excerpts with their places) and ``corpus_id``.

Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", 2024.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

from merestone.evaluation.questions.importing.faults import not_read, text_of
from merestone.evaluation.questions.importing.values import Reading
from merestone.evaluation.questions.values import Evidence, Question, question_id


def read_chroma(path: Path, judgements: Path | None = None) -> Reading:
    """Questions that need all of their excerpts. A folder is asked for ``questions_df.csv``."""
    file = path / "questions_df.csv" if path.is_dir() else path
    rows = csv.DictReader(io.StringIO(text_of(file), newline=""))
    if not {"question", "references", "corpus_id"} <= set(rows.fieldnames or ()):
        raise not_read(file, "it lacks a column of question, references, corpus_id")
    questions: dict[str, Question] = {}
    for row in rows:
        try:
            question = _question(row)
        except (ValueError, KeyError, TypeError) as error:
            raise not_read(
                file, f"line {rows.line_num} has no list of excerpts: {error}"
            ) from error
        questions.setdefault(question.id, question)
    return Reading(list(questions.values()))


def _question(row: Mapping[str, str]) -> Question:
    text, corpus = row["question"].strip(), row["corpus_id"]
    evidence = tuple(
        Evidence(
            corpus,
            int(item["start_index"]),
            int(item["end_index"]),
            str(item["content"]),
            coordinates="source",
        )
        for item in json.loads(row["references"])
    )
    return Question(question_id(f"{corpus} {text}"), text, evidence, tags=(corpus,))
