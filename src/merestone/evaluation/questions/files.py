"""Files of questions: one JSON object a line, or CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from merestone.evaluation.questions.json_form import (
    QuestionFormError,
    question_from_json,
    question_to_json,
)
from merestone.evaluation.questions.table import TABLE_SUFFIXES, from_table, to_table
from merestone.evaluation.questions.values import Question
from merestone.files import write_text
from merestone.text.strict_json import strict_json
from merestone.types import JSON, SettingsError

_TOLD = 5
"""Faults that are told in one error at most."""


@dataclass(slots=True)
class _Faults:
    """What is wrong with a file, line by line."""

    path: Path
    found: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, line: int, fault: QuestionFormError) -> None:
        self.found.append((line, fault.problem, fault.remedy))

    def raise_if_any(self) -> None:
        """``SettingsError`` with all faults, or the first few of them."""
        if not self.found:
            return
        told = "; ".join(f"line {line}: {problem}" for line, problem, _ in self.found[:_TOLD])
        more = len(self.found) - _TOLD
        told += f"; and {more} more" if more > 0 else ""
        remedies = list(dict.fromkeys(remedy for *_, remedy in self.found[:_TOLD]))
        raise SettingsError("invalid-questions", f"{self.path}, {told}.", " ".join(remedies))


def read_questions(path: Path) -> list[Question]:
    """The questions of ``path`` in the order of the file; ``SettingsError`` if it can't be read."""
    text = _text_of(path)
    faults = _Faults(path)
    is_table = path.suffix.lower() in TABLE_SUFFIXES
    rows = from_table(text, path.suffix.lower(), faults.add) if is_table else _lines(text, faults)
    questions: dict[str, tuple[int, Question]] = {}
    for line, question in rows:
        if question.id in questions:
            first = questions[question.id][0]
            problem = f"the id {question.id!r} is that of line {first} too"
            faults.add(line, QuestionFormError(problem, "Give each question an id of its own."))
        else:
            questions[question.id] = line, question
    faults.raise_if_any()
    return [question for _, question in questions.values()]


def _lines(text: str, faults: _Faults) -> Iterator[tuple[int, Question]]:
    # A line of JSON ends at a line feed alone: other separators may stand in a string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, question_from_json(strict_json(line))
        except QuestionFormError as fault:
            faults.add(number, fault)
        except (ValueError, RecursionError) as error:
            problem = f"it is no JSON that can be read: {error}"
            remedy = "Write one JSON object on each line, with each key once."
            faults.add(number, QuestionFormError(problem, remedy))


def _text_of(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SettingsError(
            "questions-not-found",
            f"There is no file of questions at {path}.",
            "Begin one with `merestone questions add` or `merestone questions suggest`, or name "
            "another with --file or evaluation.questions.",
        ) from error
    except (OSError, ValueError) as error:
        raise SettingsError(
            "invalid-questions", f"{path} cannot be read: {error}.", "Give a text file in UTF-8."
        ) from error


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Put the questions into ``path``, whole or not at all."""
    if path.suffix.lower() in TABLE_SUFFIXES:
        text = to_table(questions, path.suffix.lower())
    else:
        text = "".join(json_line(question_to_json(question)) for question in questions)
    write_text(path, text)


def json_line(shape: JSON) -> str:
    line = json.dumps(shape, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        # Half a pair of UTF-16 has no place in UTF-8.
        line = json.dumps(shape)
    return f"{line}\n"
