"""Writing questions in one of several formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from merestone.evaluation.gold.checking import check_questions
from merestone.evaluation.questions.files import json_line, write_text
from merestone.evaluation.questions.json_form import question_to_json
from merestone.evaluation.questions.table import to_table
from merestone.evaluation.questions.values import Question, Questions
from merestone.types import JSON, SettingsError, Snapshot

_Write = Callable[[Questions, Path, Snapshot | None], list[Path]]


def export_questions(
    questions: Questions, format: str, target: Path, snapshot: Snapshot | None = None
) -> list[Path]:
    """Write ``questions`` to the file, or for ``trec`` and ``beir`` into the folder, ``target``;
    the files that were written.

    With a ``snapshot`` evidence is written as it stands now, quotes included. BEIR needs one: its
    corpus is the library's documents.
    """
    if format not in EXPORTS:
        raise SettingsError(
            "unknown-format",
            f"No format is called {format!r}.",
            f"Known: {', '.join(EXPORTS)}.",
        )
    if snapshot is not None:
        questions = check_questions(snapshot, questions).applied(questions)
    return EXPORTS[format](questions, target, snapshot)


def _write_trec(questions: Questions, target: Path, snapshot: Snapshot | None) -> list[Path]:
    """Topics as lines ``id<TAB>query``, and qrels of documents."""
    topics = "".join(f"{trec_name(q.id)}\t{' '.join(q.question.split())}\n" for q in questions)
    qrels = "".join(
        f"{trec_name(question.id)} 0 {trec_name(document)} {grade}\n"
        for question in questions
        for document, grade in _grades(question).items()
    )
    files = {target / "topics.tsv": topics, target / "qrels.txt": qrels}
    return _written(files)


def _write_beir(questions: Questions, target: Path, snapshot: Snapshot | None) -> list[Path]:
    if snapshot is None:
        raise SettingsError(
            "export-needs-library",
            "BEIR's layout has the texts of all documents, and no library was given.",
            "Give a snapshot of the library, or choose trec.",
        )
    queries = "".join(json_line({"_id": q.id, "text": q.question}) for q in questions)
    header = "query-id\tcorpus-id\tscore\n"
    qrels = header + "".join(
        f"{question.id}\t{document}\t{grade}\n"
        for question in questions
        for document, grade in _grades(question).items()
    )
    corpus = "".join(json_line(row) for row in _corpus(snapshot))
    files = {
        target / "corpus.jsonl": corpus,
        target / "queries.jsonl": queries,
        target / "qrels" / "test.tsv": qrels,
    }
    return _written(files)


def _corpus(snapshot: Snapshot) -> Iterator[JSON]:
    for record in snapshot.records():
        text = snapshot.text(record.id)
        if text is not None:
            yield {"_id": record.id, "title": record.title or "", "text": text}


def _write_csv(questions: Questions, target: Path, snapshot: Snapshot | None) -> list[Path]:
    return _written({target: to_table(questions, target.suffix.lower())})


def _write_jsonl(questions: Questions, target: Path, snapshot: Snapshot | None) -> list[Path]:
    return _written({target: "".join(json_line(question_to_json(each)) for each in questions)})


EXPORTS: Mapping[str, _Write] = {
    "trec": _write_trec,
    "beir": _write_beir,
    "csv": _write_csv,
    "jsonl": _write_jsonl,
}


def _written(files: Mapping[Path, str]) -> list[Path]:
    for path, text in files.items():
        write_text(path, text)
    return list(files)


def _grades(question: Question) -> dict[str, int]:
    """The best grade that a document's evidence has."""
    grades: dict[str, int] = {}
    for evidence in question.evidence:
        grades[evidence.doc] = max(evidence.grade, grades.get(evidence.doc, 0))
    return grades


def trec_name(name: str) -> str:
    """``name`` as TREC's files take it, whose columns are parted by white space: white space and
    the percent sign as in a URL, which importing understands."""
    return re.sub(r"[\s%]", lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), name)
