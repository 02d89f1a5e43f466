"""Which parts of one text stand in another: the edit map between two versions of a document.

Lines that occur once on each side are the anchors, as in Bram Cohen's patience diff; what lies
between is then compared by words. Each pass is linear, apart from sorting, and their number is
fixed, so a text that was written anew costs no more than one that was edited.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from merestone.text.scripts import HAN_AND_KANA, SOUTHEAST_ASIAN
from merestone.types import SharedRun

_LINE = re.compile(r"\S(?:[^\r\n]*\S)?")
_UNSPACED = f"{HAN_AND_KANA}{SOUTHEAST_ASIAN}"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s]")

_LINE_PASSES = ((_LINE, 1), (_LINE, 1))
_WORD_PASSES = ((_WORD, 3), (_WORD, 1))
"""What is compared, and how many of it in a row make an anchor. The second pass sees as unique
what occurs once between two anchors of the first."""

_MOVED_LINE = 16
"""Code points of a line, at least, that is looked for out of order."""


class _Gap(NamedTuple):
    """``old_text[old:old_end]`` and ``new_text[new:new_end]``, to be compared."""

    old: int
    old_end: int
    new: int
    new_end: int


class _Tokens:
    """What a pattern finds in a range of a text: the strings, and where they begin."""

    def __init__(self, text: str, start: int, end: int, pattern: re.Pattern[str]) -> None:
        self.words: list[str] = []
        self.starts: list[int] = []
        for match in pattern.finditer(text, start, end):
            self.words.append(match[0])
            self.starts.append(match.start())


def align_texts(old: str, new: str, anchors: Iterable[SharedRun] = ()) -> list[SharedRun]:
    """What both texts hold, in order of the old one; no character of either is in two runs.

    ``anchors`` are runs that are known already, ascending in both texts. White space between two
    lines or words belongs to a run only where both sides have the same. A line that moved past
    others is found if it is unique among what was left.
    """
    runs = list(anchors)
    gaps = _between(runs, len(old), len(new))
    for pattern, size in _LINE_PASSES:
        gaps = _compare(old, new, gaps, runs, pattern, size)
    moved = _moved(old, new, gaps)
    runs += moved
    old_rest = _blanked(old, [(run.old, run.length) for run in moved])
    new_rest = _blanked(new, [(run.new, run.length) for run in moved])
    for pattern, size in _WORD_PASSES:
        gaps = _compare(old_rest, new_rest, gaps, runs, pattern, size)
    return _joined(old, new, runs)


def longest_ascending(values: Sequence[int]) -> list[int]:
    """Indexes of a longest strictly ascending subsequence of ``values``.

    Patience sorting: time is linear times the logarithm of the length.
    """
    tails: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, value in enumerate(values):
        place = bisect_left(tails, value)
        before.append(last[place - 1] if place else -1)
        if place == len(tails):
            tails.append(value)
            last.append(index)
        else:
            tails[place], last[place] = value, index
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(index)
        index = before[index]
    return found[::-1]


def _between(runs: Sequence[SharedRun], old_end: int, new_end: int) -> list[_Gap]:
    """The gaps around ``runs``; one side may be empty, since a line can have moved there."""
    gaps = []
    old = new = 0
    for run in (*runs, SharedRun(old_end, new_end, 0)):
        if run.old > old or run.new > new:
            gaps.append(_Gap(old, run.old, new, run.new))
        old, new = run.old + run.length, run.new + run.length
    return gaps


def _compare(
    old: str,
    new: str,
    gaps: Iterable[_Gap],
    runs: list[SharedRun],
    pattern: re.Pattern[str],
    size: int,
) -> list[_Gap]:
    """Add to ``runs`` what the two sides of each gap share; the gaps that are left."""
    left: list[_Gap] = []
    for gap in gaps:
        if gap.old == gap.old_end or gap.new == gap.new_end:
            left.append(gap)
            continue
        one = _Tokens(old, gap.old, gap.old_end, pattern)
        other = _Tokens(new, gap.new, gap.new_end, pattern)
        a, b = gap.old, gap.new
        for first, second, count in _common(one.words, other.words, size):
            for step in range(count):
                at, there = one.starts[first + step], other.starts[second + step]
                runs.append(SharedRun(at, there, len(one.words[first + step])))
            if one.starts[first] > a or other.starts[second] > b:
                left.append(_Gap(a, one.starts[first], b, other.starts[second]))
            a, b = at + runs[-1].length, there + runs[-1].length
        if gap.old_end > a or gap.new_end > b:
            left.append(_Gap(a, gap.old_end, b, gap.new_end))
    return left


def _common(one: Sequence[str], other: Sequence[str], size: int) -> Iterator[tuple[int, int, int]]:
    """(index in ``one``, index in ``other``, how many) of equal stretches, ascending in both."""
    shortest = min(len(one), len(other))
    head = 0
    while head < shortest and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < shortest - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    if head:
        yield 0, 0, head
    last, there = len(one) - tail, len(other) - tail
    low, lower = head, head
    for first, second in _anchors(one[head:last], other[head:there], size):
        at, opposite = head + first, head + second
        if at < low or opposite < lower:
            continue
        while at > low and opposite > lower and one[at - 1] == other[opposite - 1]:
            at, opposite = at - 1, opposite - 1
        count = 1
        while (
            at + count < last
            and opposite + count < there
            and one[at + count] == other[opposite + count]
        ):
            count += 1
        yield at, opposite, count
        low, lower = at + count, opposite + count
    if tail:
        yield last, there, tail


def _anchors(one: Sequence[str], other: Sequence[str], size: int) -> list[tuple[int, int]]:
    """Places of what occurs once on each side, ascending on both."""
    places = _unique(_shingles(other, size))
    pairs = [
        (index, places[shingle])
        for shingle, index in _unique(_shingles(one, size)).items()
        if shingle in places
    ]
    pairs.sort()
    return [pairs[index] for index in longest_ascending([place for _, place in pairs])]


def _shingles(words: Sequence[str], size: int) -> Iterable[Hashable]:
    return words if size == 1 else zip(*(words[skip:] for skip in range(size)), strict=False)


def _unique(items: Iterable[Hashable]) -> dict[Hashable, int]:
    """Index of each item that occurs once."""
    places: dict[Hashable, int] = {}
    repeated: set[Hashable] = set()
    for index, item in enumerate(items):
        if places.setdefault(item, index) != index:
            repeated.add(item)
    for item in repeated:
        del places[item]
    return places


def _moved(old: str, new: str, gaps: Sequence[_Gap]) -> list[SharedRun]:
    """Lines of the gaps that stand elsewhere in them, with the lines around that go along."""
    one, other = _Lines(), _Lines()
    for gap in gaps:
        one.add(_Tokens(old, gap.old, gap.old_end, _LINE))
        other.add(_Tokens(new, gap.new, gap.new_end, _LINE))
    places = _unique(other.words)
    runs = []
    for line, index in _unique(one.words).items():
        if line not in places or len(one.words[index]) < _MOVED_LINE:
            continue
        there = places[line]
        for step in (1, -1):
            at, opposite = (index, there) if step > 0 else (index - 1, there - 1)
            while one.is_free(at) and other.is_free(opposite):
                if one.words[at] != other.words[opposite]:
                    break
                one.taken[at] = other.taken[opposite] = True
                runs.append(SharedRun(one.starts[at], other.starts[opposite], len(one.words[at])))
                at, opposite = at + step, opposite + step
    return runs


class _Lines:
    """Lines of all gaps of one side, and which of them were found on the other."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.starts: list[int] = []
        self.taken: list[bool] = []

    def add(self, tokens: _Tokens) -> None:
        self.words += tokens.words
        self.starts += tokens.starts
        self.taken += [False] * len(tokens.words)

    def is_free(self, index: int) -> bool:
        return 0 <= index < len(self.words) and not self.taken[index]


def _blanked(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """``text`` with spaces in place of ``ranges``, which are (start, length)."""
    parts = []
    at = 0
    for start, length in sorted(ranges):
        parts += [text[at:start], " " * length]
        at = start + length
    return "".join([*parts, text[at:]])


def _joined(old: str, new: str, runs: Iterable[SharedRun]) -> list[SharedRun]:
    """``runs`` in order, those joined that only equal white space parts."""
    found: list[SharedRun] = []
    for run in sorted(runs):
        last = found[-1] if found else SharedRun(0, -1, 0)
        gap = old[last.old + last.length : run.old]
        if (
            run.new - run.old == last.new - last.old
            and (not gap or gap.isspace())
            and gap == new[last.new + last.length : run.new]
        ):
            found[-1] = last._replace(length=run.old + run.length - last.old)
        else:
            found.append(run)
    return found
