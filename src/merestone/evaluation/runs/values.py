"""The record of a run: what was asked, what was served, how it scored, and under what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from merestone.evaluation.gold.values import GoldSpan
from merestone.types import JSON, SettingsError

SEARCH = "search"
"""The view of hits of ``search``: chunks, measured at k."""
PRECISE = "precise"
"""The view of ``context`` in its precise form."""

MADE = "made:true"
"""The group of questions that a machine wrote."""

FORMAT = 1
"""Of a run's JSON; raised when an older reader could not read it."""


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


QuestionKey = tuple[str, str]
"""A question's id and its words: in other words it is another question."""


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
    """Why it is a miss in the main view, see ``evaluation.failures``; ``None``: it is none."""
    detail: str = ""
    """The failure in words."""
    content_type: str = ""
    """Of the gold's documents; empty if there is none, ``mixed`` if they differ."""
    tags: tuple[str, ...] = ()
    language: str | None = None
    made: bool = False
    relevance: float | None = None
    """Of the best hit."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """By view, such as ``5`` or ``1000t``: the failure there."""
    documents: Mapping[str, float] = field(default_factory=dict)
    """How the documents of the gold rank among those that were found, by ir-measures' names, such
    as ``nDCG@10``; empty without that package."""

    @property
    def key(self) -> QuestionKey:
        return self.id, self.question

    @property
    def has_answer(self) -> bool:
        """False if nothing answers the question, so that saying so is right."""
        return not any(name.startswith("NoAnswer@") for name in self.measures)

    def to_json(self) -> dict[str, JSON]:
        return {
            "id": self.id,
            "question": self.question,
            "match": self.match,
            "gold": [span._asdict() for span in self.gold],
            "served": {
                view: [{**each._asdict(), "chunks": list(each.chunks)} for each in passages]
                for view, passages in self.served.items()
            },
            "measures": dict(self.measures),
            "documents": dict(self.documents),
            "failure": self.failure,
            "detail": self.detail,
            "failures": dict(self.failures),
            "content_type": self.content_type,
            "tags": list(self.tags),
            "language": self.language,
            "made": self.made,
            "relevance": self.relevance,
        }


def people_first(results: Sequence[QuestionResult]) -> list[QuestionResult]:
    """Those that people asked; where there are none, those that were made."""
    return [result for result in results if not result.made] or list(results)


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
    ``tokens_retrieved@…``, ``tokens_to_embed``, ``index_bytes`` (without the log and free pages),
    ``seconds_per_question``."""
    results: tuple[QuestionResult, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Question id → why it could not be scored."""
    warnings: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    """Names behind ``@`` in the names of measures: ``5``, ``1000t``, ``precise``."""
    main: str = ""
    """The one of ``views`` by which a question is a miss."""
    mode: str = "hybrid"
    asker: tuple[str, ...] = ()
    """Who asked, where the question does not say: principals, or ``owner``; empty: the public."""
    version: str = ""
    """Of Merestone."""
    documents: Mapping[str, Interval] = field(default_factory=dict)
    """Measures of the documents that were found, by ir-measures' names, over :attr:`counted`."""

    @property
    def counted(self) -> list[QuestionResult]:
        """What figures are of: questions that people asked, or made ones where there are no
        others."""
        return people_first(self.results)

    @property
    def apart(self) -> list[QuestionResult]:
        """Made questions beside those that people asked; they are in no figure of these."""
        counted = self.counted
        return [] if len(counted) == len(self.results) else [r for r in self.results if r.made]

    @property
    def means(self) -> Mapping[str, Interval]:
        """Measures over :attr:`counted`."""
        return self.measures or self.groups.get(MADE, {})

    def to_json(self) -> dict[str, JSON]:
        return {
            "format": FORMAT,
            "run": self.id,
            "name": self.name,
            "time": self.time,
            "merestone": self.version,
            "library_version": self.library_version,
            "questions": len(self.results),
            "made": sum(result.made for result in self.results),
            "questions_hash": self.questions_hash,
            "documents_hash": self.documents_hash,
            "settings": dict(self.settings),
            "embedder": dict(self.embedder),
            "tokenizer": self.tokenizer,
            "views": list(self.views),
            "main": self.main,
            "mode": self.mode,
            "asker": list(self.asker),
            "measures": _intervals(self.measures),
            "documents": _intervals(self.documents),
            "groups": {name: _intervals(group) for name, group in self.groups.items()},
            "costs": dict(self.costs),
            "skipped": dict(self.skipped),
            "warnings": list(self.warnings),
            "per_question": [result.to_json() for result in self.results],
        }

    @classmethod
    def from_json(cls, value: JSON) -> Run:
        """The run that :meth:`to_json` gave ``value`` of, what belongs to questions included.
        Raises ``SettingsError`` with code ``invalid-run`` if it is none."""
        try:
            return _run(value)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SettingsError(
                "invalid-run",
                f"This is not the record of a run: {type(error).__name__} {error}.",
                "Give a file that `merestone eval` kept or `merestone gate --update-baseline` "
                "wrote.",
            ) from error


def _intervals(measures: Mapping[str, Interval]) -> dict[str, JSON]:
    return {name: asdict(interval) for name, interval in measures.items()}


def _run(value: Any) -> Run:
    if value["format"] > FORMAT:
        raise ValueError(f"its format {value['format']} is of a newer Merestone")
    return Run(
        id=value["run"],
        name=value["name"],
        time=value["time"],
        library_version=value["library_version"],
        questions_hash=value["questions_hash"],
        documents_hash=value["documents_hash"],
        settings=value["settings"],
        embedder=value["embedder"],
        tokenizer=value["tokenizer"],
        measures=_read_intervals(value["measures"]),
        groups={name: _read_intervals(group) for name, group in value["groups"].items()},
        costs=value["costs"],
        results=tuple(map(_result, value["per_question"])),
        skipped=value["skipped"],
        warnings=tuple(value["warnings"]),
        views=tuple(value["views"]),
        main=value["main"],
        mode=value["mode"],
        asker=tuple(value["asker"]),
        version=value["merestone"],
        documents=_read_intervals(value.get("documents", {})),
    )


def _result(row: Any) -> QuestionResult:
    return QuestionResult(
        id=row["id"],
        question=row["question"],
        match=row["match"],
        gold=tuple(GoldSpan(**span) for span in row["gold"]),
        served={
            view: tuple(Served(**{**each, "chunks": tuple(each["chunks"])}) for each in passages)
            for view, passages in row["served"].items()
        },
        measures={name: _finite(value) for name, value in row["measures"].items()},
        failure=row["failure"],
        detail=row["detail"],
        content_type=row["content_type"],
        tags=tuple(row["tags"]),
        language=row["language"],
        made=row["made"],
        relevance=row["relevance"],
        failures=row["failures"],
        documents={name: _finite(value) for name, value in row.get("documents", {}).items()},
    )


def _read_intervals(measures: Any) -> dict[str, Interval]:
    found = {name: Interval(**interval) for name, interval in measures.items()}
    for interval in found.values():
        for value in (interval.mean, interval.low, interval.high):
            _finite(value)
    return found


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{value!r} is no measure")
    return float(value)
