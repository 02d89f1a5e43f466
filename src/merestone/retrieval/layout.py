"""Passages in the making: how pieces join, and how many tokens they come to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from merestone.retrieval.expansion import Piece
from merestone.retrieval.passage_ends import closed
from merestone.retrieval.passages import Passages, Span, head
from merestone.types import ContextSpan, Passage, Tokenizer

SEPARATOR = "\n\n"

_SIGN = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Packed:
    """A passage in the making, with what its parts count."""

    span: Span
    reach: tuple[int, int]
    head_tokens: int
    body_tokens: int
    sayings: frozenset[str] = frozenset()
    """Texts of the bare units in it, to tell others that say the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Passages in the order of their rank, as far as they were laid."""

    packed: tuple[Packed, ...] = ()
    tokens: int = 0
    """The sum of the parts: what a tokenizer makes of the whole may differ."""


class Composer:
    """Lays the pieces of one question.

    Whatever the budget, the same pieces come first: what a layout becomes with a piece is made
    once, and so is each count of a text. Counts of parts are summed, since a tokenizer reads
    slowly.
    """

    def __init__(self, passages: Passages, tokenizer: Tokenizer, *, cited: bool = True) -> None:
        self._passages = passages
        self._tokenizer = tokenizer
        self._cited = cited
        self._joined: dict[tuple[Layout, Piece], Layout] = {}
        self._named: dict[tuple[Layout, Piece], Layout] = {}
        self._counts: dict[str, int] = {}
        self._separator = self._count(SEPARATOR)
        self.empty = Layout()

    def joined(self, layout: Layout, piece: Piece) -> Layout:
        """``layout`` with ``piece``, in the place of the first passage that it joins, else at the
        end.

        A piece that overlaps a passage of its document, or touches it but for white space or the
        gap that is filled, becomes part of it; so no text comes twice.
        """
        key = (layout, piece)
        if key not in self._joined:
            self._joined[key] = self._layout(self._with(layout.packed, piece))
        return self._joined[key]

    def named(self, layout: Layout, at: int, piece: Piece) -> Layout:
        """``layout`` whose passage ``at`` names the place of ``piece``, which says the same."""
        key = (layout, piece)
        if key not in self._named:
            packed = layout.packed
            span = packed[at].span
            also = (*span.also, f"{piece.document}#{piece.start}-{piece.end}")
            named = replace(packed[at], span=replace(span, also=also))
            self._named[key] = self._layout((*packed[:at], named, *packed[at + 1 :]))
        return self._named[key]

    def closed(self, layout: Layout) -> Layout:
        """``layout`` without ends that announce what is not there; the same if there are none."""
        spans = [
            closed(each.span, self._passages.text(each.span.document)) for each in layout.packed
        ]
        if all(span is each.span for span, each in zip(spans, layout.packed, strict=True)):
            return layout
        pairs = zip(layout.packed, spans, strict=True)
        return self._layout(tuple(replace(each, span=span) for each, span in pairs))

    def text(self, piece: Piece) -> str:
        return self._passages.text(piece.document)[piece.start : piece.end]

    def whole(self, layout: Layout) -> tuple[str, int]:
        """The text of all passages, and its tokens."""
        pairs = enumerate(layout.packed, 1)
        text = SEPARATOR.join([self._rendered(number, packed) for number, packed in pairs])
        return text, self._count(text) if text else 0

    def passages(self, layout: Layout) -> tuple[Passage, ...]:
        """The passages, each with the tokens of what is shown of it."""
        shown = (self._rendered(number, each) for number, each in enumerate(layout.packed, 1))
        return tuple(
            self._passages.passage(packed.span, self._count(text))
            for packed, text in zip(layout.packed, shown, strict=True)
        )

    def _layout(self, packed: tuple[Packed, ...]) -> Layout:
        parts = sum([each.head_tokens + each.body_tokens for each in packed])
        return Layout(packed, parts + self._separator * max(0, len(packed) - 1))

    def _with(self, before: tuple[Packed, ...], piece: Piece) -> tuple[Packed, ...]:
        document, start, end, reach = piece.document, piece.start, piece.end, piece.reach
        joined: list[Packed] = []
        rest: list[Packed] = []
        at: int | None = None
        for packed in before:
            if packed.span.document == document and self._join(packed, start, end, reach):
                at = len(rest) if at is None else at
                joined.append(packed)
                start, end = min(start, packed.span.start), max(end, packed.span.end)
                reach = min(reach[0], packed.reach[0]), max(reach[1], packed.reach[1])
            else:
                rest.append(packed)
        span = _joined_span(piece, start, end, joined)
        above = self._head(len(before) + 1, span)
        said = frozenset([self.text(piece)] if piece.way == "unit" else [])
        new = Packed(
            span,
            reach,
            self._count(above) if above else 0,
            sum([each.body_tokens for each in joined]) + self._between(span, joined),
            said.union(*(each.sayings for each in joined)),
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
        return _SIGN.search(self._passages.text(span.document), low, high) is None

    def _between(self, span: Span, held: Sequence[Packed]) -> int:
        """Tokens of what ``span`` adds to the passages that it joins."""
        text = self._passages.text(span.document)
        gaps, at = [], span.start
        for packed in sorted(held, key=lambda each: each.span.start):
            gaps.append(text[at : packed.span.start])
            at = max(at, packed.span.end)
        gaps.append(text[at : span.end])
        return sum([self._count(gap) for gap in gaps if gap])

    def _rendered(self, number: int, packed: Packed) -> str:
        """A passage as a model reads it: its citation, what explains it, its text."""
        return self._head(number, packed.span) + self._passages.text_of(packed.span)

    def _head(self, number: int, span: Span) -> str:
        return head(number, self._passages.citation(span), span.context) if self._cited else ""

    def _count(self, text: str) -> int:
        if text not in self._counts:
            self._counts[text] = self._tokenizer.counts([text])[0]
        return self._counts[text]


def _joined_span(piece: Piece, start: int, end: int, joined: Sequence[Packed]) -> Span:
    """The span of ``piece`` together with passages that it joins."""
    if not joined:
        return Span(piece.document, start, end, piece.chunks, _outside(piece.context, start, end))
    held = {
        chunk.id: chunk for chunk in chain(piece.chunks, *(each.span.chunks for each in joined))
    }
    context = dict.fromkeys(chain(*(each.span.context for each in joined), piece.context))
    return Span(
        piece.document,
        start,
        end,
        tuple(sorted(held.values(), key=lambda chunk: chunk.ordinal)),
        _outside(context, start, end),
        tuple(chain(*(each.span.also for each in joined))),
    )


def _outside(context: Iterable[ContextSpan], start: int, end: int) -> tuple[ContextSpan, ...]:
    return tuple(c for c in context if c.start is None or not start <= c.start < end)
