"""How good a cutting is, judged without questions, and what became of chunks between two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from merestone.types.document import JSON

CuttingFindingKind = Literal[
    "sentence_cut",
    "paragraph_cut",
    "list_item_cut",
    "list_cut",
    "table_row_cut",
    "table_cut",
    "code_cut",
    "quote_cut",
    "formula_cut",
    "caption_cut",
    "footnote_cut",
    "definition_cut",
    "record_cut",
    "symbol_cut",
    "heading_left",
    "lead_in_parted",
    "header_missing",
    "term_parted",
    "too_small",
    "too_many_tokens",
    "too_many_characters",
    "cut_in_word",
    "cut_in_grapheme",
    "uncovered",
]
"""``*_cut``: a structure that would fit into a chunk alone, and that no chunk holds whole.
``heading_left``: a heading whose text, or first subheading, begins in another chunk.
``lead_in_parted``: an introducing sentence without the beginning of its list, code or table.
``header_missing``: a part of a table without the table's header, in text or context.
``term_parted``: a term without the beginning of what defines it. ``too_small``,
``too_many_tokens``, ``too_many_characters``: a chunk outside the limits. ``cut_in_word``,
``cut_in_grapheme``: an edge of a chunk there. ``uncovered``: a range of the body in no chunk and
in no dropped range."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something was found, of how many places where it could have been."""

    count: int
    of: int
    reconnected: int = 0
    """How often of ``of`` what was parted goes along as context. Never part of
    ``header_missing``'s count, part of ``lead_in_parted``'s."""

    def to_json(self) -> dict[str, JSON]:
        return {"count": self.count, "of": self.of, "reconnected": self.reconnected}


class CuttingFinding(NamedTuple):
    """One place that a :class:`Tally` counts: ``text[start:end]``."""

    kind: CuttingFindingKind
    start: int
    end: int
    chunk: int | None
    """Index, in order of starts, of the chunk it is about: the one that begins the structure, the
    one that lacks its header, or the one that ends (or else begins) at the cut."""


@dataclass(frozen=True, slots=True)
class SizeBin:
    """``count`` chunks are larger than ``above`` and not larger than ``up_to``."""

    above: int
    up_to: int | None
    count: int

    def to_json(self) -> dict[str, JSON]:
        return {"above": self.above, "up_to": self.up_to, "count": self.count}


@dataclass(frozen=True, slots=True)
class SizeSummary:
    """Sizes of the chunks of one cutting. All are 0 if there are none."""

    total: int
    minimum: int
    median: int
    p90: int
    maximum: int
    limit: int | None
    """What chunks may have at most, if it is known."""
    bins: tuple[SizeBin, ...]
    """Eighths of the limit (of the maximum, if there is no limit), and what is beyond."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "total": self.total,
            "min": self.minimum,
            "median": self.median,
            "p90": self.p90,
            "max": self.maximum,
            "limit": self.limit,
            "bins": [size.to_json() for size in self.bins],
        }


@dataclass(frozen=True, slots=True)
class CuttingReport:
    """What one cutting of a document is like. Two reports on one document with the same limits
    and tokenizer can be compared, whoever cut."""

    document: str
    chunks: int
    dropped: int
    """Ranges left out with a reason."""
    tokens: SizeSummary | None
    """Of the embedder inputs, context and special tokens included; ``None`` if not known."""
    characters: SizeSummary
    """Of the chunks' own texts, in code points."""
    tallies: Mapping[CuttingFindingKind, Tally]
    """By kind, every kind that could be judged."""
    body_characters: int
    """Code points of the body that are not white space."""
    covered_characters: int
    """Those of them in at least one chunk."""
    dropped_characters: int
    """Those in dropped ranges and in no chunk."""
    repeated_characters: int
    """Those that chunks hold a second time or more often."""
    repeated_tokens: int | None
    """Tokens that chunks hold a second time or more often, context apart."""
    context_tokens: int | None
    """Tokens of the embedder inputs that are context."""
    findings: tuple[CuttingFinding, ...]
    """In document order; of each kind the first ones, and not more than asked for together."""
    findings_total: int

    @property
    def coverage(self) -> float:
        """Share of the body that is in a chunk, 0 to 1; 1 for an empty body."""
        return self.covered_characters / self.body_characters if self.body_characters else 1.0

    @property
    def repetition(self) -> float:
        """Share of the chunks' own characters, white space apart, that are repeated."""
        held = self.covered_characters + self.repeated_characters
        return self.repeated_characters / held if held else 0.0

    @property
    def context_share(self) -> float | None:
        """Share of the embedded tokens that are context; ``None`` if not known."""
        if self.context_tokens is None or self.tokens is None:
            return None
        return self.context_tokens / self.tokens.total if self.tokens.total else 0.0

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "chunks": self.chunks,
            "dropped": self.dropped,
            "tokens": self.tokens.to_json() if self.tokens else None,
            "characters": self.characters.to_json(),
            "tallies": {kind: tally.to_json() for kind, tally in self.tallies.items()},
            "coverage": self.coverage,
            "body_characters": self.body_characters,
            "covered_characters": self.covered_characters,
            "dropped_characters": self.dropped_characters,
            "repetition": self.repetition,
            "repeated_characters": self.repeated_characters,
            "repeated_tokens": self.repeated_tokens,
            "context_share": self.context_share,
            "context_tokens": self.context_tokens,
            "findings": [finding._asdict() for finding in self.findings],
            "findings_total": self.findings_total,
        }


ChunkOutcome = Literal["same", "moved", "changed", "gone"]


@dataclass(frozen=True, slots=True)
class ChunkChange:
    """What became of one chunk of the old version."""

    id: str
    outcome: ChunkOutcome
    """``same``: id and context are as before. ``moved``: the same text at another place among
    the others. ``changed``: other text, or the same under another context. ``gone``: nothing of
    it is left."""
    to: tuple[str, ...]
    """Ids of the chunks that hold it now, in order of their places."""
    start: int
    end: int
    """Its place in the old text."""
    new_start: int | None
    new_end: int | None
    """The range of the new text that it became; ``None`` if it is gone."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "id": self.id,
            "outcome": self.outcome,
            "to": list(self.to),
            "start": self.start,
            "end": self.end,
            "new_start": self.new_start,
            "new_end": self.new_end,
        }


class NewChunk(NamedTuple):
    """A chunk that no chunk of the old version became."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CuttingChanges:
    """How the chunks of one version of a document became those of another."""

    changes: tuple[ChunkChange, ...]
    """One for each old chunk, in their order."""
    new: tuple[NewChunk, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many old chunks are same, moved, changed, gone, and how many new ones there are."""
        counts = dict.fromkeys(("same", "moved", "changed", "gone"), 0)
        for change in self.changes:
            counts[change.outcome] += 1
        return {**counts, "new": len(self.new)}

    def to_json(self) -> dict[str, JSON]:
        return {
            "changes": [change.to_json() for change in self.changes],
            "new": [chunk._asdict() for chunk in self.new],
            "counts": self.counts,
        }
