"""Cutting what is over the limit alone: into clauses, words, graphemes, at last code points."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from merestone.chunking import boundaries
from merestone.chunking.atoms import Atom, Outline, parts_of
from merestone.chunking.limits import too_small
from merestone.text.graphemes import grapheme_boundary_before
from merestone.text.sentences import clause_offsets, sentence_spans, word_offsets
from merestone.types import Edge, Tokenizer

Part = tuple[int, int, Edge]

_MARKS = ",;|\t}])>&"
_LINE_END = re.compile(r"(?:\r\n|[\n\r])[ \t]*(?!\s)")


def split_oversize(
    outlined: Outline,
    tokenizer: Tokenizer,
    max_chars: int,
    max_tokens: int,
    reserve: Callable[[Atom], int],
) -> list[int]:
    """Replace each atom that is over a limit by smaller ones that are not; returns the tokens of
    each atom.

    In the parts of sentences room is kept for what ``reserve`` says, and for the headings just
    before, so that these need not stay behind; for headings at most half.
    """
    text = outlined.document.text
    atoms, counts = _fitting(outlined, outlined.atoms, tokenizer, max_chars, max_tokens)
    outlined.atoms, found = [], []
    headings = heading_chars = 0
    for atom, count in zip(atoms, counts, strict=True):
        if count is not None:
            outlined.atoms.append(atom)
            found.append(count)
        else:
            tokens, chars = max_tokens - reserve(atom), max_chars
            if 2 * headings <= tokens and 2 * heading_chars <= chars:
                tokens, chars = tokens - headings, chars - heading_chars
            count = _split(text, atom, tokenizer, tokens, chars, outlined.atoms, found)
        if atom.heading is None:
            headings = heading_chars = 0
        else:
            headings += count
            heading_chars += atom.end - atom.start
    return found


def _fitting(
    outlined: Outline,
    atoms: Sequence[Atom],
    tokenizer: Tokenizer,
    max_chars: int,
    max_tokens: int,
) -> tuple[list[Atom], list[int | None]]:
    """Atoms with those over a limit cut into their sentences or lines, and the tokens of each;
    ``None`` for what is over a limit still."""
    counts = _counts(outlined.document.text, atoms, tokenizer, max_chars, max_tokens)
    if None not in counts:
        return list(atoms), counts
    parts = [
        [atom] if count is not None else parts_of(outlined, atom)
        for atom, count in zip(atoms, counts, strict=True)
    ]
    new = [part for group in parts if len(group) > 1 for part in group]
    counted = iter(_counts(outlined.document.text, new, tokenizer, max_chars, max_tokens))
    found: list[Atom] = []
    sizes: list[int | None] = []
    for group, count in zip(parts, counts, strict=True):
        found += group
        sizes += [next(counted) for _ in group] if len(group) > 1 else [count]
    return found, sizes


def _counts(
    text: str, atoms: Sequence[Atom], tokenizer: Tokenizer, max_chars: int, max_tokens: int
) -> list[int | None]:
    # Nothing is counted in pieces larger than max_chars, so that memory stays bounded.
    short = [atom for atom in atoms if atom.end - atom.start <= max_chars]
    counted = iter(tokenizer.counts([text[atom.start : atom.end] for atom in short]))
    found: list[int | None] = []
    for atom in atoms:
        count = next(counted) if atom.end - atom.start <= max_chars else None
        found.append(count if count is None or count <= max_tokens else None)
    return found


def _split(
    text: str,
    atom: Atom,
    tokenizer: Tokenizer,
    tokens: int,
    chars: int,
    found: list[Atom],
    counts: list[int],
) -> int:
    """Append the parts of ``atom`` and their tokens; returns the tokens of all."""
    splitter = _Splitter(text, tokenizer, tokens, chars)
    parts: list[Atom] = []
    for start, end, edge in splitter.parts(atom.start, atom.end):
        if text[start:end].isspace():
            # White space before a word that is over the limit says nothing by itself.
            if parts:
                parts[-1].end = end
            elif found:
                found[-1].end = end
            continue
        part = replace(atom, start=start, end=end, is_leaf=False)
        if parts:
            part.edge, part.heading = edge, None
            part.kind = "sentence" if atom.kind == "heading" else atom.kind
        parts.append(part)
    sizes = tokenizer.counts([text[part.start : part.end] for part in parts])
    found += parts
    counts += sizes
    return sum(sizes)


class _Splitter:
    def __init__(self, text: str, tokenizer: Tokenizer, tokens: int, chars: int) -> None:
        self._text = text
        self._tokenizer = tokenizer
        self._tokens = tokens
        self._chars = chars

    def parts(self, start: int, end: int) -> Iterator[Part]:
        """Sentences where they fit, else clauses and lines, else groups of words."""
        edge = boundaries.SENTENCE
        for first, last in sentence_spans(self._text, start, end):
            if self._fits(first, last):
                yield first, last, edge
            else:
                yield from self._clauses(first, last)

    def _clauses(self, start: int, end: int) -> Iterator[Part]:
        edges = dict.fromkeys(clause_offsets(self._text, start, end), boundaries.CLAUSE)
        for match in _LINE_END.finditer(self._text, start, end - 1):
            is_label = self._text[match.end()].isalpha()
            edge = boundaries.LINE_END if is_label else boundaries.CELL_END
            edges.setdefault(match.end(), edge)
        cuts = [start, *sorted(edges), end]
        edge = boundaries.SENTENCE
        for low, high in pairwise(cuts):
            edge = edges.get(low, edge)
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
            if cut < end:
                cut, following = self._mark_before(start, cut, following)
            yield start, cut, edge
            start, edge = cut, following

    def _mark_before(self, start: int, cut: int, edge: Edge) -> tuple[int, Edge]:
        """A place behind a comma or its like in the second half of ``[start, cut)``, so that no
        number is torn in a row of them; else ``cut``."""
        middle = start + (cut - start) // 2
        found = max(self._text.rfind(mark, middle, cut) for mark in _MARKS) + 1
        return (found, boundaries.WORD) if found > max(start, middle) else (cut, edge)

    def _fits(self, start: int, end: int) -> bool:
        if end - start > self._chars:
            return False
        return self._tokenizer.counts([self._text[start:end]])[0] <= self._tokens
