"""How often intervals and verdicts are right, by simulation.

    python benchmarks/statistics_check.py [--simulations N] [--families N]

Needs the extra ``eval``. Three tables:

- of means: how many of the intervals hold the true mean, and of them how wide they are
- of differences: the same, where one configuration is truly better or not
- of verdicts under a null, two configurations that are equally good with noise of their own: how
  many say "better" or "worse"; and where 20 such are held against a baseline at once, in how many
  such families any of them does, with and without correction
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merestone.evaluation.runs.values import Interval
from merestone.evaluation.statistics.intervals import (
    Difference,
    corrected,
    difference,
    mean_interval,
    paired_interval,
)
from merestone.evaluation.statistics.verdicts import verdict

COUNTS = (20, 50, 200)
CONFIGURATIONS = 20
SEED = 20261130

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """Where the values of questions come from, and what their mean is."""

    draw: Callable[[np.random.Generator, int], tuple[Values, float]]


@dataclass(frozen=True)
class Coverage:
    """Of intervals for one population and number of questions."""

    held: int
    total: int
    width: float

    @property
    def share(self) -> float:
        return self.held / self.total


def _rates(low: float, high: float) -> Population:
    def draw(generator: np.random.Generator, count: int) -> tuple[Values, float]:
        rate = generator.uniform(low, high)
        return (generator.random(count) < rate).astype(float), rate

    return Population(draw)


def _mixed(zero: float, one: float) -> Population:
    """Shares of gold that was found: nothing, all, or anything between."""

    def draw(generator: np.random.Generator, count: int) -> tuple[Values, float]:
        place, between = generator.random(count), generator.random(count)
        values = np.where(place < zero, 0.0, np.where(place < zero + one, 1.0, between))
        return values, one + (1 - zero - one) / 2

    return Population(draw)


def _small(generator: np.random.Generator, count: int) -> tuple[Values, float]:
    return generator.beta(1.2, 12, count), 1.2 / 13.2


def _reciprocal_ranks(generator: np.random.Generator, count: int) -> tuple[Values, float]:
    ranks = generator.geometric(0.45, count)
    mean = sum(0.45 * 0.55 ** (rank - 1) / rank for rank in range(1, 11))
    return np.where(ranks > 10, 0, 1 / ranks), mean


MEANS: Mapping[str, Population] = {
    "0 or 1, rate .1 to .9": _rates(0.1, 0.9),
    "0 or 1, rate .9 to .97": _rates(0.9, 0.97),
    "coverage, middling": _mixed(0.15, 0.6),
    "coverage, nearly all 1": _mixed(0.03, 0.89),
    "precision, small and skewed": Population(_small),
    "reciprocal ranks": Population(_reciprocal_ranks),
}


def _flips(gained: float, lost: float) -> Population:
    def draw(generator: np.random.Generator, count: int) -> tuple[Values, float]:
        place = generator.random(count)
        return np.where(place < gained, 1.0, np.where(place < gained + lost, -1.0, 0.0)), (
            gained - lost
        )

    return Population(draw)


def _continuous(generator: np.random.Generator, count: int) -> tuple[Values, float]:
    return generator.normal(0.02, 0.1, count), 0.02


def _skewed(generator: np.random.Generator, count: int) -> tuple[Values, float]:
    return generator.exponential(0.1, count) - 0.08, 0.02


def _mostly_ties(generator: np.random.Generator, count: int) -> tuple[Values, float]:
    place, moved = generator.random(count), generator.normal(0.1, 0.4, count)
    return np.where(place < 0.8, 0.0, moved), 0.02


DIFFERENCES: Mapping[str, Population] = {
    "0 or 1, 15 % won, 5 % lost": _flips(0.15, 0.05),
    "0 or 1, 10 % won, 10 % lost": _flips(0.1, 0.1),
    "continuous": Population(_continuous),
    "continuous, skewed": Population(_skewed),
    "80 % ties": Population(_mostly_ties),
}


def _binary(generator: np.random.Generator, hardness: Values) -> Values:
    return (generator.random(len(hardness)) < hardness).astype(float)


def _noisy(generator: np.random.Generator, hardness: Values) -> Values:
    return np.clip(hardness + generator.normal(0, 0.1, len(hardness)), 0, 1)


def _tied(generator: np.random.Generator, hardness: Values) -> Values:
    """As a rule what the question gives in any case, rarely anything."""
    other = generator.random(len(hardness)) < 0.1
    return np.where(other, generator.random(len(hardness)), np.round(hardness, 1))


NULLS: Mapping[str, Callable[[np.random.Generator, Values], Values]] = {
    "0 or 1": _binary,
    "continuous": _noisy,
    "heavy ties": _tied,
}
"""What a configuration scores on questions of a given hardness. Two that draw alike differ by
noise alone."""


def coverage_of_means(population: Population, count: int, simulations: int) -> Coverage:
    return _coverage(population, count, simulations, mean_interval)


def coverage_of_differences(population: Population, count: int, simulations: int) -> Coverage:
    return _coverage(
        population, count, simulations, lambda values: paired_interval([0.0] * count, values)
    )


def _coverage(
    population: Population,
    count: int,
    simulations: int,
    interval: Callable[[list[float]], Interval],
) -> Coverage:
    generator = np.random.default_rng((SEED, count))
    held, width = 0, 0.0
    for _ in range(simulations):
        values, truth = population.draw(generator, count)
        found = interval(values.tolist())
        held += found.low <= truth <= found.high
        width += found.high - found.low
    return Coverage(held, simulations, width / simulations)


def false_verdicts(kind: str, count: int, simulations: int) -> int:
    """Of comparisons of two equal configurations, those that are said to differ."""
    generator = np.random.default_rng((SEED, count))
    return sum(
        _differs(_null_differences(generator, kind, count, 1)[0]) for _ in range(simulations)
    )


def false_families(kind: str, count: int, families: int) -> tuple[int, int]:
    """Of families of 20 configurations that equal their baseline, those where any is said to
    differ: with correction, and without."""
    generator = np.random.default_rng((SEED, count))
    with_correction = without = 0
    for _ in range(families):
        single = _null_differences(generator, kind, count, CONFIGURATIONS)
        with_correction += any(map(_differs, corrected(single)))
        without += any(map(_differs, single))
    return with_correction, without


def _null_differences(
    generator: np.random.Generator, kind: str, count: int, configurations: int
) -> list[Difference]:
    hardness = generator.beta(1.5, 0.8, count)
    baseline = NULLS[kind](generator, hardness).tolist()
    return [
        difference(baseline, NULLS[kind](generator, hardness).tolist())
        for _ in range(configurations)
    ]


def _differs(one: Difference) -> bool:
    return verdict(one, margin=0.0).kind in {"better", "worse"}


def main() -> None:
    parser = argparse.ArgumentParser(description="How often intervals and verdicts are right")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--families", type=int, default=200)
    options = parser.parse_args()
    print("95 % intervals that hold the truth, % (mean width)")
    for populations, measure in (
        (MEANS, coverage_of_means),
        (DIFFERENCES, coverage_of_differences),
    ):
        for name, population in populations.items():
            found = [measure(population, count, options.simulations) for count in COUNTS]
            cells = "".join(f"{100 * one.share:8.1f} ({one.width:.3f})" for one in found)
            print(f"{name:30}{cells}", flush=True)
    print(f"verdict better or worse of equal configurations, % of {options.simulations}")
    for kind in NULLS:
        wrong = [false_verdicts(kind, count, options.simulations) for count in COUNTS]
        print(f"{kind:30}{_shares(wrong, options.simulations)}", flush=True)
    print(f"any of {CONFIGURATIONS}, % of {options.families} families: corrected / not")
    for kind in NULLS:
        pairs = [false_families(kind, count, options.families) for count in COUNTS]
        for name, column in zip(
            ("corrected", "not corrected"), zip(*pairs, strict=True), strict=True
        ):
            print(f"{kind + ', ' + name:30}{_shares(column, options.families)}", flush=True)


def _shares(wrong: list[int] | tuple[int, ...], total: int) -> str:
    return "".join(f"{100 * one / total:8.1f}        " for one in wrong)


if __name__ == "__main__":
    main()
