"""What a search for better settings tried, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merestone.evaluation.experiments.configurations import Configuration
from merestone.types import JSON


@dataclass(frozen=True, slots=True)
class Attempt:
    """A configuration that was tried, and what it made of the questions to choose by."""

    configuration: Configuration
    variable: str
    """What was varied; empty: where the search began."""
    count: int
    """Questions that it was asked before it was dropped, or all."""
    quality: float
    points: Mapping[str, tuple[float, float]]
    """By view, mean tokens served and mean quality."""
    embedded: int
    """Texts that had to be embedded for it."""
    outcome: str
    """``taken``, ``dropped early``, ``not better`` or ``start``."""
    gain: float = 0.0
    """Of the measure over :attr:`against`, on the questions that it was asked."""
    error: float = 0.0
    """Standard error of the gain."""
    against: str = ""
    """Name of the configuration that the gain is over: where the step began or, for what was
    dropped early, the best of those that were tried with it."""
    reason: str = ""
    """Why it was taken or not, in words."""

    def to_json(self) -> dict[str, JSON]:
        return {
            **self.configuration.to_json(),
            "variable": self.variable,
            "questions": self.count,
            "quality": self.quality,
            "points": {
                view: {"tokens": tokens, "quality": quality}
                for view, (tokens, quality) in self.points.items()
            },
            "embedded": self.embedded,
            "outcome": self.outcome,
            "gain": self.gain,
            "standard_error": self.error,
            "against": self.against,
            "reason": self.reason,
        }
