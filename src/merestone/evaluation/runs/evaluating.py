"""Asking a library the user's own questions, and scoring what it serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from os import PathLike

from merestone.evaluation.gold.freshness import STALE
from merestone.evaluation.questions.values import Question, Questions
from merestone.evaluation.runs.recording import record_run, run_id, state_notes
from merestone.evaluation.runs.scoring import Scoring
from merestone.evaluation.runs.serving import Desk
from merestone.evaluation.runs.values import Run
from merestone.evaluation.runs.views import Views, choose_views
from merestone.library import Library, Principals, Where
from merestone.retrieval import read_filter
from merestone.text.tokenizer_names import tokenizer_given
from merestone.types import (
    EvaluationSettings,
    ProgressCallback,
    SettingsError,
    Snapshot,
    StoreBusyError,
    Tokenizer,
)

_TRIES = 5
"""To see one library version through the eyes of several askers while someone writes."""


def evaluate(
    library: Library,
    questions: Sequence[Question],
    *,
    k: int | Sequence[int] | None = None,
    budgets: Sequence[int] | None = None,
    tokenizer: Tokenizer | str | PathLike[str] | None = None,
    principals: Principals = None,
    as_owner: bool = False,
    where: Where = None,
    mode: str = "hybrid",
    name: str = "",
    views: Sequence[str] | None = None,
    kept: Callable[[str], Run | None] | None = None,
    progress: ProgressCallback = lambda _: None,
) -> Run:
    """Ask ``library`` the ``questions`` and score what it serves, on one state of it.

    What is scored is what is served: the hits of ``library.search`` at each ``k``, the passages of
    ``library.context`` at each of ``budgets``, in tokens of ``tokenizer``, and those of its precise
    form under the largest budget. ``views`` names a part of these: ``search``, ``context``,
    ``precise``. What is not given is taken from the table ``[evaluation]`` of the settings.

    ``principals`` or ``as_owner`` say who asks, for every question that does not say it itself;
    documents that the asker may not read count as missing. ``where`` limits all searches.
    ``kept`` finds an earlier run by its id: where there is one, it is taken and nothing is asked,
    unless a reranker orders the hits or evidence is of an older version of its document.
    """
    if not isinstance(questions, Questions):
        questions = Questions(questions)
    settings = library.settings.evaluation
    chosen = views_wanted(settings, k, budgets, views)
    if not questions:
        raise SettingsError(
            "no-questions",
            "There are no questions to be asked.",
            "Give some, or let `merestone questions suggest` draft them.",
        )
    given = settings.tokenizer or None if tokenizer is None else tokenizer
    counting = tokenizer_given(given)
    limit = read_filter(where)
    asker = None if principals is None else tuple(principals)
    who = ("owner",) if as_owner else tuple(sorted(asker or ()))
    within = None if limit is None else repr(limit)
    with _open_desks(library, questions, asker, as_owner, counting, mode) as desks:
        id = run_id(library, desks, questions, chosen, who, within)
        own = desks[()]
        # A service that reranks may answer otherwise the next time.
        is_certain = not own.has_reranker and not _rests_on_history(own.snapshot, questions)
        if kept is not None and is_certain and (known := kept(id)) is not None:
            notes = state_notes(library, own.snapshot, questions)
            lasting = [each for each in known.warnings if not each.startswith(STALE)]
            return replace(known, name=name, warnings=_united(notes, lasting))
        scored = Scoring(desks, chosen, limit).score(questions, progress)
        return record_run(library, desks, questions, chosen, scored, who, id, name)


def _rests_on_history(snapshot: Snapshot, questions: Sequence[Question]) -> bool:
    """True if evidence is of a version that its document no longer has: where it stands now depends
    on what the library remembers, which is no part of the id of a run."""
    versions = {record.id: record.version for record in snapshot.records()}
    return any(
        each.version and not versions.get(each.doc, "").startswith(each.version)
        for question in questions
        for each in question.evidence
    )


def _united(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def views_wanted(
    settings: EvaluationSettings,
    k: int | Sequence[int] | None,
    budgets: Sequence[int] | None,
    views: Sequence[str] | None = None,
) -> Views:
    """What :func:`evaluate` measures when it is told this; what is not given is taken from
    ``settings``."""
    return choose_views(
        [k] if isinstance(k, int) else settings.k if k is None else k,
        settings.budgets if budgets is None else budgets,
        views,
    )


@contextmanager
def _open_desks(
    library: Library,
    questions: Sequence[Question],
    principals: Sequence[str] | None,
    as_owner: bool,
    tokenizer: Tokenizer | None,
    mode: str,
) -> Iterator[Mapping[tuple[str, ...], Desk]]:
    """A desk for each asker; that of who runs the evaluation is under ``()``. All see the same
    library version."""
    askers = sorted({question.principals for question in questions} - {()})
    for _ in range(_TRIES):
        with ExitStack() as stack:
            serving = library.serving(principals=principals, as_owner=as_owner)
            own = Desk(stack.enter_context(serving), tokenizer, mode)
            desks: dict[tuple[str, ...], Desk] = {(): own}
            for asker in askers:
                serving = library.serving(principals=asker)
                desks[asker] = Desk(stack.enter_context(serving), tokenizer, mode)
            if len({desk.snapshot.library_version for desk in desks.values()}) == 1:
                yield desks
                return
    raise StoreBusyError(
        "library-changing",
        "The library was written to each time when it was opened for several askers.",
        "Run the evaluation when no sync is at work.",
    )
