"""Passages that fill a token budget and never exceed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from merestone.retrieval.duplicates import SHORT
from merestone.retrieval.expansion import Piece
from merestone.retrieval.passage_ends import closed
from merestone.retrieval.passages import Passages, Span, head, rendered
from merestone.text.analysis import terms
from merestone.types import Chunk, Passage, Tokenizer

SEPARATOR = "\n\n"

_TRIES = 20
"""Refused pieces that are tried again with exact counts, where sums of parts said too much."""
_FULL = 24
"""Refusals one after another after which the budget counts as full."""
_TEXTS_KEPT = 4096
"""Units that need not be read again when a question is packed at several budgets."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A passage in the making, with what its parts count."""

    span: Span
    reach: tuple[int, int]
    head_tokens: int
    body_tokens: int
    sayings: frozenset[str] = frozenset()
    """Texts of the bare units in it, to tell others that say the same."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a piece that was offered."""

    piece: Piece
    outcome: str
    """``in``, ``within`` (a passage held it already), ``copy`` or ``out``."""
    reason: str


class Packer:
    """Takes pieces in the order of their rank.

    A piece that overlaps a passage of its document, or touches it but for white space or the gap
    that is filled, becomes part of it; so no text comes twice. Counts of parts are summed on the
    way, since a tokenizer reads slowly; the end is counted whole, and the last pieces give way
    should the sum have said too little.
    """

    def __init__(
        self, passages: Passages, tokenizer: Tokenizer, budget: int, *, cited: bool = True
    ) -> None:
        self._passages = passages
        self._tokenizer = tokenizer
        self._budget = budget
        self._cited = cited
        self._separator = self._count(SEPARATOR)
        self._packed: tuple[Packed, ...] = ()
        self._states: list[tuple[Piece, tuple[Packed, ...]]] = []
        """Each piece that was taken, and what was there before it."""
        self._refused: list[Piece] = []
        self._refusals = 0

    @property
    def count(self) -> int:
        """Passages so far."""
        return len(self._packed)

    @property
    def is_full(self) -> bool:
        """True if nothing fitted for so long that nothing else is likely to."""
        return self._refusals >= _FULL

    def offer(self, piece: Piece, most: int | None = None) -> Taken:
        """Take ``piece`` in if the whole stays within the budget and ``most`` passages."""
        for number, each in enumerate(self._packed, 1):
            span = each.span
            if (
                span.document == piece.document
                and span.start <= piece.start
                and piece.end <= span.end
            ):
                return Taken(piece, "within", f"part of passage {number}")
        copied = self._with_copy(piece)
        if copied is not None:
            return copied
        packed = self._with(piece)
        if most is not None and len(packed) > max(most, len(self._packed)):
            return Taken(piece, "out", f"there are {most} passages already")
        needed, used = self._sum(packed), self._sum(self._packed)
        if needed > self._budget:
            self._refusals += 1
            self._refused.append(piece)
            left = self._budget - used
            return Taken(
                piece, "out", f"needs {needed - used} tokens, {max(0, left)} of the budget are left"
            )
        self._refusals = 0
        self._states.append((piece, self._packed))
        self._packed = packed
        return Taken(piece, "in", "")

    def finish(self) -> tuple[tuple[Passage, ...], str, int, list[Piece]]:
        """The passages, the text, its tokens, and the pieces that had to give way again."""
        withdrawn: list[Piece] = []
        text, tokens = self._whole(self._packed)
        while tokens > self._budget:
            piece, self._packed = self._states.pop()
            withdrawn.append(piece)
            text, tokens = self._whole(self._packed)
        if not withdrawn and tokens < self._sum(self._packed):
            text, tokens = self._retry(text, tokens)
        text, tokens = self._close(text, tokens)
        counts = self._tokenizer.counts(
            [self._rendered(number, packed) for number, packed in enumerate(self._packed, 1)]
        )
        made = tuple(
            replace(self._passages.passage(packed.span), tokens=count)
            for packed, count in zip(self._packed, counts, strict=True)
        )
        return made, text, tokens, withdrawn

    def _retry(self, text: str, tokens: int) -> tuple[str, int]:
        for piece in self._refused[:_TRIES]:
            packed = self._with(piece)
            tried, count = self._whole(packed)
            if count <= self._budget:
                self._packed, text, tokens = packed, tried, count
        return text, tokens

    def _close(self, text: str, tokens: int) -> tuple[str, int]:
        """Leave off ends that announce what is not there."""
        packed = tuple(
            replace(each, span=closed(each.span, self._passages.text(each.span.document)))
            for each in self._packed
        )
        if packed == self._packed:
            return text, tokens
        tried, count = self._whole(packed)
        if count > self._budget:
            return text, tokens
        self._packed = packed
        return tried, count

    def _with_copy(self, piece: Piece) -> Taken | None:
        """The answer to a bare unit whose very words a passage holds as a unit: that passage
        names it. Few words may be the same and mean something else."""
        if piece.way != "unit":
            return None
        text = self._text(piece)
        if _is_short(text):
            return None
        for at, packed in enumerate(self._packed):
            if text in packed.sayings:
                span = packed.span
                also = (*span.also, f"{piece.document}#{piece.start}-{piece.end}")
                named = replace(packed, span=replace(span, also=also))
                self._packed = (*self._packed[:at], named, *self._packed[at + 1 :])
                return Taken(piece, "copy", f"passage {at + 1} says the same")
        return None

    def _with(self, piece: Piece) -> tuple[Packed, ...]:
        """The passages with ``piece``, in the place of the first that it joins, else at the end."""
        start, end, chunks, context = piece.start, piece.end, list(piece.chunks), piece.context
        reach = piece.reach
        joined: list[Packed] = []
        rest: list[Packed] = []
        at: int | None = None
        for packed in self._packed:
            if packed.span.document == piece.document and self._join(packed, start, end, reach):
                at = len(rest) if at is None else at
                joined.append(packed)
                start, end = min(start, packed.span.start), max(end, packed.span.end)
                reach = min(reach[0], packed.reach[0]), max(reach[1], packed.reach[1])
            else:
                rest.append(packed)
        held = {chunk.id: chunk for chunk in chain(chunks, *(p.span.chunks for p in joined))}
        spans = list(dict.fromkeys(chain(*(p.span.context for p in joined), context)))
        span = Span(
            piece.document,
            start,
            end,
            tuple(sorted(held.values(), key=lambda chunk: chunk.ordinal)),
            tuple(c for c in spans if c.start is None or not start <= c.start < end),
            tuple(chain(*(p.span.also for p in joined))),
        )
        body = sum(packed.body_tokens for packed in joined) + self._between(span, joined)
        said = frozenset([self._text(piece)] if piece.way == "unit" else [])
        above = ""
        if self._cited:
            above = head(len(self._packed) + 1, self._passages.citation(span), span.context)
        new = Packed(
            span,
            reach,
            self._count(above) if above else 0,
            body,
            said.union(*(packed.sayings for packed in joined)),
        )
        rest.insert(len(rest) if at is None else at, new)
        return tuple(rest)

    def _join(self, packed: Packed, start: int, end: int, reach: tuple[int, int]) -> bool:
        span = packed.span
        if span.start <= reach[1] and reach[0] <= span.end:
            return True
        if packed.reach[0] <= end and start <= packed.reach[1]:
            return True
        low, high = min(span.end, end), max(span.start, start)
        return not self._passages.text(span.document)[low:high].strip()

    def _between(self, span: Span, held: Sequence[Packed]) -> int:
        """Tokens of what ``span`` adds to the passages that it joins."""
        text = self._passages.text(span.document)
        gaps, at = [], span.start
        for packed in sorted(held, key=lambda each: each.span.start):
            gaps.append(text[at : packed.span.start])
            at = max(at, packed.span.end)
        gaps.append(text[at : span.end])
        return sum(self._tokenizer.counts([gap for gap in gaps if gap])) if any(gaps) else 0

    def _text(self, piece: Piece) -> str:
        return self._passages.text(piece.document)[piece.start : piece.end]

    def _sum(self, packed: Sequence[Packed]) -> int:
        parts = sum(each.head_tokens + each.body_tokens for each in packed)
        return parts + self._separator * max(0, len(packed) - 1)

    def _whole(self, packed: Sequence[Packed]) -> tuple[str, int]:
        text = SEPARATOR.join(self._rendered(number, each) for number, each in enumerate(packed, 1))
        return text, self._count(text) if text else 0

    def _rendered(self, number: int, packed: Packed) -> str:
        passage = self._passages.passage(packed.span)
        return rendered(number, passage) if self._cited else passage.text

    def _count(self, text: str) -> int:
        return self._tokenizer.counts([text])[0]


@lru_cache(maxsize=_TEXTS_KEPT)
def _is_short(text: str) -> bool:
    """True if two places may hold the text by chance."""
    return len(terms(text)) < SHORT


def fully_held(chunk: Chunk, passages: Iterable[Passage]) -> bool | None:
    """True if a passage holds all of ``chunk``, False if a part of it, ``None`` if nothing."""
    found = None
    for passage in passages:
        if passage.document == chunk.document and (
            passage.start < chunk.end and chunk.start < passage.end
        ):
            if passage.start <= chunk.start and chunk.end <= passage.end:
                return True
            found = False
    return found
