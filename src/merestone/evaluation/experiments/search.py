"""Looking for better settings by one part of the questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, stdev

from merestone.evaluation.experiments.attempts import Attempt
from merestone.evaluation.experiments.configurations import Configuration
from merestone.evaluation.experiments.scratch import Experiments, Trial
from merestone.evaluation.experiments.variables import Variable
from merestone.evaluation.measures.spans import at
from merestone.evaluation.runs.values import QuestionResult, Run
from merestone.types import JSON, Progress, ProgressCallback

_FIRST_SHARE = 3
"""A third of the questions is asked first; who is behind then is asked no more."""
_FEWEST = 20
_BOUND = 1.28
"""Standard errors of a one-sided 90 % bound."""
_TOKENS_SAVED = 0.05
_ROUNDING = 1e-9
"""Gains up to which two means are the same."""

Ask = Callable[[Trial, Sequence[str]], Run]
"""Puts the questions of these ids to a configuration."""


@dataclass(slots=True)
class Search:
    """Goes from one configuration to the next better one, a variable at a time.

    A step is taken if the gain is larger than its standard error: enough to not follow every
    chance, and no proof; that is for the other half of the questions.
    """

    experiments: Experiments
    ask: Ask
    ids: Sequence[str]
    """Questions to choose by, in random order."""
    measure: str
    """Such as ``GoldCoverage@1000t``."""
    limit: int
    """Configurations that are tried at most."""
    progress: ProgressCallback
    attempts: dict[str, Attempt] = field(default_factory=dict)
    """By fingerprint."""
    _results: dict[str, dict[str, QuestionResult | None]] = field(default_factory=dict)
    _embedded: dict[str, int] = field(default_factory=dict)

    def know(self, configuration: Configuration, results: Iterable[QuestionResult]) -> None:
        """What a configuration made of questions that it was asked already."""
        known = self._results.setdefault(configuration.fingerprint, {})
        known.update({result.id: result for result in results})

    def start(self, configuration: Configuration) -> None:
        """Where the search begins."""
        self._note(configuration, "", self.ids, "start", configuration, "where the search began")

    def step(self, current: Configuration, variable: Variable) -> Configuration:
        """The best of ``current`` and what comes of it by each option of ``variable``."""
        options = [
            each
            for option in variable.options
            if (each := self._option(current, option)).fingerprint not in self.attempts
        ][: max(0, self.limit - len(self.attempts))]
        for size in self._rungs():
            ids = self.ids[:size]
            for option in options:
                self._measure(option, ids)
            if size < len(self.ids):
                options = self._still_in(current, options, variable, ids)
        if not options:
            return current
        best = max(options, key=lambda each: self._rank(each, self.ids))
        taken = None
        for option in options:
            is_better, reason = self._judged(option, current)
            if option is best and is_better:
                taken = best
            elif is_better:
                reason = f"better too, and {best.name} is ahead of it"
            outcome = "taken" if option is taken else "not better"
            self._note(option, variable.name, self.ids, outcome, current, reason)
        return taken or current

    def values(self, configuration: Configuration, measure: str) -> list[float]:
        """A measure of the questions to choose by, in their order."""
        known = self._results[configuration.fingerprint]
        return [result.measures[measure] for id in self.ids if (result := known.get(id))]

    def _option(self, current: Configuration, option: Iterable[tuple[str, JSON]]) -> Configuration:
        changed = current.with_values(current.name, option)
        return Configuration(changed.brief, changed.tables)

    def _rungs(self) -> list[int]:
        first = max(_FEWEST, len(self.ids) // _FIRST_SHARE)
        return [first, len(self.ids)] if 2 * first <= len(self.ids) else [len(self.ids)]

    def _measure(self, configuration: Configuration, ids: Sequence[str]) -> None:
        known = self._results.setdefault(configuration.fingerprint, {})
        missing = [id for id in ids if id not in known]
        if not missing:
            return
        self.progress(Progress("tune", len(self.attempts), self.limit, item=configuration.name))
        with self.experiments.trial(configuration) as trial:
            run = self.ask(trial, missing)
        self._embedded[configuration.fingerprint] = (
            self._embedded.get(configuration.fingerprint, 0) + trial.embedded
        )
        # A question that cannot be scored is asked once, too.
        known.update(dict.fromkeys(missing))
        known.update({result.id: result for result in run.results})

    def _still_in(
        self,
        current: Configuration,
        options: Sequence[Configuration],
        variable: Variable,
        ids: Sequence[str],
    ) -> list[Configuration]:
        """Those that may still be the best: no bound puts them behind, and they are in the better
        half."""
        everyone = [current, *options]
        ranked = sorted(everyone, key=lambda each: self._rank(each, ids), reverse=True)
        kept = []
        for place, option in enumerate(ranked):
            mean, error = self._gain(option, ranked[0], self.measure, ids)
            if option is current:
                continue
            if mean + _BOUND * error < 0:
                reason = f"surely behind {ranked[0].name}"
            elif place >= max(2, (len(everyone) + 1) // 2):
                reason = "in the worse half"
            else:
                kept.append(option)
                continue
            self._note(option, variable.name, ids, "dropped early", ranked[0], reason)
        return kept

    def _judged(self, option: Configuration, current: Configuration) -> tuple[bool, str]:
        """Whether ``option`` is better, and by what: the measure; where that cannot tell, whole
        answers; else tokens."""
        gain, error = self._gain(option, current, self.measure, self.ids)
        if gain > max(error, _ROUNDING):
            return True, "gains more than its standard error"
        whole, whole_error = self._gain(option, current, self._whole, self.ids)
        if gain < -_ROUNDING:
            return False, "loses"
        if whole < -_ROUNDING:
            return False, "loses whole answers"
        if whole > max(whole_error, _ROUNDING):
            return True, "gains whole answers, more than their standard error"
        before = self._mean(current, self._tokens, self.ids)
        saved = 1 - self._mean(option, self._tokens, self.ids) / before if before else 0.0
        if saved > _TOKENS_SAVED:
            return True, f"loses nothing, and saves {saved:.0%} of the tokens"
        if gain > _ROUNDING:
            return False, "gains less than its standard error"
        return False, "gains nothing"

    def _rank(self, configuration: Configuration, ids: Sequence[str]) -> tuple[float, float, float]:
        return (
            round(self._mean(configuration, self.measure, ids), 9),
            round(self._mean(configuration, self._whole, ids), 9),
            -self._mean(configuration, self._tokens, ids),
        )

    def _gain(
        self, one: Configuration, other: Configuration, measure: str, ids: Sequence[str]
    ) -> tuple[float, float]:
        """Mean of the paired differences of ``one`` to ``other``, and its standard error."""
        first, second = (self._results[each.fingerprint] for each in (one, other))
        pairs = [
            a.measures[measure] - b.measures[measure]
            for id in ids
            if (a := first.get(id))
            and (b := second.get(id))
            and measure in a.measures
            and measure in b.measures
        ]
        if len(pairs) < 2:
            return 0.0, 0.0
        return fmean(pairs), stdev(pairs) / sqrt(len(pairs))

    def _mean(self, configuration: Configuration, measure: str, ids: Sequence[str]) -> float:
        known = self._results[configuration.fingerprint]
        values = [
            result.measures[measure]
            for id in ids
            if (result := known.get(id)) and measure in result.measures
        ]
        return fmean(values) if values else 0.0

    def _note(
        self,
        configuration: Configuration,
        variable: str,
        ids: Sequence[str],
        outcome: str,
        against: Configuration,
        reason: str,
    ) -> None:
        quality, _, view = self.measure.partition("@")
        known = [
            result
            for id in ids
            if (result := self._results[configuration.fingerprint].get(id)) is not None
        ]
        views = {name.partition("@")[2] for each in known for name in each.measures}
        gain, error = self._gain(configuration, against, self.measure, ids)
        self.attempts[configuration.fingerprint] = Attempt(
            configuration=configuration,
            variable=variable,
            count=len(known),
            quality=self._mean(configuration, self.measure, ids),
            points={
                each: (
                    self._mean(configuration, at("Tokens", each), ids),
                    self._mean(configuration, at(quality, each), ids),
                )
                for each in sorted(views, key=lambda name: (name != view, name))
            },
            embedded=self._embedded.get(configuration.fingerprint, 0),
            outcome=outcome,
            gain=gain,
            error=error,
            against=against.name,
            reason=reason,
        )

    @property
    def _whole(self) -> str:
        return at("FullGold", self.measure.partition("@")[2])

    @property
    def _tokens(self) -> str:
        return at("Tokens", self.measure.partition("@")[2])
