"""The edit map between two texts."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.text.alignment import align_texts, longest_ascending
from merestone.types import SharedRun

lines = st.lists(
    st.sampled_from(
        [
            "The pump runs.",
            "Close the valve before it is opened.",
            "a b c",
            "  indented",
            "",
            "漢字かな",
        ]
        + ["Ask the operator for the key.", "a", "-- --", "x\ty", "\u0301", "\ud800", "  "]
    ),
    max_size=12,
)
texts = st.builds(str.join, st.sampled_from(["\n", "\r\n", " "]), lines) | st.text(max_size=60)


def shared(old: str, new: str) -> list[str]:
    return [old[run.old : run.old + run.length] for run in align_texts(old, new)]


def kept_characters(text: str, runs: list[SharedRun], *, of_new: bool) -> int:
    starts = [(run.new if of_new else run.old, run.length) for run in runs]
    return sum(len("".join(text[start : start + length].split())) for start, length in starts)


@given(texts, texts)
def test_runs_are_equal_in_both_texts_and_apart(old: str, new: str) -> None:
    runs = align_texts(old, new)
    for run in runs:
        assert run.length > 0
        assert old[run.old : run.old + run.length] == new[run.new : run.new + run.length]
    for ranges in (
        [(run.old, run.length) for run in runs],
        sorted((run.new, run.length) for run in runs),
    ):
        for (start, length), (following, _) in pairwise(ranges):
            assert start + length <= following


@given(texts)
def test_a_text_is_all_in_itself(text: str) -> None:
    runs = align_texts(text, text)
    assert all(run.old == run.new for run in runs)
    assert kept_characters(text, runs, of_new=False) == len("".join(text.split()))


@given(texts, texts, texts)
def test_what_stands_before_and_behind_an_insertion_is_found(
    before: str, inserted: str, after: str
) -> None:
    old, new = f"{before}\n{after}", f"{before}\n{inserted}\n{after}"
    runs = align_texts(old, new)
    # Whole lines are shared; which of equal ones is told apart by nothing.
    assert kept_characters(old, runs, of_new=False) == len("".join(old.split()))


def test_a_word_that_changed_is_no_part_of_a_run() -> None:
    assert shared("The pump runs at 40 bar.", "The pump runs at 50 bar.") == [
        "The pump runs at",
        "bar.",
    ]


def test_writing_without_spaces_is_compared_sign_by_sign() -> None:
    assert shared("阀门必须关闭。", "阀门应当关闭。") == ["阀门", "关闭。"]


def test_a_line_that_moved_is_found_with_the_lines_that_went_along() -> None:
    old = "one\nThe line that moved is long.\nyes\ntwo\nthree\nfour\n"
    new = "one\ntwo\nthree\nfour\nThe line that moved is long.\nyes\n"
    assert "The line that moved is long.\nyes" in shared(old, new)


def test_anchors_are_kept_and_parted_by_what_is_between() -> None:
    old, new = "b a x a", "a a x b"
    assert align_texts(old, new, [SharedRun(6, 0, 1)]) == [SharedRun(6, 0, 1)]


@given(st.lists(st.integers(0, 9), max_size=9))
def test_the_longest_ascending_subsequence(values: list[int]) -> None:
    found = longest_ascending(values)
    assert found == sorted(set(found))
    chosen = [values[index] for index in found]
    assert chosen == sorted(set(chosen))
    longer = combinations(values, len(found) + 1)
    assert not any(list(picked) == sorted(set(picked)) for picked in longer)


@pytest.mark.parametrize("old", ["", " \n"])
def test_an_empty_text_shares_nothing(old: str) -> None:
    assert align_texts(old, "text") == []
    assert align_texts("text", old) == []
