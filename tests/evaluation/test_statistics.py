"""Means, intervals, tests and verdicts. How often they are right is simulated in the benchmarks'
tests."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from merestone.evaluation.measures.units import unit_of
from merestone.evaluation.statistics.intervals import (
    FEWEST_TOLD,
    Difference,
    corrected,
    difference,
    mean_interval,
    questions_needed,
)
from merestone.evaluation.statistics.student import t_quantile
from merestone.evaluation.statistics.verdicts import BOTH, verdict
from merestone.types import SettingsError

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@pytest.fixture
def _scipy() -> None:
    pytest.importorskip("scipy")


def made(mean: float, low: float, high: float, p: float = 0.5, spread: float = 0.3) -> Difference:
    return Difference(mean, low, high, p, 100, spread, 1, p, low, high)


@given(SHARES)
def test_an_interval_holds_its_mean_and_stays_on_the_scale(values: list[float]) -> None:
    found = mean_interval(values)
    assert found.mean == pytest.approx(np.mean(values))
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.count == len(values)


@pytest.mark.usefixtures("_scipy")
@pytest.mark.parametrize(("right", "count"), [(20, 20), (0, 20), (13, 20), (95, 100), (1, 3)])
def test_of_zeros_and_ones_the_interval_is_that_of_jeffreys(right: int, count: int) -> None:
    from scipy.stats import beta

    found = mean_interval([1.0] * right + [0.0] * (count - right))
    low, high = beta.ppf([0.025, 0.975], right + 0.5, count - right + 0.5)
    assert found.low == pytest.approx(low, abs=0.012)
    assert found.high == pytest.approx(max(high, right / count), abs=0.012)


def test_an_interval_of_small_values_is_not_drawn_towards_one() -> None:
    found = mean_interval([0.04, 0.05, 0.06] * 7)
    assert 0.045 < found.low < 0.05 < found.high < 0.055


def test_equal_values_that_are_no_shares_have_no_spread() -> None:
    found = mean_interval([120.0, 120.0])
    assert (found.low, found.mean, found.high) == (120, 120, 120)


def test_a_narrower_interval_with_more_questions() -> None:
    few, many = mean_interval([0.0, 1.0] * 10), mean_interval([0.0, 1.0] * 2000)
    assert many.high - many.low < (few.high - few.low) / 8


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
@profile(max_examples=30)
def test_p_is_the_share_of_signs_that_are_as_far_out(steps: list[int]) -> None:
    found = difference([0.0] * len(steps), [step / 10 for step in steps])
    sums = [
        sum(sign * abs(step) for sign, step in zip(signs, steps, strict=True))
        for signs in product((1, -1), repeat=len(steps))
    ]
    expected = sum(abs(total) >= abs(sum(steps)) for total in sums) / len(sums)
    assert found.p == pytest.approx(expected)


def test_drawn_signs_never_give_zero() -> None:
    assert difference([0.0] * 60, [0.1 + place / 1000 for place in range(60)]).p == 1 / 10_000


@pytest.mark.usefixtures("_scipy")
@pytest.mark.parametrize("seed", range(4))
def test_p_is_that_of_scipy(seed: int) -> None:
    from scipy.stats import permutation_test

    data = np.random.default_rng(seed).normal(0.25, 1, 30)
    expected = permutation_test(
        (data,),
        np.mean,
        permutation_type="samples",
        n_resamples=9999,
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    # Both draw: two standard errors of each.
    assert difference(np.zeros(30).tolist(), data.tolist()).p == pytest.approx(
        expected.pvalue, abs=0.02
    )


def test_nothing_differs() -> None:
    found = difference([0.3, 1.0, 0.1 + 0.2] * 10, [0.3, 1.0, 0.3] * 10)
    assert (found.mean, found.p, found.spread) == (0, 1, 0)
    assert found.low < 0 < found.high


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
@profile(max_examples=20)
def test_the_other_way_round_is_the_other_sign(pairs: list[tuple[float, float]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    forth, back = difference(first, second), difference(second, first)
    assert back.mean == pytest.approx(-forth.mean, abs=1e-9)
    assert back.p == pytest.approx(forth.p, abs=0.03)
    width = forth.high - forth.low
    assert back.low == pytest.approx(-forth.high, abs=0.1 * width + 1e-9)


def test_the_same_questions_give_the_same_figures() -> None:
    generator = np.random.default_rng(3)
    first, second = generator.random(80), generator.random(80)
    assert difference(first, second) == difference(first, second)
    assert mean_interval(first) == mean_interval(first)


def test_values_that_are_not_paired_are_refused() -> None:
    with pytest.raises(ValueError, match="paired"):
        difference([0.0, 1.0], [1.0])


@pytest.mark.usefixtures("_scipy")
def test_holm_by_hand() -> None:
    found = corrected([made(0.1, 0.0, 0.2, p) for p in (0.01, 0.04, 0.03, 0.005)])
    assert [one.adjusted_p for one in found] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert all(one.comparisons == 4 for one in found)


@pytest.mark.usefixtures("_scipy")
def test_with_more_comparisons_intervals_are_wider_and_one_alone_is_as_it_was() -> None:
    one = made(0.1, 0.0, 0.3)
    (alone,) = corrected([one])
    assert (alone.wide_low, alone.wide_high) == pytest.approx((0.0, 0.3))
    wide = corrected([one] * 20)[0]
    # Student's quantiles with 99 degrees: 3.10 at .00125, 1.98 at .025.
    assert wide.wide_low == pytest.approx(0.1 - 0.1 * 3.1 / 1.984, abs=0.002)
    assert wide.wide_high == pytest.approx(0.1 + 0.2 * 3.1 / 1.984, abs=0.004)
    assert (wide.low, wide.high) == (0.0, 0.3)


def test_questions_for_a_difference_by_the_normal_formula() -> None:
    # (1.95996 + 0.84162)² × 0.3² / 0.1²
    assert questions_needed(0.3, 0.1) == 71
    assert questions_needed(0.3, 0.1, comparisons=20) > questions_needed(0.3, 0.1)


def test_a_significant_difference_is_better_or_worse() -> None:
    ahead = made(0.1, 0.05, 0.15, 0.001)
    assert verdict(ahead).kind == "better"
    told = verdict(ahead).words
    assert told.startswith("Better: +0.100, 95 % interval +0.050 to +0.150, p = 0.001")
    assert verdict(ahead, smaller_is_better=True).kind == "worse"
    assert verdict(made(-0.1, -0.15, -0.05, 0.001)).kind == "worse"


def test_after_correction_it_may_not_be_told() -> None:
    assert verdict(replace(made(0.1, 0.05, 0.15, 0.01), adjusted_p=0.2)).kind == "cannot tell"


def test_a_small_interval_around_nothing_is_no_difference_that_matters() -> None:
    assert verdict(made(0.001, -0.01, 0.012)).kind == "no difference that matters"
    assert verdict(made(0.001, -0.01, 0.012), margin=0.01).kind == "cannot tell"
    significant = verdict(made(0.005, 0.001, 0.009, 0.001))
    assert significant.kind == "no difference that matters"
    assert "there is one" in significant.words


def test_what_cannot_be_told_says_how_many_questions_it_would_take() -> None:
    found = verdict(made(0.05, -0.01, 0.11, 0.09))
    assert (found.kind, found.needed) == ("cannot tell", questions_needed(0.3, 0.05))
    assert "About 290 questions would be needed to see a difference of 0.05" in found.words
    wanted = verdict(made(0.05, -0.01, 0.11, 0.09), wanted=0.02)
    assert wanted.needed == questions_needed(0.3, 0.02)


@pytest.mark.parametrize("count", [6, 7, 10, 24, 29, 100])
def test_fewer_than_six_questions_that_change_cannot_be_told(count: int) -> None:
    def changed(number: int) -> Difference:
        return difference([0.0] * count, [1.0] * number + [0.0] * (count - number))

    assert FEWEST_TOLD == 6
    assert changed(FEWEST_TOLD).is_significant
    assert not changed(FEWEST_TOLD - 1).is_significant


def test_where_only_the_interval_or_only_p_would_do_that_is_said() -> None:
    found = difference([1.0] * 18, [0.0] * 4 + [1.0] * 14)
    assert found.high < 0
    assert found.p == 0.125
    assert BOTH in verdict(found).words
    assert BOTH not in verdict(made(0.05, -0.01, 0.11, 0.09)).words


@pytest.mark.parametrize(
    ("measure", "size", "told", "needed"),
    [
        ("GoldCoverage@5", 0.046, "+4.6 points, 95 % interval −10.0 to +20.0,", "4.6 points"),
        ("Tokens@1000t", 1234.4, "+1,234 tokens, 95 % interval −0 to +0,", "1,234 tokens"),
        ("nDCG@5", 0.046, "+0.046, 95 % interval −0.100 to +0.200,", "0.046;"),
        ("FullGold@5", 0.0003, "+0.0 points, 95 % interval −10.0 to +20.0,", "0.03 points"),
    ],
)
def test_words_are_in_the_unit_of_the_measure(
    measure: str, size: float, told: str, needed: str
) -> None:
    found = verdict(made(size, -0.1, 0.2), wanted=size, unit=unit_of(measure))
    assert found.words.startswith(f"Cannot tell: {told}")
    assert f"to see a difference of {needed}" in found.words


def test_what_is_the_same_on_every_question_has_no_interval() -> None:
    words = verdict(difference([1.0] * 20, [1.0] * 20)).words
    assert words.startswith("Cannot tell: the same on every question. About ")


def test_never_fewer_questions_than_there_were() -> None:
    found = verdict(made(0.05, -0.01, 0.11, 0.09), wanted=0.5)
    assert found.needed is not None
    assert found.needed > 100


def test_few_questions_that_all_agree_prove_little_and_many_do() -> None:
    few = verdict(difference([1.0] * 20, [1.0] * 20))
    assert few.kind == "cannot tell"
    assert few.needed is not None
    assert few.needed > 20
    assert verdict(difference([1.0] * 300, [1.0] * 300)).kind == "no difference that matters"


def test_without_scipy_one_difference_can_be_told_and_several_name_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    t_quantile.cache_clear()
    assert mean_interval([0.0, 1.0, 1.0]).low < 2 / 3
    one = difference([0.0, 1.0, 0.5], [1.0, 0.0, 0.7])
    assert corrected([one])[0].adjusted_p == one.p
    with pytest.raises(SettingsError, match=r"merestone\[eval\]") as caught:
        corrected([one, one])
    assert caught.value.code == "extra-missing"
