"""A gate for continuous integration: has retrieval become worse?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from merestone.evaluation.measures.spans import NO_ANSWER, at, is_smaller_better
from merestone.evaluation.measures.units import family, unit_of
from merestone.evaluation.runs.changes import QuestionChange, question_changes
from merestone.evaluation.runs.settings_rows import setting_rows
from merestone.evaluation.runs.values import QuestionResult, Run
from merestone.evaluation.statistics.contrasts import margin_of
from merestone.evaluation.statistics.intervals import Difference, difference
from merestone.evaluation.statistics.verdicts import Verdict, verdict
from merestone.types import JSON, GateSettings, SettingsError

_MEASURE = "GoldCoverage"
_BESIDE = ("FullGold", "Precision", "Tokens", NO_ANSWER)
"""Told beside what decides, in the main view; they decide nothing."""
_TOLD = 0.0005
"""A drop that is nothing at three decimals is not worth a note."""
_SETTINGS = 6
"""Settings that are told of where the baseline had others."""
_TOLD_APART = frozenset({"embedder.dimension", "embedder.fingerprint", "mode", "tokenizer"})
"""Of what :func:`setting_rows` lists: what has a note of its own, or goes with its embedder."""


@dataclass(frozen=True, slots=True)
class GateMeasure:
    """A measure of the run, held against the baseline where it has it too."""

    name: str
    now: float
    """Mean over the questions that both scored; without a baseline over all."""
    before: float | None = None
    difference: Difference | None = None
    verdict: Verdict | None = None

    def to_json(self) -> dict[str, JSON]:
        return {
            "name": self.name,
            "now": self.now,
            "before": self.before,
            "difference": _shown(self.difference) if self.difference else None,
            "verdict": self.verdict.kind if self.verdict else None,
        }


@dataclass(frozen=True, slots=True)
class NamedQuestion:
    """A question that must hold."""

    id: str
    question: str
    """Empty if there is none of that id that was scored."""
    problem: str
    """Why it does not hold, in words; empty: it holds."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "id": self.id,
            "question": self.question,
            "holds": not self.problem,
            "problem": self.problem,
        }


def _shown(found: Difference) -> dict[str, JSON]:
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "count": found.count,
    }


@dataclass(frozen=True, slots=True)
class GateReport:
    """Whether a run passes, and why not."""

    run: str
    baseline: str | None
    """Ids of both runs; ``None``: only named questions were looked at."""
    measure: str
    failures: tuple[str, ...]
    """In words; empty: it passes."""
    notes: tuple[str, ...]
    """What a reader should know besides."""
    measures: tuple[GateMeasure, ...] = ()
    """What decides first."""
    named: tuple[NamedQuestion, ...] = ()
    worse: tuple[QuestionChange, ...] = ()
    """Questions that lost, what lost most first."""

    @property
    def difference(self) -> Difference | None:
        """Of what decides to the baseline, over the questions that both scored."""
        return self.measures[0].difference if self.measures else None

    @property
    def passes(self) -> bool:
        return not self.failures

    def to_json(self) -> dict[str, JSON]:
        found = self.difference
        return {
            "passes": self.passes,
            "run": self.run,
            "baseline": self.baseline,
            "measure": self.measure,
            "difference": _shown(found) if found else None,
            "measures": [each.to_json() for each in self.measures],
            "named": [each.to_json() for each in self.named],
            "failures": list(self.failures),
            "notes": list(self.notes),
            "worse": [each.to_json() for each in self.worse],
        }


def judge(run: Run, baseline: Run | None, settings: GateSettings) -> GateReport:
    """Hold ``run`` to its named questions, and to ``baseline`` where there is one.

    It fails if the answer of a named question is not served whole, or if the measure is
    significantly below the baseline's by more than ``settings.max_drop``: by the paired
    randomisation test and the interval over the questions that both scored. Raises
    ``SettingsError`` with code ``gate-not-comparable`` if no question or measure is common.
    """
    measure = settings.measure or at(_MEASURE, run.main)
    named = tuple(_named(run, id_) for id_ in dict.fromkeys(settings.must_hold))
    failures = [_not_held(each) for each in named if each.problem]
    names = dict.fromkeys((measure, *(at(beside, run.main) for beside in _BESIDE)))
    if baseline is None:
        means = tuple(GateMeasure(n, run.means[n].mean) for n in names if n in run.means)
        return GateReport(run.id, None, measure, tuple(failures), (), means, named)
    changes = {name: question_changes(baseline, run, name) for name in names}
    pairs = changes[measure]
    if not pairs:
        raise _not_comparable(run, baseline, measure)
    measures = tuple(_compared(name, both) for name, both in changes.items() if both)
    notes = _notes(run, baseline, measure, len(pairs))
    notes += _refused(measures[1:])
    failure, note = _judged(measures[0], settings.max_drop)
    failures += failure
    return GateReport(
        run.id,
        baseline.id,
        measure,
        tuple(failures),
        (*notes, *note),
        measures,
        named,
        tuple(each for each in pairs if each.gain < 0),
    )


def _compared(name: str, pairs: Sequence[QuestionChange]) -> GateMeasure:
    """A measure that both runs have, over the questions that both scored by it."""
    before, after = zip(*(each.values for each in pairs), strict=True)
    found = difference(before, after)
    judged = verdict(
        found,
        margin=margin_of(name, fmean(before)),
        smaller_is_better=is_smaller_better(name),
        unit=unit_of(name),
    )
    return GateMeasure(name, fmean(after), fmean(before), found, judged)


def _judged(deciding: GateMeasure, max_drop: float) -> tuple[list[str], list[str]]:
    """What makes the gate fail, and what is to be noted where it doesn't."""
    found, judged, name = deciding.difference, deciding.verdict, deciding.name
    assert found is not None
    assert judged is not None
    drop = found.mean if is_smaller_better(name) else -found.mean
    if found.is_significant and drop > max_drop:
        return [
            f"{name} went from {deciding.before:.3f} to {deciding.now:.3f} over {found.count} "
            f"questions, and no more than {max_drop:g} is let through. {judged.words}"
        ], []
    if drop >= _TOLD:
        return [], [f"{name} is worse by {drop:.3f}, which passes. {judged.words}"]
    return [], []


def _refused(beside: Sequence[GateMeasure]) -> list[str]:
    """That fewer of the questions that nothing answers are told so."""
    return [
        f"{each.name} fell from {each.before:.3f} to {each.now:.3f}, which decides nothing: of "
        f"{each.difference.count} questions that nothing answers fewer are told so."
        for each in beside
        if family(each.name) == NO_ANSWER and each.difference and each.difference.mean < 0
    ]


def _named(run: Run, id_: str) -> NamedQuestion:
    result = next((each for each in run.results if each.id == id_), None)
    if id_ in run.skipped:
        return NamedQuestion(id_, "", f"was not scored: {run.skipped[id_]}")
    if result is None:
        return NamedQuestion(id_, "", "there is no question of that id")
    full, none = at("FullGold", run.main), at(NO_ANSWER, run.main)
    holds = result.measures.get(full, result.measures.get(none, 0.0)) >= 1
    why = result.detail or "only a part of its answer was served"
    return NamedQuestion(id_, result.question, "" if holds else why)


def _not_held(named: NamedQuestion) -> str:
    problem = named.problem.removesuffix(".")
    if not named.question:
        return f"Question {named.id} must hold, and {problem}."
    return f"Question {named.id} must hold: {named.question!r}. {problem}."


def _notes(run: Run, baseline: Run, measure: str, common: int) -> list[str]:
    notes = []
    now, then = _asked(run.results, measure), _asked(baseline.results, measure)
    if not now == then == common:
        notes.append(
            f"The questions differ: {common} are compared, of {now} now and {then} in the baseline."
        )
    elif run.questions_hash != baseline.questions_hash:
        notes.append("The questions were edited since the baseline, their words aside.")
    notes += _other_settings(run, baseline)
    if run.asker != baseline.asker:
        notes.append(
            f"The baseline was asked by {_who(baseline)}, this run by {_who(run)}: they may read "
            "different documents."
        )
    if run.tokenizer != baseline.tokenizer:
        notes.append(
            f"Budgets were counted by {baseline.tokenizer} then and are by {run.tokenizer} now."
        )
    if run.mode != baseline.mode:
        notes.append(f"The baseline was searched in mode {baseline.mode}, this is {run.mode}.")
    return notes


def _other_settings(run: Run, baseline: Run) -> list[str]:
    """Settings that both know and that differ; a version may bring new ones."""
    rows = [row for row in setting_rows([baseline, run]) if row.differs and all(row.values)]
    told = [f"{row.key} {' → '.join(row.values)}" for row in rows if row.key not in _TOLD_APART]
    if not told:
        return []
    more = f", and {len(told) - _SETTINGS} more" if len(told) > _SETTINGS else ""
    return [f"Settings that are not those of the baseline: {', '.join(told[:_SETTINGS])}{more}."]


def _asked(results: Sequence[QuestionResult], measure: str) -> int:
    """How many were scored by ``measure``; those that people asked, if they asked any."""
    scored = [result for result in results if measure in result.measures]
    return sum(not result.made for result in scored) or len(scored)


def _who(run: Run) -> str:
    return ", ".join(run.asker) or "the public"


def _not_comparable(run: Run, baseline: Run, measure: str) -> SettingsError:
    known = {name for result in baseline.results for name in result.measures}
    own = {name for result in run.results for name in result.measures}
    lacking = "the baseline" if measure not in known else "this run"
    if measure in known and measure in own:
        problem = "no question is in both runs in the same words"
    else:
        problem = f"{lacking} has no measure {measure}"
    return SettingsError(
        "gate-not-comparable",
        f"The run cannot be held against the baseline: {problem}.",
        "Make a new baseline with `merestone gate --update-baseline`, or mend "
        "evaluation.gate.measure.",
    )
