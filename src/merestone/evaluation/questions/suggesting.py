"""Draft questions about a library's documents, to begin with where there are none."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from merestone.embedding.http import UnavailableError
from merestone.evaluation.gold.checking import written
from merestone.evaluation.questions.drafts import UNWORDED, Draft, drafts_of, passages_of
from merestone.evaluation.questions.json_form import question_to_json
from merestone.evaluation.questions.rarity import Rarity
from merestone.evaluation.questions.values import Evidence, Question, question_id
from merestone.evaluation.questions.writer import QuestionWriter
from merestone.types import JSON, Document, Snapshot, content_type

EASIER = (
    "These questions are made, from the very passages that answer them, so they are easier than "
    "real ones: they are marked as made and scored apart. Word each as someone would ask it, and "
    "collect questions that people asked."
)
_SAMPLE = 60
"""Documents among which the rarity of words is judged."""
_PIECES = 20_000
_ROUNDS = 8
"""Questions of one document at most."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Draft questions, all of them ``made``, and what a person should know of them."""

    questions: tuple[Question, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, JSON]:
        return {
            "questions": [question_to_json(question) for question in self.questions],
            "notes": list(self.notes),
        }


def suggest_questions(
    snapshot: Snapshot,
    *,
    count: int = 20,
    seed: int = 0,
    existing: Iterable[Question] = (),
    writer: QuestionWriter | None = None,
) -> Suggestion:
    """Up to ``count`` draft questions, spread over content types and documents.

    By rules from headings, definitions, names and key sentences; with a ``writer`` a model words
    each from the same passages. ``existing`` questions are not made again. The same library,
    ``seed`` and ``count`` give the same passages.
    """
    chance = random.Random(seed)
    order = _documents(snapshot, chance)
    rarity = Rarity(islice(_pieces(snapshot, order[:_SAMPLE]), _PIECES))
    making = _Making(snapshot, rarity, chance, {_folded(q.question) for q in existing}, writer)
    made: list[Question] = []
    for _ in range(_ROUNDS):
        before = len(made)
        for document in order:
            if len(made) == count:
                break
            question = making.next_of(document)
            if question is not None:
                made.append(question)
        if len(made) in (before, count):
            break
    notes = [EASIER, *making.notes]
    if making.unworded:
        are = "is" if making.unworded == 1 else "are"
        notes.append(
            f"{making.unworded} of {len(made)} {are} no question yet, but a heading or the rarest "
            "words of a sentence: nobody asks like that, so word or drop them."
        )
    return Suggestion(tuple(made), tuple(notes))


class _Making:
    """Makes one question after the other."""

    def __init__(
        self,
        snapshot: Snapshot,
        rarity: Rarity,
        chance: random.Random,
        taken: set[str],
        writer: QuestionWriter | None,
    ) -> None:
        self._snapshot, self._rarity, self._chance = snapshot, rarity, chance
        self._taken, self._writer = taken, writer
        self.unworded = 0
        """Questions that are only a heading or words of a sentence."""
        self._drafts: dict[str, list[Draft]] = {}
        self.notes: list[str] = []

    def next_of(self, id: str) -> Question | None:
        """Another question about a document; ``None`` if there is none."""
        drafts = self._drafts.get(id)
        document = self._snapshot.document(id) if drafts != [] else None
        if document is None:
            return None
        if drafts is None:
            drafts = self._drafts[id] = self._mixed(list(drafts_of(document, self._rarity)))
        while drafts:
            draft = drafts.pop(0)
            question = self._question(document, draft)
            if _folded(question.question) not in self._taken:
                self._taken.add(_folded(question.question))
                is_made_of_rules = question.question == draft.question
                self.unworded += is_made_of_rules and draft.rule in UNWORDED
                return question
        return None

    def _mixed(self, drafts: Sequence[Draft]) -> list[Draft]:
        """One of each rule in turn, in a random order, from different passages; where there is a
        question to be had, not its bare words."""
        by_rule: defaultdict[str, list[Draft]] = defaultdict(list)
        for draft in drafts:
            by_rule[draft.rule].append(draft)
        mixed: list[Draft] = []
        for is_last in (False, True):
            groups = [by_rule[rule] for rule in by_rule if (rule in UNWORDED) == is_last]
            for group in groups:
                self._chance.shuffle(group)
            self._chance.shuffle(groups)
            self._take_turns(groups, mixed)
        return mixed

    def _take_turns(self, groups: Sequence[list[Draft]], mixed: list[Draft]) -> None:
        """Move drafts of passages that are not asked for yet from ``groups`` to ``mixed``."""
        while any(groups) and len(mixed) < 4 * _ROUNDS:
            for group in groups:
                if group:
                    draft = group.pop()
                    if not any(one.start < draft.end and draft.start < one.end for one in mixed):
                        mixed.append(draft)

    def _question(self, document: Document, draft: Draft) -> Question:
        words = self._written(document, draft)
        evidence = written(
            Evidence(document.id),
            document.id,
            (draft.start, draft.end),
            document.text,
            document.version,
        )
        return Question(
            id=question_id(words or draft.question),
            question=words or draft.question,
            evidence=(evidence,),
            language=document.language,
            made=True,
            extra={"made_by": "model" if words else f"rule: {draft.rule}"},
        )

    def _written(self, document: Document, draft: Draft) -> str | None:
        """The question in a model's words, as long as it answers."""
        if self._writer is None:
            return None
        try:
            return self._writer.write(document.text[draft.start : draft.end], document.title)
        except UnavailableError as error:
            self.notes.append(f"{error}. The rest was made by rules.")
            self._writer = None
            return None


def _documents(snapshot: Snapshot, chance: random.Random) -> list[str]:
    """Ids of documents with text, one of each content type in turn, else in a random order."""
    by_type: defaultdict[str, list[str]] = defaultdict(list)
    for record in snapshot.records():
        if record.version and record.status.has_text:
            by_type[content_type(record.media_type)].append(record.id)
    groups = [by_type[name] for name in sorted(by_type)]
    for group in groups:
        chance.shuffle(group)
    order: list[str] = []
    while any(groups):
        order += [group.pop() for group in groups if group]
    return order


def _pieces(snapshot: Snapshot, ids: Iterable[str]) -> Iterator[str]:
    for id in ids:
        document = snapshot.document(id)
        if document is not None:
            yield from passages_of(document)


def _folded(question: str) -> str:
    return " ".join(question.casefold().split())
