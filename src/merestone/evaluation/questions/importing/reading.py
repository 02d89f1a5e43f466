"""Reading a file of questions in one of several formats, and making it the library's own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from merestone.evaluation.gold.checking import QuestionsCheck, check_questions
from merestone.evaluation.gold.whole_documents import whole_document_notes
from merestone.evaluation.questions.importing.beir import read_beir
from merestone.evaluation.questions.importing.chroma import read_chroma
from merestone.evaluation.questions.importing.locating import documents_with
from merestone.evaluation.questions.importing.matching import DocumentNames
from merestone.evaluation.questions.importing.own import read_own
from merestone.evaluation.questions.importing.sets import read_set
from merestone.evaluation.questions.importing.squad import read_squad
from merestone.evaluation.questions.importing.trec import read_trec
from merestone.evaluation.questions.importing.values import LeftOut, Reading
from merestone.evaluation.questions.keys import key_notes
from merestone.evaluation.questions.values import Question, Questions
from merestone.types import JSON, SettingsError, Snapshot

FORMATS: Mapping[str, Callable[[Path, Path | None], Reading]] = {
    "beir": read_beir,
    "trec": read_trec,
    "squad": read_squad,
    "chroma": read_chroma,
    "set": read_set,
    "csv": read_own,
    "jsonl": read_own,
}
"""Readers by the name of their format. Each takes the file or folder and, where judgements can be
apart, the file of those."""

_FOUND_BY_TEXT = frozenset({"squad"})
"""Formats that name no files: their quotes say which document is meant."""


@dataclass(frozen=True)
class Import:
    """What was read, in the names of the library's documents."""

    questions: Questions
    unmatched: Mapping[str, int] = field(default_factory=dict)
    """Names of documents that the library does not have or has several of, and how many pieces of
    evidence are of each."""
    check: QuestionsCheck | None = None
    """Where the evidence was found; ``None`` without a library."""
    taken_for: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names that are not the id of a document, and the ids of those that they were taken for."""
    left_out: LeftOut = field(default_factory=dict)
    """Questions of the file that are not among these."""
    notes: tuple[str, ...] = ()
    """What else should be known of them."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "questions": len(self.questions),
            "evidence": dict(self.check.counts) if self.check else None,
            "unmatched": dict(self.unmatched),
            "taken_for": {name: list(ids) for name, ids in self.taken_for.items()},
            "left_out": sum(map(len, self.left_out.values())),
            "left_out_ids": {reason: list(ids) for reason, ids in self.left_out.items()},
            "notes": list(self.notes),
        }


def import_questions(
    path: Path,
    format: str,
    *,
    snapshot: Snapshot | None = None,
    judgements: Path | None = None,
    matched_only: bool = False,
) -> Import:
    """The questions of ``path``.

    With a ``snapshot`` documents are matched to the library's ids, and evidence is found in their
    text and written with its span, version and surroundings. ``matched_only`` leaves out questions
    with evidence of a document that the library does not have.
    """
    if format not in FORMATS:
        raise SettingsError(
            "unknown-format",
            f"No format is called {format!r}.",
            f"Known: {', '.join(FORMATS)}.",
        )
    reading = FORMATS[format](path, judgements)
    left_out = dict(reading.left_out)
    if snapshot is None:
        return Import(Questions(reading.questions), left_out=left_out)
    kept, unmatched, taken_for = _in_own_names(
        reading.questions, snapshot, format in _FOUND_BY_TEXT
    )
    if matched_only:
        lost = dict.fromkeys(
            question.id
            for question in kept
            if any(evidence.doc in unmatched for evidence in question.evidence)
        )
        kept = [question for question in kept if question.id not in lost]
        if lost:
            left_out["of documents that were not matched"] = list(lost)
    check = check_questions(snapshot, kept)
    notes = (*key_notes(kept), *whole_document_notes(snapshot, kept))
    return Import(check.applied(Questions(kept)), unmatched, check, taken_for, left_out, notes)


def _in_own_names(
    questions: Sequence[Question], snapshot: Snapshot, by_text: bool
) -> tuple[list[Question], dict[str, int], dict[str, list[str]]]:
    """The questions with the ids of the library's documents, the names that have none, and those
    that are not the ids."""
    names = DocumentNames(snapshot.records())
    given = {evidence.doc for question in questions for evidence in question.evidence}
    ids = {name: names.match(name) for name in given}
    found: dict[str, str] = {}
    if by_text:
        lost = (e for q in questions for e in q.evidence if ids[e.doc] is None and e.quote)
        found = documents_with(snapshot, {f"{e.prefix}{e.quote}{e.suffix}" for e in lost})
    unmatched: Counter[str] = Counter()
    taken_for: defaultdict[str, set[str]] = defaultdict(set)
    renamed = []
    for question in questions:
        evidence = []
        for each in question.evidence:
            id = ids[each.doc] or found.get(f"{each.prefix}{each.quote}{each.suffix}")
            if id is None:
                unmatched[each.doc] += 1
            elif id != each.doc:
                taken_for[each.doc].add(id)
            evidence.append(replace(each, doc=id or each.doc))
        scope = tuple(names.match(name) or name for name in question.scope)
        for name, id in zip(question.scope, scope, strict=True):
            if id != name:
                taken_for[name].add(id)
        renamed.append(replace(question, evidence=tuple(evidence), scope=scope))
    told = {name: sorted(ids) for name, ids in sorted(taken_for.items())}
    return renamed, dict(_sorted(unmatched)), told


def _sorted(counts: Counter[str]) -> Iterable[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
