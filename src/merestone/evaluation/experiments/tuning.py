"""What a search for better settings found, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merestone.evaluation.experiments.attempts import Attempt
from merestone.evaluation.experiments.comparison import Comparison, Contrast
from merestone.evaluation.experiments.configurations import Configuration
from merestone.evaluation.experiments.halves import Halves
from merestone.evaluation.statistics.intervals import Difference
from merestone.types import JSON

FORMAT = 1
"""Of the JSON; raised when an older reader could not read it."""


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """What a configuration serves in one view: no other gives more for as few tokens."""

    configuration: str
    view: str
    tokens: float
    quality: float

    def to_json(self) -> dict[str, JSON]:
        return {
            "configuration": self.configuration,
            "view": self.view,
            "tokens": self.tokens,
            "quality": self.quality,
        }


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was tried, what was chosen by one half of the questions, and what the other half says
    of it."""

    measure: str
    seed: int
    halves: Halves
    attempts: tuple[Attempt, ...]
    """In the order in which they were tried; the first is the library as it is."""
    candidate: Configuration
    """The best on the half to choose by."""
    chosen: Difference | None
    """Its gain there, which flatters it; ``None`` if nothing was better than what is."""
    comparison: Comparison | None
    """The library as it is and the candidate on the other half."""
    is_confirmed: bool
    """True: the candidate is significantly better there, too."""
    front: tuple[FrontPoint, ...]
    """On the half to choose by, from few tokens to many."""
    library_version: int
    warnings: tuple[str, ...] = ()

    @property
    def configuration(self) -> Configuration:
        """What is advised: the candidate if it was confirmed, else the library as it is."""
        return self.candidate if self.is_confirmed else self.attempts[0].configuration

    @property
    def confirmation(self) -> Contrast | None:
        """The candidate's gain on the half to confirm on."""
        return self.comparison.contrast(1, self.measure) if self.comparison else None

    @property
    def words(self) -> str:
        """The outcome in a sentence or two."""
        found = self.confirmation
        if found is None:
            return "Nothing that was tried is better than the library as it is."
        if self.is_confirmed:
            return f"Confirmed on questions that it was not chosen by. {found.verdict.words}"
        return (
            "Not confirmed on questions that it was not chosen by, so the library stays as it is. "
            f"{found.verdict.words}"
        )

    @property
    def evidence(self) -> tuple[str, ...]:
        """What stands beside the configuration where it is written down."""
        lines = [
            f"Found by `merestone tune`, seed {self.seed}, library version {self.library_version}: "
            f"{len(self.attempts)} configurations, {len(self.halves.choosing)} questions to choose "
            f"by, {len(self.halves.confirming)} to confirm on.",
            f"{self.measure}: {self.words}",
        ]
        if self.comparison:
            runs = ", ".join(run.id for run in self.comparison.runs)
            lines.append(f"Runs of the confirmation: {runs}.")
        return tuple(lines)

    def to_json(self) -> dict[str, JSON]:
        return {
            "format": FORMAT,
            "measure": self.measure,
            "seed": self.seed,
            "library_version": self.library_version,
            "configuration": self.configuration.to_json(),
            "candidate": self.candidate.to_json(),
            "confirmed": self.is_confirmed,
            "words": self.words,
            "chosen": None
            if self.chosen is None
            else {"mean": self.chosen.mean, "low": self.chosen.low, "high": self.chosen.high},
            "comparison": self.comparison.to_json() if self.comparison else None,
            "attempts": [attempt.to_json() for attempt in self.attempts],
            "front": [point.to_json() for point in self.front],
            "halves": self.halves.to_json(),
            "warnings": list(self.warnings),
        }


def front_of(attempts: Sequence[Attempt]) -> tuple[FrontPoint, ...]:
    """Of all attempts that were asked every question, and of their views: those that no other
    beats in quality with as few tokens. From few tokens to many."""
    most = max((attempt.count for attempt in attempts), default=0)
    points = sorted(
        (tokens, -quality, attempt.configuration.name, view)
        for attempt in attempts
        if attempt.count == most
        for view, (tokens, quality) in attempt.points.items()
    )
    front: list[FrontPoint] = []
    for tokens, negated, name, view in points:
        if not front or -negated > front[-1].quality:
            front.append(FrontPoint(name, view, tokens, -negated))
    return tuple(front)
