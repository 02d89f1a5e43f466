"""Measures count what a reader of the ranked passages would have of the gold."""

from __future__ import annotations

import pytest
from gold import Question, Span, View
from hypothesis import given
from hypothesis import strategies as st
from scoring import WORDS, difference, measure

from merestone.types import Document

# Words of five code points: word n begins at 5n.
TEXT = "".join(f"{number:04} " for number in range(2 * WORDS))
VIEWS = {"a": View(Document("a", TEXT)), "b": View(Document("b", TEXT))}


def words(first: int, last: int, document: str = "a") -> Span:
    return document, 5 * first, 5 * last - 1


def asked(*gold: Span, match: str = "all") -> Question:
    return Question("q", "?", match, [], list(gold))


def test_a_span_inside_one_passage_is_complete() -> None:
    found = measure(asked(words(10, 20)), [words(5, 25)], VIEWS)
    assert found["complete@5"] == found["FullGold@5"] == found["FullGold@1000w"] == 1
    assert found["GoldCoverage@1000w"] == 1
    assert found["IoU@1000w"] == pytest.approx(10 / 20)


def test_a_span_over_two_passages_that_touch_is_whole_in_the_words_but_in_no_passage() -> None:
    found = measure(asked(words(10, 20)), [words(5, 15), words(15, 25)], VIEWS)
    assert found["GoldCoverage@5"] == found["FullGold@1000w"] == 1
    assert found["hit@5"] == 1
    assert found["complete@5"] == found["FullGold@5"] == 0


def test_a_span_with_a_gap_is_not_whole() -> None:
    found = measure(asked(words(10, 20)), [words(5, 14), words(15, 25)], VIEWS)
    assert found["GoldCoverage@1000w"] == pytest.approx(9 / 10)
    assert found["FullGold@1000w"] == 0


def test_all_needs_every_span_and_any_only_one() -> None:
    gold = words(0, 10), words(100, 130)
    ranked = [words(0, 10)]
    every = measure(asked(*gold), ranked, VIEWS)
    one = measure(asked(*gold, match="any"), ranked, VIEWS)
    assert (every["FullGold@5"], every["GoldCoverage@5"]) == (0, pytest.approx(10 / 40))
    assert (one["FullGold@5"], one["GoldCoverage@5"]) == (1, 1)


def test_the_same_place_of_another_document_is_no_hit() -> None:
    found = measure(asked(words(0, 10)), [words(0, 10, "b")], VIEWS)
    assert not any(found.values())


def test_what_comes_twice_uses_up_the_budget_twice() -> None:
    gold = asked(words(900, 910))
    once = measure(gold, [words(0, 900), words(900, 1000)], VIEWS)
    twice = measure(gold, [words(0, 900), words(800, 900), words(900, 1000)], VIEWS)
    assert once["GoldCoverage@1000w"] == 1
    assert twice["GoldCoverage@1000w"] == 0


def test_the_last_passage_is_read_as_far_as_the_budget_goes() -> None:
    found = measure(asked(words(990, 1010)), [words(0, 2 * WORDS)], VIEWS)
    assert found["GoldCoverage@1000w"] == pytest.approx(10 / 20)
    assert found["FullGold@1000w"] == 0
    assert found["complete@5"] == 1


@given(st.lists(st.tuples(st.integers(0, 1500), st.integers(1, 400)), max_size=8))
def test_measures_are_shares_and_more_passages_cover_no_less(
    ranges: list[tuple[int, int]],
) -> None:
    ranked = [words(first, first + length) for first, length in ranges]
    question = asked(words(100, 160), words(700, 720))
    whole = measure(question, ranked, VIEWS)
    assert all(0 <= value <= 1 for value in whole.values())
    fewer = measure(question, ranked[:-1], VIEWS)
    assert fewer["GoldCoverage@1000w"] <= whole["GoldCoverage@1000w"]
    assert fewer["FullGold@1000w"] <= whole["FullGold@1000w"]


def test_a_constant_difference_has_no_width() -> None:
    found = difference([[0.25] * 30, [0.75] * 10])
    assert (found.mean, found.low, found.high) == (pytest.approx(0.5),) * 3
    assert found.verdict == "ahead"


def test_sets_weigh_alike_and_noise_is_level() -> None:
    assert difference([[1.0] * 100, [0.0]]).mean == pytest.approx(0.5)
    noise = difference([[1.0, -1.0] * 20])
    assert noise.low < 0 < noise.high
    assert noise.verdict == "level"


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_an_interval_holds_the_mean_and_mirrors_with_the_sign(values: list[float]) -> None:
    found = difference([values])
    mirrored = difference([[-value for value in values]])
    assert found.low - 1e-9 <= found.mean <= found.high + 1e-9
    assert mirrored.low == pytest.approx(-found.high)
