"""Where words part."""

from __future__ import annotations

import pytest

from merestone.text.words import is_inside_word


@pytest.mark.parametrize(
    "marked",
    [
        "val|ve",
        "don|'t",
        "3|.14",
        "snake|_case",
        "fu\u0308|r",
        "カタ|カナ",
        "x" * 100 + "|" + "x" * 100,
    ],
)
def test_inside_a_word(marked: str) -> None:
    assert is_inside_word(marked.replace("|", ""), marked.index("|"))


@pytest.mark.parametrize(
    "marked",
    [
        "|word",
        "word|",
        "one |two",
        "one| two",
        "(|one)",
        "one|-two",
        "one|,",
        "漢|字",
        "a\n|b",
        "|",
    ],
)
def test_between_words(marked: str) -> None:
    assert not is_inside_word(marked.replace("|", ""), marked.index("|"))
