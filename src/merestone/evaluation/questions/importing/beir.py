"""A folder in the layout of BEIR: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv``.

Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", 2021.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from merestone.evaluation.questions.importing.faults import json_lines_of, not_read
from merestone.evaluation.questions.importing.judgements import judged_questions, read_judgements
from merestone.evaluation.questions.importing.values import Reading
from merestone.types import SettingsError


def read_beir(path: Path, judgements: Path | None = None) -> Reading:
    """Queries that a document answers, with whole documents as evidence. Of several files of
    judgements ``test.tsv`` is taken."""
    grades = read_judgements(judgements or _judgements_in(path))
    return judged_questions(_queries(path / "queries.jsonl"), grades)


def _queries(path: Path) -> Iterator[tuple[str, str]]:
    for number, row in json_lines_of(path):
        id, text = str(row.get("_id", "")), row.get("text")
        if not id or not isinstance(text, str):
            raise not_read(path, f"line {number} has no _id or no text")
        yield id, text


def _judgements_in(folder: Path) -> Path:
    found = sorted([*folder.glob("qrels/*.tsv"), *folder.glob("qrels*.tsv")])
    tests = [path for path in found if path.stem == "test"]
    if len(tests or found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise SettingsError(
            "questions-not-found",
            f"{folder} has not one file of judgements, but {names}.",
            "Name the file with --qrels.",
        )
    return (tests or found)[0]
