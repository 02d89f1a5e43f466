"""The record of a run: what was asked, what was served, how it scored, and under what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from merestone.evaluation.gold import GoldSpan
from merestone.types import JSON

SEARCH = "search"
"""The view of hits of ``search``: chunks, measured at k."""
PRECISE = "precise"
"""The view of ``context`` in its precise form."""


class Served(NamedTuple):
    """One passage that was served, in its place."""

    document: str
    start: int
    end: int
    tokens: int
    """Of its text, by the run's tokenizer."""
    chunks: tuple[str, ...]
    """Ids of the chunks that it comes from."""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What one question gave."""

    id: str
    question: str
    match: str
    gold: tuple[GoldSpan, ...]
    served: Mapping[str, tuple[Served, ...]]
    """By view: :data:`SEARCH`, a budget such as ``1000t``, :data:`PRECISE`. Best first."""
    measures: Mapping[str, float]
    """By name, such as ``GoldCoverage@5``, ``FullGold@1000t``, ``IoU@precise``."""
    failure: str | None
    """Why it is a miss, see ``evaluation.failures``; ``None``: it is none."""
    detail: str = ""
    """The failure in words."""
    content_type: str = ""
    """Of the gold's documents; empty if there is none, ``mixed`` if they differ."""
    tags: tuple[str, ...] = ()
    language: str | None = None
    made: bool = False
    relevance: float | None = None
    """Of the best hit."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval over questions."""

    mean: float
    low: float
    high: float
    count: int
    """Questions that it is a mean of."""


@dataclass(frozen=True, slots=True)
class Run:
    """One configuration, asked all questions."""

    id: str
    """Hash of all that decides the outcome: the questions, the state of the documents, settings."""
    name: str
    time: str
    """UTC, ISO 8601."""
    library_version: int
    questions_hash: str
    documents_hash: str
    """Of ids and versions of all documents."""
    settings: Mapping[str, JSON]
    """Tables ``extraction``, ``chunking``, ``embedding``, ``retrieval``, ``reranking`` in effect,
    as the configuration file would say them."""
    embedder: Mapping[str, JSON]
    tokenizer: str
    """Name of the one that budgets are counted by."""
    measures: Mapping[str, Interval]
    """Over the questions that people asked; made ones are in ``groups`` as ``made:true``."""
    groups: Mapping[str, Mapping[str, Interval]]
    """By group: ``type:pdf``, ``tag:howto``, ``language:de``, ``made:true``."""
    costs: Mapping[str, float]
    """``documents``, ``chunks``, ``passages_per_question``, ``tokens_stored``,
    ``tokens_retrieved@…``, ``tokens_to_embed``, ``index_bytes``, ``seconds_per_question``."""
    results: tuple[QuestionResult, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Question id → why it could not be scored."""
    warnings: tuple[str, ...] = ()
