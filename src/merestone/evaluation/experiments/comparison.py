"""Several runs of the same questions, the first of which the others are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from merestone.evaluation.experiments.configurations import Configuration
from merestone.evaluation.runs.values import QuestionResult, Run
from merestone.evaluation.statistics.intervals import Difference
from merestone.evaluation.statistics.verdicts import Verdict
from merestone.types import JSON

FORMAT = 1
"""Of the JSON; raised when an older reader could not read it."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """How far a run is from the first one in a measure, question by question."""

    column: int
    """Of the run in ``Comparison.runs``, from 1: the first is what it is held against."""
    measure: str
    group: str
    """Such as ``type:pdf`` or ``tag:howto``; empty: all questions that people asked."""
    difference: Difference
    """Corrected: over all questions for the runs that are compared, in groups for runs and
    groups."""
    verdict: Verdict

    def to_json(self) -> dict[str, JSON]:
        found = self.difference
        return {
            "column": self.column,
            "measure": self.measure,
            "group": self.group,
            "count": found.count,
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
            "wide_low": found.wide_low,
            "wide_high": found.wide_high,
            "p": found.p,
            "adjusted_p": found.adjusted_p,
            "verdict": self.verdict.kind,
            "needed": self.verdict.needed,
            "words": self.verdict.words,
        }


def contrast_of(
    contrasts: Sequence[Contrast], column: int, measure: str, group: str = ""
) -> Contrast | None:
    """The one of a run, a measure and a group of questions, if they were compared."""
    wanted = (column, measure, group)
    found = (each for each in contrasts if (each.column, each.measure, each.group) == wanted)
    return next(found, None)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One question in all runs."""

    id: str
    question: str
    outcomes: tuple[str, ...]
    """By run: ``whole``, ``part``, ``missed``, or ``-`` where it was not scored."""
    values: tuple[float | None, ...]
    """By run, the first of the compared measures."""
    made: bool = False

    @property
    def is_different(self) -> bool:
        return len(set(self.outcomes)) > 1

    def to_json(self) -> dict[str, JSON]:
        return {
            "id": self.id,
            "question": self.question,
            "outcomes": list(self.outcomes),
            "values": list(self.values),
            "different": self.is_different,
            "made": self.made,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What several configurations, or saved runs, make of the same questions."""

    runs: tuple[Run, ...]
    """The first is what the others are held against."""
    measures: tuple[str, ...]
    """Those that were compared, such as ``GoldCoverage@1000t``; the first decides."""
    contrasts: tuple[Contrast, ...]
    matrix: tuple[MatrixRow, ...]
    """Questions that the runs answer differently first, by how far they are apart."""
    configurations: tuple[Configuration, ...] = ()
    """By run; empty where saved runs are compared."""
    embedded: tuple[int, ...] = ()
    """By run: texts that had to be embedded for it just now."""
    tables: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Setting that was varied alone, such as ``chunking.max_tokens`` → the runs of its values."""
    library_version: int | None = None
    """Of the state that all configurations were measured on."""
    notes: tuple[str, ...] = ()
    """What is to be said of the runs together."""

    def contrast(self, column: int, measure: str, group: str = "") -> Contrast | None:
        """Of a run to the first one, if they were compared in that measure and group."""
        return contrast_of(self.contrasts, column, measure, group)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the runs."""
        return tuple(run.name or f"run {run.id[:8]}" for run in self.runs)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of: of the runs together, and of the questions."""
        return tuple(dict.fromkeys([*self.notes, *self.runs[0].warnings]))

    def changes_nothing(self, column: int) -> bool:
        """True if the run of that column is the first one again: settings and all are the same."""
        return column > 0 and self.runs[column].id == self.runs[0].id

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of questions that were compared on their own."""
        return tuple(dict.fromkeys(each.group for each in self.contrasts if each.group))

    def to_json(self) -> dict[str, JSON]:
        return {
            "format": FORMAT,
            "library_version": self.library_version,
            "measures": list(self.measures),
            "configurations": [self._column(column) for column in range(len(self.runs))],
            "differences": [each.to_json() for each in self.contrasts],
            "tables": {name: list(columns) for name, columns in self.tables.items()},
            "per_question": [row.to_json() for row in self.matrix],
            "warnings": list(self.warnings),
        }

    def _column(self, column: int) -> dict[str, JSON]:
        run = self.runs[column]
        configuration = self.configurations[column] if self.configurations else None
        return {
            "name": self.names[column],
            "run": run.id,
            "changes": configuration.to_json()["tables"] if configuration else None,
            "questions": len(run.counted),
            "made_apart": len(run.apart),
            "embedded": self.embedded[column] if self.embedded else None,
            "costs": dict(run.costs),
            "measures": {
                name: {"mean": each.mean, "low": each.low, "high": each.high}
                for name, each in run.means.items()
            },
        }


def matrix_of(runs: Sequence[Run], view: str, measure: str) -> tuple[MatrixRow, ...]:
    """A row for each question that any run scored; outcomes are those in ``view``."""
    scored = [{result.id: result for result in run.results} for run in runs]
    ids = dict.fromkeys(id_ for results in scored for id_ in results)
    rows = [_row([results.get(id_) for results in scored], view, measure) for id_ in ids]
    return tuple(sorted(rows, key=_distance, reverse=True))


def outcome(result: QuestionResult, view: str) -> str:
    """``whole``, ``part`` or ``missed``: how much of the gold the view serves. A question that
    nothing answers is whole if that was said."""
    full = result.measures.get(f"FullGold@{view}", result.measures.get(f"NoAnswer@{view}"))
    if full is None:
        return "-"
    if full >= 1:
        return "whole"
    return "part" if result.measures.get(f"GoldCoverage@{view}", 0.0) > 0 else "missed"


def _row(results: Sequence[QuestionResult | None], view: str, measure: str) -> MatrixRow:
    first = next(result for result in results if result is not None)
    return MatrixRow(
        id=first.id,
        question=first.question,
        outcomes=tuple(outcome(result, view) if result else "-" for result in results),
        values=tuple(result.measures.get(measure) if result else None for result in results),
        made=first.made,
    )


def _distance(row: MatrixRow) -> tuple[bool, float]:
    known = [value for value in row.values if value is not None]
    return row.is_different, max(known) - min(known) if known else 0.0
