"""What a report says, before it is written as a page, as Markdown or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from merestone.evaluation.experiments.comparability import incomparable
from merestone.evaluation.experiments.comparison import Contrast, contrast_of
from merestone.evaluation.measures.spans import NO_ANSWER, at
from merestone.evaluation.report.outcomes import QuestionRow, group, outcome, question_rows, share
from merestone.evaluation.report.views import COVERAGE, FULL, main_view, measure_key, views
from merestone.evaluation.runs.settings_rows import SettingRow, setting_rows
from merestone.evaluation.runs.values import Interval, Run
from merestone.types import JSON

FORMAT = 1
"""Of the JSON; raised when an older reader could not read it."""


@dataclass(frozen=True, slots=True)
class Column:
    """One run, and the letter that stands for it in tables and plots."""

    letter: str
    run: Run

    @property
    def name(self) -> str:
        return self.run.name or f"run {self.run.id[:8]}"


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that is known of each run; ``None`` where it is not."""

    name: str
    cells: tuple[Interval | None, ...]

    @property
    def counts(self) -> list[int]:
        """The numbers of questions that its means are of, each once."""
        return sorted({cell.count for cell in self.cells if cell is not None})


@dataclass(frozen=True, slots=True)
class Amounts:
    """One cost of each run; ``None`` where it is not known."""

    name: str
    cells: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One run, or several, the first of which the others are held against, on the questions that
    all of them scored."""

    columns: tuple[Column, ...]
    views: tuple[str, ...]
    """Hits, budgets, precise: what stands behind ``@`` in the names of measures."""
    main: str
    """The view by which a question is a miss."""
    measures: tuple[Row, ...]
    """Over all questions that a run scored."""
    common_measures: tuple[Row, ...]
    """Over those that all runs scored."""
    common: int
    """How many these are."""
    documents: tuple[Row, ...]
    """Measures of the documents that were found, by ir-measures' names."""
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    """By group, such as ``type:pdf``: rows of measures."""
    costs: tuple[Amounts, ...]
    failures: tuple[tuple[str, tuple[int, ...]], ...]
    """Why questions were missed in the main view, with how many in each run; most first."""
    settings: tuple[SettingRow, ...]
    contrasts: tuple[Contrast, ...]
    """How far each run is from the first, where they were compared."""
    questions: tuple[QuestionRow, ...]
    warnings: tuple[str, ...]

    def measure(self, name: str) -> Row | None:
        return next((row for row in self.measures if row.name == name), None)

    def contrast(self, column: int, measure: str, group: str = "") -> Contrast | None:
        """Of a run to the first one, if they were compared in that measure and group."""
        return contrast_of(self.contrasts, column, measure, group)

    def deciding(self, column: int, group: str = "") -> Contrast | None:
        """The contrast by which a run is better or worse than the first one."""
        found = (self.contrast(column, name, group) for name in self.in_main(COVERAGE, FULL))
        return next((each for each in found if each is not None), None)

    def in_main(self, *kinds: str) -> list[str]:
        """Measures of these kinds in the main view, as far as they are known. Where nothing is to
        be found, that is whether this was said."""
        known = {row.name for row in self.measures}
        found = [name for kind in kinds if (name := at(kind, self.main)) in known]
        return found or [name for name in [at(NO_ANSWER, self.main)] if name in known]

    @property
    def is_of_same_questions(self) -> bool:
        """True if no run scored a question that another one did not."""
        return all(len(column.run.results) == self.common for column in self.columns)

    def counts(self, column: int, *, answered: bool = True) -> Counter[str]:
        """How many of the questions that figures are of were served whole, in part, or missed, as
        far as they were scored in the main view: of those that have an answer, or of the others,
        where saying that nothing answers is whole."""
        found: Counter[str] = Counter(
            outcome(result, self.main)
            for row in self.questions
            if (result := row.results[column]) is not None
            and not row.is_apart
            and result.has_answer == answered
        )
        del found["none"]
        return found

    def to_json(self) -> dict[str, JSON]:
        """All figures, and no text of a document."""
        return {
            "format": FORMAT,
            "view": self.main,
            "configurations": [_column(column) for column in self.columns],
            "measures": {row.name: _cells(row) for row in self.measures},
            "documents": {row.name: _cells(row) for row in self.documents},
            "differences": [each.to_json() for each in self.contrasts],
            "groups": {name: {row.name: _cells(row) for row in rows} for name, rows in self.groups},
            "costs": {row.name: list(row.cells) for row in self.costs},
            "failures": {name: list(counts) for name, counts in self.failures},
            "settings": [row.to_json() for row in self.settings],
            "questions": [self._question(row) for row in self.questions],
            "questions_in_common": self.common,
            "warnings": list(self.warnings),
        }

    def _question(self, row: QuestionRow) -> dict[str, JSON]:
        first = row.first
        return {
            "id": row.id,
            "question": first.question if first else "",
            "content_type": first.content_type if first else "",
            "tags": list(first.tags) if first else [],
            "language": first.language if first else None,
            "made": bool(first and first.made),
            "skipped": row.skipped,
            "group": group(row, self.main),
            "results": [
                None
                if result is None
                else {
                    "outcome": outcome(result, self.main),
                    "coverage": share(result, self.main),
                    "failure": result.failure,
                    "detail": result.detail,
                    "measures": dict(result.measures),
                }
                for result in row.results
            ],
        }


def make_report(
    runs: Sequence[Run],
    contrasts: Sequence[Contrast] = (),
    warnings: Sequence[str] = (),
    *,
    limited: Sequence[Run] | None = None,
) -> Report:
    """Put the figures of ``runs`` side by side. ``limited`` are these on the questions that all
    scored, where they did not all score the same."""
    limited = limited or runs
    common = len(limited[0].results)
    columns = tuple(Column(letter(place), run) for place, run in enumerate(runs))
    known = views(runs)
    main = main_view(tuple(runs), known)
    return Report(
        columns=columns,
        views=known,
        main=main,
        measures=_rows([run.means for run in runs]),
        common_measures=_rows([run.means for run in limited]),
        common=common,
        documents=_rows([run.documents for run in runs]),
        groups=_groups(runs),
        costs=_costs(runs),
        failures=_failures(runs),
        settings=setting_rows(runs),
        contrasts=tuple(contrasts),
        questions=question_rows(runs),
        warnings=tuple(dict.fromkeys((*warnings, *_warnings(columns, common)))),
    )


def letter(place: int) -> str:
    """A, B, … Z, AA, AB …"""
    before, last = divmod(place, 26)
    return (letter(before - 1) if before else "") + chr(ord("A") + last)


def _rows(measures: Sequence[Mapping[str, Interval]]) -> tuple[Row, ...]:
    names = sorted({name for each in measures for name in each}, key=measure_key)
    return tuple(Row(name, tuple(each.get(name) for each in measures)) for name in names)


_KINDS = ("type", "tag", "language", "made")


def _groups(runs: Sequence[Run]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    names = {name for run in runs for name in run.groups}

    def key(name: str) -> tuple[int, str]:
        kind = name.partition(":")[0]
        return _KINDS.index(kind) if kind in _KINDS else len(_KINDS), name

    return tuple(
        (name, _rows([run.groups.get(name, {}) for run in runs])) for name in sorted(names, key=key)
    )


def _costs(runs: Sequence[Run]) -> tuple[Amounts, ...]:
    names = dict.fromkeys(name for run in runs for name in run.costs)
    return tuple(Amounts(name, tuple(run.costs.get(name) for run in runs)) for name in names)


def _failures(runs: Sequence[Run]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    counted = [Counter(r.failure for r in run.counted if r.failure) for run in runs]
    total = sum(counted, Counter[str | None]())
    return tuple(
        (name, tuple(each[name] for each in counted))
        for name, _ in sorted(total.items(), key=lambda item: (-item[1], str(item[0])))
        if name
    )


def _warnings(columns: Sequence[Column], common: int) -> tuple[str, ...]:
    """Those that all runs share once, the others with whose they are; and what makes runs hard to
    compare."""
    found: dict[str, list[str]] = {}
    for column in columns:
        for warning in column.run.warnings:
            found.setdefault(warning, []).append(column.letter)
    told = [
        warning if len(letters) == len(columns) else f"{', '.join(letters)}: {warning}"
        for warning, letters in found.items()
    ]
    runs = [column.run for column in columns]
    if any(len(run.results) != common for run in runs):
        counts = ", ".join(f"{column.letter} {len(column.run.results):,}" for column in columns)
        told.append(
            f"The runs did not score the same questions: {counts}; {common:,} "
            f"{'is' if common == 1 else 'are'} common to all. Verdicts and what nothing beats are "
            "of what is common to all, other figures of all that a run scored."
        )
    elif len({run.questions_hash for run in runs}) > 1:
        told.append("The runs were not asked the same questions.")
    return (*told, *incomparable(runs))


def _cells(row: Row) -> list[JSON]:
    return [None if cell is None else asdict(cell) for cell in row.cells]


def _column(column: Column) -> dict[str, JSON]:
    run = column.run
    return {
        "letter": column.letter,
        "name": column.name,
        "run": run.id,
        "time": run.time,
        "library_version": run.library_version,
        "questions": len(run.counted),
        "made_apart": len(run.apart),
        "skipped": dict(run.skipped),
        "embedder": dict(run.embedder),
        "tokenizer": run.tokenizer,
        "mode": run.mode,
    }
