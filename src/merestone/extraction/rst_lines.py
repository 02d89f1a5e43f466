"""The lines of a reStructuredText source, with what finding the end of an indented block needs."""

from __future__ import annotations

import unicodedata
from itertools import accumulate, pairwise

from merestone.text.lines import line_starts

BLANK = 1 << 30
"""Indentation of a blank line: it ends no block."""

_TAB = 8


class Lines:
    """Lines as parallel lists, so that a block is a range of line numbers.

    What stands behind a marker is read by moving the marker's line on (:meth:`move`); the marker
    itself is never read again.
    """

    def __init__(self, text: str) -> None:
        contents: list[str]
        if "\r" in text:
            starts = list(line_starts(text))
            contents = [text[low:high] for low, high in pairwise([*starts, len(text)])]
        else:
            contents = text.split("\n")
            starts = list(accumulate((len(line) + 1 for line in contents[:-1]), initial=0))
        contents = [content.rstrip() for content in contents]
        self.starts = starts
        """Offset at which each line begins."""
        self.words = [content.lstrip() for content in contents]
        """Without white space around; empty for a blank line."""
        self.places = [
            start + len(content) - len(words)
            for start, content, words in zip(starts, contents, self.words, strict=True)
        ]
        """Offset of its first sign."""
        self.indents = [
            _indent(content, words) if words else BLANK
            for content, words in zip(contents, self.words, strict=True)
        ]
        """Columns before its first sign; ``BLANK`` for a blank line."""
        ends = (
            place + len(words) if words else 0
            for place, words in zip(self.places, self.words, strict=True)
        )
        self.ends = list(accumulate(ends, max))
        """Offset behind its last sign; for a blank line that of the line above it."""
        self.lower = _next_lower(self.indents)
        """Number of the next line that is indented less; of a blank line the next filled one."""

    def __len__(self) -> int:
        return len(self.starts)

    def end_of(self, first: int, last: int, indent: int) -> int:
        """Number of the first line from ``first`` on that is indented less than ``indent``; at
        most ``last``."""
        indents, lower = self.indents, self.lower
        while first < last and indents[first] >= indent:
            first = lower[first]
        return min(first, last)

    def lowest(self, first: int, last: int) -> int:
        """Least indentation of lines ``[first, last)``; ``BLANK`` if all are blank."""
        found = BLANK
        while first < last:
            found = self.indents[first]
            first = self.lower[first]
        return found

    def blank_from(self, first: int, last: int) -> int:
        """Number of the first blank line from ``first`` on, at most ``last``."""
        words = self.words
        while first < last and words[first]:
            first += 1
        return first

    def filled_from(self, first: int, last: int) -> int:
        """Number of the first line from ``first`` on that is not blank, at most ``last``."""
        return first if first >= last or self.words[first] else min(self.lower[first], last)

    def move(self, index: int, length: int, indent: int | None = None) -> None:
        """Let a line begin ``length`` signs later, and at column ``indent`` if that is given."""
        rest = self.words[index][length:]
        words = rest.lstrip()
        moved = length + len(rest) - len(words)
        self.places[index] += moved
        self.words[index] = words
        self.indents[index] = self.indents[index] + moved if indent is None else indent
        if not words:
            self.indents[index] = BLANK


def _indent(content: str, words: str) -> int:
    blank = content[: len(content) - len(words)]
    return len(blank.expandtabs(_TAB)) if "\t" in blank else len(blank)


def _next_lower(indents: list[int]) -> list[int]:
    found = [len(indents)] * len(indents)
    waiting: list[int] = []
    for index in range(len(indents) - 1, -1, -1):
        while waiting and indents[waiting[-1]] >= indents[index]:
            waiting.pop()
        if waiting:
            found[index] = waiting[-1]
        waiting.append(index)
    return found


def width(text: str) -> int:
    """Columns that ``text`` takes where letters of East Asia take two."""
    if text.isascii():
        return len(text)
    return sum(map(_sign_width, text))


def _sign_width(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def at_column(text: str, column: int) -> int:
    """Index of the sign of ``text`` that stands at ``column``, at most its length."""
    if text.isascii():
        return min(column, len(text))
    reached = 0
    for index, sign in enumerate(text):
        if reached >= column:
            return index
        reached += _sign_width(sign)
    return len(text)
