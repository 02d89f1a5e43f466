"""How the same questions are put to several configurations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike

from merestone.evaluation.experiments.scratch import Trial
from merestone.evaluation.questions.values import Question
from merestone.evaluation.runs.evaluating import evaluate, views_wanted
from merestone.evaluation.runs.values import Run
from merestone.evaluation.runs.views import check_measures
from merestone.evaluation.statistics.student import check_student
from merestone.library import Library
from merestone.text.tokenizer_names import tokenizer_given
from merestone.types import ProgressCallback, Tokenizer


@dataclass(frozen=True, slots=True)
class Asking:
    """What :func:`evaluate` is told for each of them; see there."""

    k: int | Sequence[int] | None
    budgets: Sequence[int] | None
    tokenizer: Tokenizer | str | PathLike[str] | None
    as_owner: bool
    mode: str
    progress: ProgressCallback
    kept: Callable[[str], Run | None] | None = None

    def check(self, library: Library, measures: Sequence[str]) -> None:
        """Raise ``SettingsError`` for what would be refused after the work: measures that nobody
        takes, a tokenizer that is none, and statistics that are not installed."""
        check_student()
        views = views_wanted(library.settings.evaluation, self.k, self.budgets)
        check_measures(measures, views)
        tokenizer_given(self.tokenizer)

    def ask(
        self, trial: Trial, questions: Sequence[Question], *, views: Sequence[str] | None = None
    ) -> Run:
        """The run of ``questions`` in the library of a trial, under its configuration's name and
        the version of the library that the trial is of."""
        run = evaluate(
            trial.library,
            questions,
            k=self.k,
            budgets=self.budgets,
            tokenizer=self.tokenizer,
            as_owner=self.as_owner,
            mode=self.mode,
            name=trial.configuration.name,
            views=views,
            kept=self.kept,
            progress=self.progress,
        )
        return replace(run, library_version=trial.library_version)
