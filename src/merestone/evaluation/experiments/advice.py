"""What to do after a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.evaluation.experiments.comparison import Comparison, Contrast
from merestone.evaluation.statistics.verdicts import rounded_up

_MANY = 500
"""More questions than that are more than anyone writes to tell two configurations apart."""


def advice(comparison: Comparison, names: Sequence[str]) -> str:
    """A sentence or two: which configuration to take, or what would tell. ``names`` are what the
    runs are called in it. Empty if nothing was compared."""
    found = [
        contrast
        for column in range(1, len(comparison.runs))
        if (contrast := comparison.contrast(column, comparison.measures[0])) is not None
    ]
    if not found:
        return ""
    found = [each for each in found if not comparison.changes_nothing(each.column)]
    if not found:
        return f"Keep {_first(comparison, names)}: what was tried changes nothing."
    better = [each for each in found if each.verdict.kind == "better"]
    if better:
        return _taken(comparison, better, names)
    return f"Keep {_first(comparison, names)}{_why_kept(found, names)}"


def _taken(comparison: Comparison, better: Sequence[Contrast], names: Sequence[str]) -> str:
    best = max(better, key=lambda each: abs(each.difference.mean))
    told = f"Take {names[best.column]}."
    if len(better) > 1:
        others = ", ".join(names[each.column] for each in better if each is not best)
        told += f" Better too, by less: {others}."
    if not comparison.configurations:
        return told
    words = comparison.configurations[best.column].words
    return f"{told} Write into your configuration, and run `merestone sync`: {words}"


def _first(comparison: Comparison, names: Sequence[str]) -> str:
    configurations = comparison.configurations
    is_yours = bool(configurations) and not configurations[0].tables
    return "what you have" if is_yours else names[0]


def _why_kept(found: Sequence[Contrast], names: Sequence[str]) -> str:
    open_ones = [each for each in found if each.verdict.kind == "cannot tell"]
    equal = [each for each in found if each.verdict.kind == "no difference that matters"]
    if not open_ones and not equal:
        return ": nothing that was tried is as good."
    if not open_ones:
        which = ", ".join(names[each.column] for each in equal)
        return f", or take what costs less: {which} is as good as it."
    missing = [
        each.verdict.needed - each.difference.count
        for each in open_ones
        if each.verdict.needed is not None
    ]
    count = open_ones[0].difference.count
    told = f": {count} {'question' if count == 1 else 'questions'} cannot tell more."
    if not missing or min(missing) > _MANY:
        return f"{told} If there is a difference it is small: go by what each costs."
    more = rounded_up(max(1, min(missing)))
    return f"{told} Add about {more} that people really ask, and compare again."
