"""Measures of documents found, not of passages: those of ir-measures (extra ``eval``).

``nDCG@10``, ``AP``, ``RR@10``, ``R@100``, ``P@5``, ``Success@1`` and what else trec_eval counts, by
ir-measures' names; not what it hands to scripts in other languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merestone.types import SettingsError

DEFAULT = ("nDCG@10", "AP", "RR@10", "R@100", "P@5", "Success@1")

_PROVIDERS = ("pytrec_eval", "msmarco")

Qrels = Mapping[str, Mapping[str, int]]
"""By question and document how good the document is; 0: of no use. Others were not judged."""

Rankings = Mapping[str, Sequence[str]]
"""By question its documents, best first; one that comes again counts where it came first."""


def document_measures(
    qrels: Qrels, rankings: Rankings, names: Sequence[str] = DEFAULT
) -> dict[str, dict[str, float]]:
    """The measures by name, by question: those of ``qrels`` with a document of grade 1 or more.

    A question without a ranking gets what an empty one gets. Raises ``SettingsError``:
    ``extra-missing`` without ir-measures, ``unknown-measure`` for a name that it doesn't have.
    """
    judged = {
        question: grades
        for question, grades in qrels.items()
        if any(grade > 0 for grade in grades.values())
    }
    provider = _provider()
    measures = {_parsed(name, provider): name for name in names}
    runs = {question: _scores(rankings.get(question, ())) for question in judged}
    values: dict[str, dict[str, float]] = {
        question: dict.fromkeys(names, 0.0) for question in judged
    }
    if judged:
        for metric in provider.iter_calc(list(measures), judged, runs):
            values[metric.query_id][measures[metric.measure]] = float(metric.value)
    return values


def _scores(documents: Sequence[str]) -> dict[str, float]:
    """Scores that rank as the list does, without ties."""
    once = list(dict.fromkeys(documents))
    return {document: float(len(once) - place) for place, document in enumerate(once)}


def _parsed(name: str, provider: Any) -> Any:
    unknown = SettingsError(
        "unknown-measure",
        f"There is no measure {name!r} of documents.",
        "Write it as ir-measures does: nDCG@10, AP, RR@10, R@100, P@5, Success@1.",
    )
    try:
        measure = _ir_measures().parse_measure(name)
        is_known = provider.supports(measure)
    except (AssertionError, KeyError, NameError, SyntaxError, ValueError) as error:
        raise unknown from error
    if not is_known:
        raise unknown
    return measure


def _provider() -> Any:
    package = _ir_measures()
    return package.providers.FallbackProvider(
        [package.providers.registry[name] for name in _PROVIDERS]
    )


def _ir_measures() -> Any:
    try:
        import ir_measures
    except ImportError as error:
        raise SettingsError(
            "extra-missing",
            "Measures of documents need a package that is not installed: ir-measures.",
            "Install it: pip install 'merestone[eval]'.",
        ) from error
    return ir_measures
