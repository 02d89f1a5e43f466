"""Which parts of what a library serves are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from merestone.evaluation.measures.spans import NO_ANSWER, SPAN_MEASURES
from merestone.evaluation.runs.values import PRECISE, SEARCH
from merestone.types import SettingsError

CONTEXT = "context"
"""Names the budgets where views are chosen."""

_PRECISE_BUDGET = 2000
"""Of the precise view where no budget is measured."""


class Filled(NamedTuple):
    """How ``context`` is asked."""

    budget: int
    precise: bool = False


@dataclass(frozen=True, slots=True)
class Views:
    """What is measured of each question."""

    ks: tuple[int, ...]
    budgets: tuple[int, ...]
    is_precise: bool

    @property
    def names(self) -> tuple[str, ...]:
        """As they stand behind ``@`` in the names of measures."""
        return (*map(str, self.ks), *self.contexts)

    @property
    def main(self) -> str:
        """The view by which a question is a miss: the middle budget, the smaller of two; without
        budgets the smallest k, and without that the precise one."""
        if self.budgets:
            return f"{self.budgets[(len(self.budgets) - 1) // 2]}t"
        return self.names[0]

    @property
    def contexts(self) -> Mapping[str, Filled]:
        """Views of ``context`` by their names."""
        found = {f"{budget}t": Filled(budget) for budget in self.budgets}
        return (
            found | {PRECISE: Filled(self.precise_budget, precise=True)}
            if self.is_precise
            else found
        )

    @property
    def precise_budget(self) -> int:
        """Tokens that the precise view may fill at most: the largest budget."""
        return max(self.budgets, default=_PRECISE_BUDGET)


def check_measures(names: Sequence[str], views: Views) -> None:
    """Raise ``SettingsError`` with code ``unknown-measure`` for a measure that none of ``views``
    has."""
    for name in names:
        kind, _, view = name.partition("@") if isinstance(name, str) else ("", "", "")
        if kind not in (*SPAN_MEASURES, NO_ANSWER) or view not in views.names:
            raise SettingsError(
                "unknown-measure",
                f"There is no measure {name!r} of what is asked for here.",
                f"Write one of {', '.join((*SPAN_MEASURES, NO_ANSWER))}, then @ and one of "
                f"{', '.join(views.names)}; -k and --budget give others.",
            )


def choose_views(
    ks: Sequence[int], budgets: Sequence[int], wanted: Sequence[str] | None = None
) -> Views:
    """The views that ``wanted`` names: ``search``, ``context``, ``precise``; ``None``: all."""
    known = (SEARCH, CONTEXT, PRECISE)
    for name in wanted or ():
        if name not in known:
            raise SettingsError(
                "unknown-view", f"There is no view {name!r}.", f"Use some of: {', '.join(known)}."
            )
    names = known if wanted is None else wanted
    views = Views(
        tuple(sorted(set(ks))) if SEARCH in names else (),
        tuple(sorted(set(budgets))) if CONTEXT in names else (),
        PRECISE in names,
    )
    if not views.names:
        raise SettingsError(
            "unknown-view", "There is nothing to be measured.", "Give a k, a budget or a view."
        )
    return views
