"""A gate for continuous integration: has retrieval become worse?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from merestone.evaluation.measures.spans import NO_ANSWER, at, is_smaller_better
from merestone.evaluation.runs.changes import QuestionChange, question_changes
from merestone.evaluation.runs.values import QuestionResult, Run
from merestone.evaluation.statistics.intervals import Difference, difference
from merestone.evaluation.statistics.verdicts import verdict
from merestone.types import JSON, GateSettings, SettingsError

_MEASURE = "GoldCoverage"


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
    difference: Difference | None = None
    """Of the measure to the baseline, over the questions that both scored."""
    worse: tuple[QuestionChange, ...] = ()
    """Questions that lost, what lost most first."""

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
            "difference": {
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "p": found.p,
                "count": found.count,
            }
            if found
            else None,
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
    failures = _not_held(run, settings.must_hold)
    if baseline is None:
        return GateReport(run.id, None, measure, tuple(failures), ())
    pairs = question_changes(baseline, run, measure)
    if not pairs:
        raise _not_comparable(run, baseline, measure)
    before, after = zip(*(each.values for each in pairs), strict=True)
    found = difference(before, after)
    is_cost = is_smaller_better(measure)
    drop = found.mean if is_cost else -found.mean
    notes = _notes(run, baseline, measure, len(pairs))
    words = verdict(found, smaller_is_better=is_cost).words
    if found.is_significant and drop > settings.max_drop:
        failures.append(
            f"{measure} went from {fmean(before):.3f} to {fmean(after):.3f} over {len(pairs)} "
            f"questions, and no more than {settings.max_drop:g} is let through. {words}"
        )
    elif drop > 0:
        notes.append(f"{measure} is worse by {drop:.3f}, which passes. {words}")
    worse = tuple(each for each in pairs if each.gain < 0)
    return GateReport(run.id, baseline.id, measure, tuple(failures), tuple(notes), found, worse)


def _not_held(run: Run, ids: Sequence[str]) -> list[str]:
    results = {result.id: result for result in run.results}
    full, none = at("FullGold", run.main), at(NO_ANSWER, run.main)
    failures = []
    for id_ in ids:
        result = results.get(id_)
        if id_ in run.skipped:
            failures.append(f"Question {id_} must hold, and was not scored: {run.skipped[id_]}.")
        elif result is None:
            failures.append(f"Question {id_} must hold, and there is no question of that id.")
        elif result.measures.get(full, result.measures.get(none, 0.0)) < 1:
            why = result.detail or "only a part of its answer was served."
            failures.append(f"Question {id_} must hold: {result.question!r}. {why}")
    return failures


def _notes(run: Run, baseline: Run, measure: str, common: int) -> list[str]:
    notes = []
    now, then = _asked(run.results, measure), _asked(baseline.results, measure)
    if not now == then == common:
        notes.append(
            f"The questions differ: {common} are compared, of {now} now and {then} in the baseline."
        )
    elif run.questions_hash != baseline.questions_hash:
        notes.append("The questions were edited since the baseline, their words aside.")
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
