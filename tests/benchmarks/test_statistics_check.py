"""Intervals and verdicts are as often right as they say. A small version of the simulation."""

from __future__ import annotations

import pytest
from statistics_check import (
    CONFIGURATIONS,
    COUNTS,
    DIFFERENCES,
    MEANS,
    NULLS,
    coverage_of_differences,
    coverage_of_means,
    false_families,
    false_verdicts,
)


def _most(total: int, rate: float = 0.05) -> float:
    """Three standard errors above what ``rate`` gives on the mean."""
    return total * rate + 3 * (total * rate * (1 - rate)) ** 0.5


@pytest.mark.parametrize("kind", NULLS)
def test_equal_configurations_are_rarely_said_to_differ(kind: str) -> None:
    assert false_verdicts(kind, 20, 200) <= _most(200)


def test_many_equal_configurations_are_rarely_said_to_differ_once_corrected() -> None:
    pytest.importorskip("scipy")
    with_correction, without = false_families("0 or 1", 50, 20)
    assert with_correction <= _most(20)
    assert without >= with_correction


@pytest.mark.parametrize("name", MEANS)
def test_intervals_of_means_hold_the_truth(name: str) -> None:
    assert coverage_of_means(MEANS[name], 50, 300).share >= 0.95 - 0.045


@pytest.mark.parametrize("name", DIFFERENCES)
def test_intervals_of_differences_hold_the_truth(name: str) -> None:
    assert coverage_of_differences(DIFFERENCES[name], 50, 300).share >= 0.95 - 0.045


@pytest.mark.ci
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", NULLS)
def test_one_in_twenty_at_most_of_a_thousand_comparisons(kind: str, count: int) -> None:
    assert false_verdicts(kind, count, 1000) <= _most(1000)


@pytest.mark.ci
@pytest.mark.parametrize("kind", NULLS)
def test_one_in_twenty_at_most_of_families(kind: str) -> None:
    pytest.importorskip("scipy")
    assert CONFIGURATIONS == 20
    assert false_families(kind, 50, 200)[0] <= _most(200)


@pytest.mark.ci
@pytest.mark.parametrize("count", COUNTS)
def test_intervals_hold_the_truth_in_93_to_97_of_100(count: int) -> None:
    """Over all kinds of values: of one of them few questions can give a little less or more."""
    found = [coverage_of_means(each, count, 1000) for each in MEANS.values()]
    found += [coverage_of_differences(each, count, 1000) for each in DIFFERENCES.values()]
    assert all(0.915 <= one.share <= 0.99 for one in found)
    assert 0.93 <= sum(one.share for one in found) / len(found) <= 0.97
