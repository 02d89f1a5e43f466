"""Several writers of one file of questions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from merestone import Questions
from merestone.evaluation.questions import Question, changing
from merestone.evaluation.questions.changing import change_questions
from merestone.types import StoreBusyError


def test_of_questions_added_at_once_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    writers, each = 4, 8
    together = Barrier(writers)

    def add(writer: int) -> None:
        together.wait()
        for number in range(each):
            question = Question(f"{writer}-{number}", "How much?")
            change_questions(path, lambda known, new=question: known.with_all([new]))  # type: ignore[misc]

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(add, range(writers)))
    assert len(Questions.load(path)) == writers * each
    assert [entry.name for entry in tmp_path.iterdir()] == ["questions.jsonl"]


def test_who_waits_too_long_is_told_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing, "_SECONDS", 0.0)
    path = tmp_path / "questions.jsonl"
    caught: list[StoreBusyError] = []

    def slow(known: Questions) -> Questions:
        with pytest.raises(StoreBusyError) as found:
            change_questions(path, lambda known: known.with_all([Question("late", "Late?")]))
        caught.append(found.value)
        return known.with_all([Question("first", "First?")])

    change_questions(path, slow)
    assert caught[0].code == "questions-busy"
    assert [question.id for question in Questions.load(path)] == ["first"]


def test_a_change_that_fails_leaves_the_file_free(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"

    def fails(known: Questions) -> Questions:
        raise KeyError("nothing")

    with pytest.raises(KeyError):
        change_questions(path, fails)
    change_questions(path, lambda known: known.with_all([Question("q", "Why?")]))
    assert len(Questions.load(path)) == 1
