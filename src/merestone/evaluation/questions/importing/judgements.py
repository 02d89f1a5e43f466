"""Relevance judgements: which documents answer a query, and how well."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from merestone.evaluation.questions.importing.faults import not_read, text_of
from merestone.evaluation.questions.importing.values import Reading
from merestone.evaluation.questions.values import Evidence, Question

Judgements = Mapping[str, Mapping[str, int]]
"""Grade by query and document."""


def read_judgements(path: Path) -> Judgements:
    """A file of qrels: four columns as trec_eval has them, or three, perhaps under a header, as
    BEIR has them. A document of which nothing good is said has grade 0."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(text_of(path).splitlines(), 1):
        parts = line.split("\t") if line.count("\t") >= 2 else line.split()
        if not line.strip() or (number == 1 and not _is_number(parts[-1])):
            continue
        if len(parts) not in (3, 4) or not _is_number(parts[-1]):
            raise not_read(path, f"line {number} is no judgement: {line[:60]!r}")
        # A grade below 0 marks rubbish.
        grade = max(0, int(float(parts[-1])))
        query, document = parts[0].strip(), parts[-2].strip()
        found[query][document] = max(grade, found[query].get(document, 0))
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def judged_questions(queries: Iterable[tuple[str, str]], judgements: Judgements) -> Reading:
    """The queries, given by id and text, that a document answers."""
    questions = []
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    strangers = dict.fromkeys(judgements)
    for id, text in queries:
        strangers.pop(id, None)
        if not text.strip():
            left_out["without words"].append(id)
        elif id not in judgements:
            left_out["without judgements"].append(id)
        elif not any(judgements[id].values()):
            left_out["with no judgement above 0"].append(id)
        else:
            questions.append(_judged_question(id, text, judgements[id]))
    if strangers:
        left_out["judged and not among those asked"] = list(strangers)
    return Reading(questions, left_out)


def _judged_question(id: str, text: str, grades: Mapping[str, int]) -> Question:
    """A query that each of its documents answers as a whole."""
    return Question(
        id=id,
        question=" ".join(text.split()),
        evidence=tuple(Evidence(document, grade=grade) for document, grade in grades.items()),
        match="any",
    )
