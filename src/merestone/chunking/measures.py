"""Sizes of passages and of other ranges of a text, against what chunks were allowed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from merestone.chunking.passages import Passage, merged
from merestone.chunking.render import render_parts
from merestone.types import SizeBin, SizeSummary, Tokenizer

_BINS = 8
"""Parts of the limit that the sizes are counted by."""


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """What chunks were allowed. ``None``: not known, nothing is judged by it.

    Without a limit that can be measured, a structure would fit if it is no longer than the
    longest chunk.
    """

    max_tokens: int | None = None
    """Of an embedder input, context and special tokens included."""
    min_tokens: int | None = None
    max_chars: int | None = None


class Measure:
    """Sizes in tokens and characters, and whether a range would fit into a chunk alone."""

    def __init__(
        self,
        text: str,
        passages: Sequence[Passage],
        limits: SizeLimits,
        tokenizer: Tokenizer | None,
    ) -> None:
        self.limits = limits
        self._text = text
        self._passages = passages
        self._tokenizer = tokenizer
        longest = max((passage.end - passage.start for passage in passages), default=0)
        by_tokens = tokenizer is not None and limits.max_tokens is not None
        self._chars = limits.max_chars or (len(text) if by_tokens else longest)

    @cached_property
    def embedded(self) -> list[int] | None:
        """By passage: tokens of the embedder input."""
        if self._tokenizer is None:
            known = [passage.tokens for passage in self._passages]
            return None if None in known else [count or 0 for count in known]
        inputs = [render_parts(p.context, self._text[p.start : p.end]) for p in self._passages]
        special = self._tokenizer.special_tokens
        return [count + special for count in self._tokenizer.counts(inputs)]

    @cached_property
    def own(self) -> list[int] | None:
        """By passage: tokens of its text alone."""
        if self._tokenizer is None or self.embedded is None:
            return None
        own = [count - self._tokenizer.special_tokens for count in self.embedded]
        helped = [index for index, passage in enumerate(self._passages) if passage.context]
        spans = [(self._passages[index].start, self._passages[index].end) for index in helped]
        if self._tokenizer.adds_up:
            counts = [self._tokens(*span) for span in spans]
        else:
            counts = self._tokenizer.counts([self._text[start:end] for start, end in spans])
        for index, count in zip(helped, counts, strict=True):
            own[index] = count
        return own

    def token_sizes(self) -> SizeSummary | None:
        """Of the embedder inputs; ``None`` if they were not counted."""
        if self.embedded is None:
            return None
        return _summary(self.embedded, self.limits.max_tokens)

    def character_sizes(self) -> SizeSummary:
        """Of the passages' own texts."""
        sizes = [passage.end - passage.start for passage in self._passages]
        return _summary(sizes, self.limits.max_chars)

    def context_tokens(self) -> int | None:
        """Tokens of the embedder inputs that are neither own text nor special."""
        if self._tokenizer is None or self.own is None or self.embedded is None:
            return None
        special = self._tokenizer.special_tokens * len(self._passages)
        return sum(self.embedded) - special - sum(self.own)

    @cached_property
    def _starts(self) -> Sequence[int]:
        """Places of the tokens of the whole text: one pass for all questions about ranges."""
        return self._tokenizer.starts(self._text) if self._tokenizer else ()

    def _tokens(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def fits(self, start: int, end: int) -> bool:
        """True if ``text[start:end]`` would be within the limits as a chunk without context."""
        if end - start > self._chars:
            return False
        if self._tokenizer is None or self.limits.max_tokens is None:
            return True
        return self._tokens(start, end) <= self.limits.max_tokens - self._tokenizer.special_tokens

    def repeated(self) -> int | None:
        """Tokens of the text that passages hold again."""
        if self._tokenizer is None:
            return None
        once = merged((passage.start, passage.end) for passage in self._passages)
        if len(once) == len(self._passages):
            return 0
        held = sum(self._tokens(passage.start, passage.end) for passage in self._passages)
        return held - sum(self._tokens(span.start, span.end) for span in once)


def _summary(sizes: Sequence[int], limit: int | None) -> SizeSummary:
    ordered = sorted(sizes)
    maximum = ordered[-1] if ordered else 0
    scale = limit or maximum
    # A limit below eight has fewer bins.
    edges = sorted({scale * part // _BINS for part in range(1, _BINS + 1)} - {0})
    below = [0, *(bisect_right(ordered, edge) for edge in edges)]
    bins = [
        SizeBin(low, high, after - before)
        for (low, high), (before, after) in zip(pairwise([0, *edges]), pairwise(below), strict=True)
    ]
    beyond = SizeBin(edges[-1] if edges else 0, None, len(ordered) - below[-1])
    return SizeSummary(
        total=sum(ordered),
        minimum=ordered[0] if ordered else 0,
        median=_quantile(ordered, 50),
        p90=_quantile(ordered, 90),
        maximum=maximum,
        limit=limit,
        bins=(*bins, beyond),
    )


def _quantile(ordered: Sequence[int], percent: int) -> int:
    """The smallest size that at least ``percent`` of the sizes do not exceed."""
    return ordered[(percent * len(ordered) + 99) // 100 - 1] if ordered else 0
