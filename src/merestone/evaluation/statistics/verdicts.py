"""What a difference between two configurations means, in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal

from merestone.evaluation.measures.units import PLAIN, Unit
from merestone.evaluation.statistics.intervals import Difference, questions_needed

VerdictKind = Literal["better", "worse", "no difference that matters", "cannot tell"]

MARGIN = 0.02
"""Of a measure from 0 to 1: a smaller difference is taken for one that nobody would notice."""

BOTH = "Better or worse takes both: p of 0.05 at most, and an interval without 0."
"""Said where one of the two is given and the other is not."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said of a difference."""

    kind: VerdictKind
    words: str
    """With figures; one sentence or two."""
    needed: int | None = None
    """Where it cannot be told: about how many questions it would take. ``None``: no number would,
    since nothing differs and no margin is given."""


def verdict(
    difference: Difference,
    *,
    margin: float = MARGIN,
    wanted: float | None = None,
    smaller_is_better: bool = False,
    unit: Unit = PLAIN,
) -> Verdict:
    """Better or worse if the difference is significant, corrected for the number of comparisons.

    No difference that matters if the interval, as wide as that number asks, lies within
    ``margin`` to both sides: two one-sided tests (Schuirmann 1987) at 2.5 % each. That goes first:
    of a thousand questions a difference of 0.001 is significant, too. ``margin`` is in the unit of
    the measure. Else it cannot be told, and ``needed`` says how many questions would show a
    difference of ``wanted``, by default one as large as was seen. Where these questions would have
    shown ``wanted``, it is not asked again. ``unit`` is what the words tell it in.
    """
    figures = _figures(difference, unit)
    if -margin < difference.wide_low and difference.wide_high < margin:
        small = "there is one, but it" if difference.is_significant else "if there is one, it"
        return Verdict(
            "no difference that matters",
            f"No difference that matters: {small} is below {unit.amount(margin)} ({figures}).",
        )
    if difference.is_significant:
        is_better = (difference.mean > 0) != smaller_is_better
        return Verdict(
            "better" if is_better else "worse",
            f"{'Better' if is_better else 'Worse'}: {figures}.",
        )
    size = wanted or _decidable(difference, margin)
    told = f"Cannot tell: {figures}."
    if difference.is_disputed:
        told += f" {BOTH}"
    if not size:
        return Verdict("cannot tell", told)
    needed = _needed(difference, size)
    if needed <= difference.count:
        size = _decidable(difference, margin)
        needed = max(_needed(difference, size), difference.count + 1)
    return Verdict(
        "cannot tell",
        f"{told} About {rounded_up(needed)} questions would be needed to see a difference of "
        f"{unit.amount(size)}; these are {difference.count}.",
        needed,
    )


def _needed(difference: Difference, size: float) -> int:
    if not difference.spread:
        reach = max(difference.wide_high, -difference.wide_low)
        return ceil(difference.count * reach / size)
    return questions_needed(difference.spread, size, comparisons=difference.comparisons)


def _decidable(difference: Difference, margin: float) -> float:
    """The smallest of what more questions could settle: that the difference is as large as it
    looks, or that it stays within the margin."""
    seen = abs(difference.mean)
    return max(seen, margin - seen)


def _figures(difference: Difference, unit: Unit) -> str:
    if difference.is_tie:
        return "the same on every question"
    text = (
        f"{unit.named_change(difference.mean)}, 95 % interval {unit.change(difference.low)} to "
        f"{unit.change(difference.high)}, p = {difference.adjusted_p:.2g}"
    )
    if difference.comparisons > 1:
        text += f" corrected for {difference.comparisons} comparisons"
    return text


def rounded_up(count: int) -> str:
    """A number of questions to two digits: 1234 is "1,300"."""
    step = 10 ** max(0, floor(log10(count)) - 1)
    return f"{ceil(count / step) * step:,}"
