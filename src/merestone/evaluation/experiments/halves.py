"""Parting questions in two: one half to choose by, one to confirm on."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from merestone.evaluation.runs.values import QuestionResult
from merestone.types import JSON

_LARGEST = 0.4
"""Share of the questions up to which those of documents that belong together stay in one half."""


@dataclass(frozen=True, slots=True)
class Halves:
    """Ids of questions. What is chosen by the first half is confirmed on the second."""

    choosing: tuple[str, ...]
    """In the order in which they are asked: what is told early is told by a fair sample."""
    confirming: tuple[str, ...]
    shared_documents: int
    """Documents that hold answers of both halves."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "choosing": list(self.choosing),
            "confirming": list(self.confirming),
            "shared_documents": self.shared_documents,
        }


def split_questions(results: Sequence[QuestionResult], seed: int) -> Halves:
    """Two halves that are alike in content types, and have no document of an answer in common as
    far as the questions allow: what was learned of a document is no proof on that document.

    The same questions and seed give the same halves.
    """
    generator = random.Random(seed)
    ordered = sorted(results, key=lambda result: result.id)
    generator.shuffle(ordered)
    parts: tuple[list[QuestionResult], list[QuestionResult]] = ([], [])
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for group in sorted(_groups(ordered), key=len, reverse=True):
        kind = Counter(result.content_type for result in group).most_common(1)[0][0]
        # The half that has less of this type; of equal ones, the half that has less.
        half = min((0, 1), key=lambda place: (counts[place][kind], len(parts[place]), place))
        parts[half].extend(group)
        counts[half].update(result.content_type for result in group)
    documents = [{span.document for each in part for span in each.gold} for part in parts]
    choosing, confirming = ([each.id for each in part] for part in parts)
    generator.shuffle(choosing)
    return Halves(tuple(choosing), tuple(sorted(confirming)), len(documents[0] & documents[1]))


def _groups(results: Sequence[QuestionResult]) -> list[list[QuestionResult]]:
    """Questions whose answers stand in the same documents, in the order of ``results``. Where that
    would put too many together they are taken one by one."""
    root: dict[str, str] = {}

    def find(name: str) -> str:
        root.setdefault(name, name)
        while root[name] != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for result in results:
        names = [f"q:{result.id}", *(f"d:{span.document}" for span in result.gold)]
        for name in names[1:]:
            root[find(name)] = find(names[0])
    groups: defaultdict[str, list[QuestionResult]] = defaultdict(list)
    for result in results:
        groups[find(f"q:{result.id}")].append(result)
    found = []
    for group in groups.values():
        if len(group) > max(1, _LARGEST * len(results)):
            found += [[result] for result in group]
        else:
            found.append(group)
    return found
