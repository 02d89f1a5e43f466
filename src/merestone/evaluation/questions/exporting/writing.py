"""Writing questions in one of several formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from merestone.evaluation.gold.checking import check_questions
from merestone.evaluation.questions.files import json_line
from merestone.evaluation.questions.json_form import question_to_json
from merestone.evaluation.questions.table import to_table
from merestone.evaluation.questions.values import Question, Questions
from merestone.files import write_text
from merestone.types import JSON, SettingsError, Snapshot

_Form = Callable[[Questions, Path, Snapshot | None], dict[Path, str]]
"""The files of a format, each with its text."""


def export_questions(
    questions: Questions, format: str, target: Path, snapshot: Snapshot | None = None
) -> list[Path]:
    """Write ``questions`` to the file, or for ``trec`` and ``beir`` into the folder, ``target``;
    the files that were written. See :func:`exported_files`."""
    files = exported_files(questions, format, target, snapshot)
    for path, text in files.items():
        write_text(path, text)
    return list(files)


def exported_files(
    questions: Questions, format: str, target: Path, snapshot: Snapshot | None = None
) -> dict[Path, str]:
    """The files that an export consists of, with their texts; nothing is written.

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


def without_judgement(questions: Questions, format: str) -> int:
    """How many of ``questions`` have no line in the judgements of a format that has them apart:
    those that nothing answers. Tools that go by judgements pass over them."""
    return sum(not question.evidence for question in questions) if format in _JUDGED else 0


def _trec(questions: Questions, target: Path, snapshot: Snapshot | None) -> dict[Path, str]:
    """Topics as lines ``id<TAB>query``, and qrels of documents."""
    topics = "".join(f"{trec_name(q.id)}\t{' '.join(q.question.split())}\n" for q in questions)
    qrels = "".join(
        f"{trec_name(question.id)} 0 {trec_name(document)} {grade}\n"
        for question in questions
        for document, grade in _grades(question).items()
    )
    return {target / "topics.tsv": topics, target / "qrels.txt": qrels}


def _beir(questions: Questions, target: Path, snapshot: Snapshot | None) -> dict[Path, str]:
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
    return {
        target / "corpus.jsonl": corpus,
        target / "queries.jsonl": queries,
        target / "qrels" / "test.tsv": qrels,
    }


def _corpus(snapshot: Snapshot) -> Iterator[JSON]:
    for record in snapshot.records():
        text = snapshot.text(record.id)
        if text is not None:
            yield {"_id": record.id, "title": record.title or "", "text": text}


def _csv(questions: Questions, target: Path, snapshot: Snapshot | None) -> dict[Path, str]:
    return {target: to_table(questions, target.suffix.lower())}


def _jsonl(questions: Questions, target: Path, snapshot: Snapshot | None) -> dict[Path, str]:
    return {target: "".join(json_line(question_to_json(each)) for each in questions)}


EXPORTS: Mapping[str, _Form] = {"trec": _trec, "beir": _beir, "csv": _csv, "jsonl": _jsonl}
_JUDGED = ("trec", "beir")


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
