"""How values are told: shares in per cent, tokens as numbers, RR and nDCG as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MINUS = "−"

_BARE = frozenset({"RR", "nDCG"})
"""From 0 to 1, and shares of nothing."""
_COUNTS = frozenset({"Tokens"})


@dataclass(frozen=True, slots=True)
class Unit:
    """What a difference of a measure is told in."""

    name: str = ""
    scale: float = 1.0
    digits: int = 3

    def change(self, value: float) -> str:
        """With its sign, without the unit's name: ``−4.6``."""
        return f"{value * self.scale:+,.{self.digits}f}".replace("-", MINUS)

    def named_change(self, value: float) -> str:
        """``−4.6 points``."""
        return self._named(self.change(value))

    def amount(self, value: float) -> str:
        """A size without a sign, to two digits at the least: ``4.6 points``, ``0.024 points``."""
        size = abs(value) * self.scale
        return self._named(f"{size:,.0f}" if size >= 10 else f"{size:.2g}")

    def _named(self, figure: str) -> str:
        return f"{figure} {self.name}" if self.name else figure


PLAIN: Final = Unit()
POINTS: Final = Unit("points", 100.0, 1)
TOKENS: Final = Unit("tokens", 1.0, 0)


def family(name: str) -> str:
    """``GoldCoverage`` of ``GoldCoverage@5``."""
    return name.partition("@")[0]


def is_share(name: str) -> bool:
    """True if the measure lies between 0 and 1, so that it is told in per cent."""
    return family(name) not in _COUNTS


def unit_of(name: str) -> Unit:
    """The unit of a measure's differences."""
    if family(name) in _BARE:
        return PLAIN
    return POINTS if is_share(name) else TOKENS
