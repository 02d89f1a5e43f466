"""What the parts of a measure's name mean, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from merestone.evaluation.measures.spans import NO_ANSWER, SPAN_MEASURES
from merestone.evaluation.measures.units import family
from merestone.evaluation.runs.values import PRECISE, SEARCH, Run, Served

FULL, COVERAGE, PRECISION, TOKENS = "FullGold", "GoldCoverage", "Precision", "Tokens"

MEANINGS = {
    "Hit": "a passage touches the answer",
    FULL: "questions whose whole answer was served",
    COVERAGE: "share of the answer's text that was served",
    PRECISION: "share of the served text that is the answer",
    "IoU": "answer and served text in common, of both together",
    "Duplication": "share of the served text that was served before",
    TOKENS: "tokens served for a question",
    "RR": "1 / rank of the first passage that touches the answer",
    "nDCG": "gain of the passages in their order, of the best order",
    NO_ANSWER: "questions without an answer that were told so",
}
"""What each measure is, as the glossary of a report says it."""
_ORDER = (FULL, COVERAGE, PRECISION, "IoU", TOKENS, "Duplication", "Hit", "RR", "nDCG", NO_ANSWER)
_BUDGET = re.compile(r"(\d+)t")


def view_of(name: str) -> str:
    """``5`` of ``GoldCoverage@5``."""
    return name.partition("@")[2]


def is_ours(name: str) -> bool:
    """False for measures at the level of documents, and what plugins add."""
    return family(name) in (*SPAN_MEASURES, NO_ANSWER)


def label(view: str) -> str:
    """A view in a few words."""
    budget = _BUDGET.fullmatch(view)
    if budget:
        return f"{int(budget[1]):,} tokens"
    if view == PRECISE:
        return "precise"
    return f"{view} hit" if view == "1" else f"{view} hits"


def told(view: str) -> str:
    """A view as part of a sentence."""
    budget = _BUDGET.fullmatch(view)
    if budget:
        return f"within {int(budget[1]):,} tokens"
    if view == PRECISE:
        return "in the precise context"
    return "in the first hit" if view == "1" else f"in the first {view} hits"


def views(runs: Iterable[Run]) -> tuple[str, ...]:
    """Those that any of ``runs`` was measured in, in their order: hits, budgets, precise."""
    found = {view: None for run in runs for view in _views_of(run)}
    return tuple(sorted(found, key=_view_key))


def main_view(runs: tuple[Run, ...], known: tuple[str, ...]) -> str:
    """The one by which questions are misses."""
    return next((run.main for run in runs if run.main in known), known[0] if known else "")


def served_in(served: Mapping[str, tuple[Served, ...]], view: str) -> tuple[Served, ...]:
    """The passages that a view measures, best first."""
    if view.isdigit():
        return served.get(SEARCH, ())[: int(view)]
    return served.get(view, ())


def measure_key(name: str) -> tuple[int, str, tuple[int, int, str]]:
    """Sorts names of measures: what matters most first."""
    kind = family(name)
    place = _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
    return place, kind if place == len(_ORDER) else "", _view_key(view_of(name))


def _views_of(run: Run) -> list[str]:
    return list(run.views) or [view_of(name) for name in run.measures if is_ours(name)]


def _view_key(view: str) -> tuple[int, int, str]:
    budget = _BUDGET.fullmatch(view)
    if view.isdigit():
        return 0, int(view), ""
    return (1, int(budget[1]), "") if budget else (2, 0, view)
