"""Cutting what is over the limit alone: into clauses, words, graphemes, at last code points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from merestone.chunking import boundaries
from merestone.chunking.atoms import Atom
from merestone.chunking.limits import too_small
from merestone.text.graphemes import grapheme_boundary_before
from merestone.text.sentences import clause_offsets, word_offsets
from merestone.types import Edge, Tokenizer

Part = tuple[int, int, Edge]


def split_oversize(
    text: str,
    atoms: list[Atom],
    tokenizer: Tokenizer,
    max_chars: int,
    room: Callable[[Atom], int],
) -> tuple[list[Atom], list[int]]:
    """``atoms`` with each that is over its ``room`` in tokens, or over ``max_chars``, replaced by
    smaller ones that are not; and the tokens of each."""
    # Nothing is counted in pieces larger than max_chars, so that memory stays bounded.
    short = [atom for atom in atoms if atom.end - atom.start <= max_chars]
    counted = tokenizer.counts([text[atom.start : atom.end] for atom in short])
    fitting = {
        atom.start: count for atom, count in zip(short, counted, strict=True) if count <= room(atom)
    }
    found: list[Atom] = []
    for atom in atoms:
        if atom.start in fitting:
            found.append(atom)
            continue
        splitter = _Splitter(text, tokenizer, room(atom), max_chars)
        is_first = True
        for start, end, edge in splitter.parts(atom.start, atom.end):
            if text[start:end].isspace():
                # White space before a word that is over the limit says nothing by itself.
                if found:
                    found[-1].end = end
                continue
            part = replace(atom, start=start, end=end)
            if not is_first:
                part.edge, part.heading = edge, None
                part.kind = "sentence" if atom.kind == "heading" else atom.kind
            found.append(part)
            is_first = False
    missing = [atom for atom in found if atom.start not in fitting]
    counted = tokenizer.counts([text[atom.start : atom.end] for atom in missing])
    fitting.update((atom.start, count) for atom, count in zip(missing, counted, strict=True))
    return found, [fitting[atom.start] for atom in found]


class _Splitter:
    def __init__(self, text: str, tokenizer: Tokenizer, tokens: int, chars: int) -> None:
        self._text = text
        self._tokenizer = tokenizer
        self._tokens = tokens
        self._chars = chars

    def parts(self, start: int, end: int) -> Iterator[Part]:
        """Clauses where they fit, else groups of words."""
        cuts = [start, *clause_offsets(self._text, start, end), end]
        edge = boundaries.CLAUSE
        for low, high in pairwise(cuts):
            if self._fits(low, high):
                yield low, high, edge
                continue
            for index, (first, last, inner) in enumerate(self._words(low, high)):
                yield first, last, inner if index else edge

    def _words(self, start: int, end: int) -> Iterator[Part]:
        """Groups of words of a quarter of the limit, so that packing still has a choice."""
        cuts = [start, *word_offsets(self._text, start, end), end]
        spans = [(low, high) for low, high in pairwise(cuts) if low < high]
        counts = self._tokenizer.counts(
            [self._text[low : min(high, low + self._chars)] for low, high in spans]
        )
        group, size = start, 0
        for (low, high), count in zip(spans, counts, strict=True):
            is_full = size + count > self._tokens // 4 or high - group > self._chars // 4
            if low > group and is_full:
                yield group, low, boundaries.WORD
                group, size = low, 0
            size += count
            if count > self._tokens or high - low > self._chars:
                for index, part in enumerate(self._graphemes(low, high)):
                    yield part if index else (*part[:2], boundaries.WORD)
                group, size = high, 0
        if group < end:
            yield group, end, boundaries.WORD

    def _graphemes(self, start: int, end: int) -> Iterator[Part]:
        step = min(max(1, self._chars // 2), max(1, 4 * self._tokens))
        edge = boundaries.GRAPHEME
        while start < end:
            high = min(end, start + step)
            while True:
                cut = end if high >= end else grapheme_boundary_before(self._text, high)
                following = boundaries.GRAPHEME
                if cut <= start:
                    # One grapheme is larger than what is left: the limit wins.
                    cut, following = high, boundaries.CODE_POINT
                if self._fits(start, cut):
                    break
                if cut - start <= 1:
                    raise too_small(
                        self._tokens, f"the tokens of the one character {self._text[start]!r}"
                    )
                high = start + (cut - start) // 2
            yield start, cut, edge
            start, edge = cut, following

    def _fits(self, start: int, end: int) -> bool:
        if end - start > self._chars:
            return False
        return self._tokenizer.counts([self._text[start:end]])[0] <= self._tokens
