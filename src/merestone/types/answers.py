"""What retrieval gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, NamedTuple

from merestone.types.chunk import Chunk, ContextSpan
from merestone.types.citation import Citation
from merestone.types.document import JSON
from merestone.types.library import HistoryEntry
from merestone.types.report import ChunkOutcome


class Focus(NamedTuple):
    """The part of a hit that answers, with its score within the query."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranks:
    """Place of a hit on each side, from 1; ``None`` if that side did not find it."""

    dense: int | None = None
    lexical: int | None = None
    rerank: int | None = None

    def to_json(self) -> dict[str, JSON]:
        return {"dense": self.dense, "lexical": self.lexical, "rerank": self.rerank}


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found."""

    chunk: Chunk
    score: float
    """Ranks within one query only."""
    ranks: Ranks
    citation: Citation
    relevance: float | None = None
    """How likely it is to hold an answer, 0 to 1, comparable between queries where ``score`` is
    not; ``None`` where the embedder's likeness is on no known scale."""
    focus: tuple[Focus, ...] = ()
    """In the order of the text."""
    also: tuple[str, ...] = ()
    """References to near-duplicates that this hit stands for."""

    def to_json(self) -> dict[str, JSON]:
        return {
            **self.chunk.to_json(),
            "score": self.score,
            "relevance": self.relevance,
            "ranks": self.ranks.to_json(),
            "focus": [focus._asdict() for focus in self.focus],
            "also": list(self.also),
            "citation": self.citation.to_json(),
        }


Verdict = Literal["answered", "unsure", "nothing"]
"""Whether something that was found seems to answer the question."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer of ``search``."""

    query: str
    mode: str
    library_version: int
    hits: tuple[Hit, ...]
    trace: tuple[Mapping[str, JSON], ...] = ()
    """One entry a stage, if asked for."""
    notes: tuple[str, ...] = field(default=())
    """What the asker should know, such as a side that was left off."""
    verdict: Verdict | None = None
    """``None``: it can't be said, since the embedder's likeness is on no known scale."""

    def to_json(self) -> dict[str, JSON]:
        answer: dict[str, JSON] = {
            "query": self.query,
            "mode": self.mode,
            "library_version": self.library_version,
            "verdict": self.verdict,
            "hits": [hit.to_json() for hit in self.hits],
        }
        return answer | _remarks(self.notes, self.trace)


def _remarks(notes: Sequence[str], trace: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    """What an answer has besides, in JSON; nothing where there is nothing to say."""
    told: dict[str, JSON] = {}
    if notes:
        told["notes"] = list(notes)
    if trace:
        told["trace"] = [dict(entry) for entry in trace]
    return told


@dataclass(frozen=True, slots=True)
class Passage:
    """One span of evidence, made of one chunk or of several that overlap or touch."""

    document: str
    version: str
    start: int
    end: int
    text: str
    tokens: int
    heading_path: tuple[str, ...]
    citation: Citation
    chunks: tuple[str, ...]
    context: tuple[ContextSpan, ...] = ()
    """What stands elsewhere and is needed to understand it: a table's header, a lead-in. It is
    shown before the text and is no part of it."""
    also: tuple[str, ...] = ()
    """References to other places that say the same."""
    relevance: float | None = None
    """Of the chunk in it that is most likely to hold the answer; see ``Hit.relevance``."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "version": self.version,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "tokens": self.tokens,
            "heading_path": list(self.heading_path),
            "citation": self.citation.to_json(),
            "chunks": list(self.chunks),
            "context": [span._asdict() for span in self.context],
            "also": list(self.also),
            "relevance": self.relevance,
        }


class LeftOut(NamedTuple):
    """A candidate that is not in the context, and why."""

    chunk: str
    reason: str
    document: str = ""
    lines: tuple[int, int] | None = None


class Decision(NamedTuple):
    """What became of a candidate of ``context``."""

    chunk: str
    document: str
    score: float
    outcome: Literal["in", "shortened", "out"]
    """``shortened``: a part of the chunk is in a passage."""
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """What is left for evidence of what a model reads at once; all in tokens."""

    model_limit: int
    system_prompt: int
    history: int
    answer_reserve: int
    safety: int
    safety_share: float
    """``safety`` is this share of ``model_limit``."""
    available: int
    tokenizer: str
    """Name of the one that counted."""

    def sum(self) -> str:
        """The sum on one line."""
        return (
            f"{self.model_limit:,} (model limit) - {self.system_prompt:,} (system prompt) - "
            f"{self.history:,} (history) - {self.answer_reserve:,} (answer) - {self.safety:,} "
            f"(safety, {100 * self.safety_share:g} % of the model limit) = "
            f"{self.available:,} tokens."
        )

    def explain(self) -> str:
        """The sum, one part a line."""
        parts = (
            (self.model_limit, "model limit"),
            (-self.system_prompt, "system prompt"),
            (-self.history, "history"),
            (-self.answer_reserve, "reserved for the answer"),
            (-self.safety, f"safety, {100 * self.safety_share:g} % of the model limit"),
            (self.available, f"left for evidence, counted by {self.tokenizer}"),
        )
        width = max(len(f"{tokens:,}") for tokens, _ in parts)
        return "\n".join(f"{tokens:>{width},}  {name}" for tokens, name in parts)

    def to_json(self) -> dict[str, JSON]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ContextResult:
    """The answer of ``context``: ``text`` counts ``tokens``, never more than ``budget``."""

    query: str
    budget: int
    tokens: int
    text: str
    passages: tuple[Passage, ...]
    left_out: tuple[LeftOut, ...]
    library_version: int = 0
    decisions: tuple[Decision, ...] = ()
    """One a candidate chunk, best first; ``left_out`` are those that are out."""
    mode: str = ""
    notes: tuple[str, ...] = ()
    trace: tuple[Mapping[str, JSON], ...] = ()
    """One entry a stage, if asked for."""
    plan: BudgetPlan | None = None
    """How the budget came about; ``None`` if it was given as a number."""
    verdict: Verdict | None = None
    """As in ``SearchResult``."""

    def to_json(self) -> dict[str, JSON]:
        answer: dict[str, JSON] = {
            "query": self.query,
            "budget": self.budget,
            "tokens": self.tokens,
            "text": self.text,
            "passages": [passage.to_json() for passage in self.passages],
            "left_out": [left._asdict() for left in self.left_out],
            "decisions": [decision._asdict() for decision in self.decisions],
            "mode": self.mode,
            "verdict": self.verdict,
            "library_version": self.library_version,
        }
        if self.plan:
            answer["plan"] = self.plan.to_json()
        return answer | _remarks(self.notes, self.trace)


@dataclass(frozen=True, slots=True)
class Resolution:
    """The answer of ``resolve``: where the passage that a reference names is now."""

    ref: str
    outcome: ChunkOutcome
    """``same`` and ``moved``: this very text stands there. ``changed``: the text that took its
    place, or the likeliest of several places; someone should look. ``gone``: nowhere."""
    document: str
    """If the passage is gone, where it was last."""
    version: str | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None

    def to_json(self) -> dict[str, JSON]:
        return {
            "ref": self.ref,
            "outcome": self.outcome,
            "document": self.document,
            "version": self.version,
            "start": self.start,
            "end": self.end,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class DocumentHistory:
    """The answer of ``history``, oldest first."""

    document: str
    versions: tuple[HistoryEntry, ...]

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "versions": [entry.to_json() for entry in self.versions],
        }
