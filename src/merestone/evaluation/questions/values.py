"""Questions whose answers are spans of documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Self, overload

from merestone.text.hashing import canonical_json, digest
from merestone.types import JSON, NotFoundError, SettingsError

Match = Literal["all", "any"]
Coordinates = Literal["text", "source"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that answers, or is part of an answer.

    With ``start`` and ``end`` the quote is what stands there; without them the quote says where
    it is. ``quote``, ``prefix`` and ``suffix`` are the text-quote selector of the W3C Web
    Annotation Data Model (2017), section 4.2.4.
    """

    doc: str
    """The document's id in the library. Empty ``quote`` and no span: the document as a whole, or
    the page."""
    start: int | None = None
    """In code points."""
    end: int | None = None
    quote: str = ""
    prefix: str = ""
    suffix: str = ""
    version: str = ""
    """Of the document that the span was taken in; empty: not known."""
    page: int | None = None
    """From 1."""
    coordinates: Coordinates = "text"
    """``text``: of ``Document.text``; ``source``: of the file decoded as text, or, with a page,
    of the characters of that page."""
    grade: int = 1
    """How good the answer is, for measures that know degrees; 0: judged and of no use."""
    extra: Mapping[str, JSON] = field(default_factory=dict, hash=False)
    """Keys of the file that mean nothing here; they are kept."""

    @property
    def span(self) -> tuple[int, int] | None:
        return None if self.start is None or self.end is None else (self.start, self.end)

    @property
    def is_whole(self) -> bool:
        """True if the document, or the page, is meant as a whole."""
        return self.span is None and not self.quote


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold."""

    id: str
    question: str
    evidence: tuple[Evidence, ...] = ()
    """Empty: nothing in the library answers it, and saying so is right."""
    match: Match = "all"
    """``all``: a full answer needs every span; ``any``: each alone answers."""
    scope: tuple[str, ...] = ()
    """Documents that the search is limited to; empty: all."""
    tags: tuple[str, ...] = ()
    language: str | None = None
    made: bool = False
    """True: written by a machine. Such questions are easier than real ones and scored apart."""
    principals: tuple[str, ...] = ()
    """Who asks; empty: whoever runs the evaluation."""
    extra: Mapping[str, JSON] = field(default_factory=dict, hash=False)
    """Keys of the file that mean nothing here; they are kept."""


def question_id(question: str) -> str:
    """The id of a question that was given none."""
    return digest("question", " ".join(question.split()))[:12]


class Questions(Sequence[Question]):
    """Questions in an order, each id once. They don't change."""

    def __init__(self, questions: Iterable[Question] = ()) -> None:
        """Raise ``SettingsError`` with code ``invalid-questions`` if two have one id."""
        self._questions = tuple(questions)
        self._by_id = {question.id: question for question in self._questions}
        if len(self._by_id) < len(self._questions):
            ids = [question.id for question in self._questions]
            twice = next(each for each in ids if ids.count(each) > 1)
            raise SettingsError(
                "invalid-questions",
                f"Two questions have the id {twice!r}.",
                "Give each an id of its own.",
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The questions of a file: one JSON object a line, or CSV with the columns ``question``,
        ``document`` and ``quote`` if its name ends in ``.csv``.

        Raises ``SettingsError`` that names the lines that can't be read, each with the problem.
        """
        from merestone.evaluation.questions.files import read_questions

        return cls(read_questions(Path(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file whole or not at all; keys that :meth:`load` did not know are kept."""
        from merestone.evaluation.questions.files import write_questions

        write_questions(Path(path), self._questions)

    @cached_property
    def hash(self) -> str:
        """Of all that is said in the questions; their order does not enter."""
        from merestone.evaluation.questions.json_form import question_to_json

        lines = sorted(canonical_json(question_to_json(question)) for question in self._questions)
        return digest("questions", *lines)

    def by_id(self, id: str) -> Question:
        """The question of that id; ``NotFoundError`` if there is none."""
        if id not in self._by_id:
            raise NotFoundError(
                "question-not-found",
                f"There is no question with the id {id!r} among {len(self)}.",
                "`merestone questions list` shows them.",
            )
        return self._by_id[id]

    def only(
        self,
        *,
        tags: Iterable[str] = (),
        ids: Iterable[str] = (),
        made: bool | None = None,
    ) -> Self:
        """Those that have any of ``tags``, are among ``ids``, and were or were not made by a
        machine; each as far as given. ``NotFoundError`` for an id that is none."""
        wanted, named = set(tags), {self.by_id(id).id for id in ids}
        return type(self)(
            question
            for question in self._questions
            if (not wanted or wanted & set(question.tags))
            and (not named or question.id in named)
            and (made is None or question.made == made)
        )

    def with_all(self, others: Iterable[Question]) -> Self:
        """These and ``others`` behind them; one of the same id takes the place of the old one."""
        merged = {**self._by_id, **{question.id: question for question in others}}
        return type(self)(merged.values())

    def __len__(self) -> int:
        return len(self._questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self._questions)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Question | Self:
        if isinstance(index, slice):
            return type(self)(self._questions[index])
        return self._questions[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Questions) and self._questions == other._questions

    def __hash__(self) -> int:
        return hash(self._questions)

    def __repr__(self) -> str:
        return f"<{len(self)} questions>"
