"""Which cuts to take under the limit.

Packing works down the tree of sections. A subtree that fits stays whole; small neighbours under
one parent are merged; what is too large is cut by an optimal segmentation: least total price of
cuts and of sizes far from the target. So an edit moves no cut outside its own subtree and its
merged siblings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from merestone.chunking.sections import Section
from merestone.chunking.sizes import Sizes

Range = tuple[int, int]
"""Half-open range of atoms."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a piece may hold. ``reserve(i)`` is what a piece that begins at atom i must keep free
    for the table header or signature that it needs."""

    tokens: int
    chars: int
    target: int
    minimum: int
    reserve: Callable[[int], int]


class Packer:
    """Packs one document; ``prices[i]`` is the price of a cut before atom i."""

    def __init__(self, sizes: Sizes, prices: Sequence[float], limits: Limits) -> None:
        self._sizes = sizes
        self._prices = prices
        self._limits = limits

    def fits(self, first: int, last: int) -> bool:
        """True if atoms ``[first, last)`` may be one piece."""
        limits = self._limits
        return (
            self._sizes.tokens(first, last) <= limits.tokens - limits.reserve(first)
            and self._sizes.chars(first, last) <= limits.chars
        )

    def pack(self, root: Section) -> list[Range]:
        """Ranges that tile the section's atoms, none over the limits."""
        done: list[Range] = []
        # A stack and not recursion: headings nest as deep as a document likes.
        pending = [(root, root.first)]
        while pending:
            section, first = pending.pop()
            run: list[Range] = []
            for item, child in self._items(section, first):
                if self.fits(*item):
                    run.append(item)
                    continue
                done.extend(self._segment(run))
                run = []
                if child is None:
                    done.extend(self._segment([(i, i + 1) for i in range(*item)]))
                else:
                    pending.append((child, item[0]))
            done.extend(self._segment(run))
        done.sort()
        return self._merge_small(done, root)

    def _items(self, section: Section, first: int) -> list[tuple[Range, Section | None]]:
        """The section whole if it fits; else its own part and its subsections. Headings without
        a text of their own go with the first subsection."""
        if section.last <= first:
            return []
        if not section.children or self.fits(first, section.last):
            return [((first, section.last), None)]
        items: list[tuple[Range, Section | None]] = []
        start = first
        if section.own_last > section.first + (section.heading is not None):
            items.append(((first, section.own_last), None))
            start = section.own_last
        for child in section.children:
            items.append(((start, child.last), child))
            start = child.last
        return items

    def _segment(self, items: Sequence[Range]) -> list[Range]:
        """Optimal segmentation of neighbouring items, none of which is cut.

        Dynamic programming over the ends of pieces; linear in the number of items, since a piece
        holds a bounded number of them.
        """
        count = len(items)
        best = [0.0] + [inf] * count
        back = [0] * (count + 1)
        for end in range(1, count + 1):
            for start in range(end - 1, -1, -1):
                first, last = items[start][0], items[end - 1][1]
                if start < end - 1 and not self.fits(first, last):
                    if self._too_large(first, last):
                        break
                    continue
                cut = self._prices[first] if start else 0.0
                cost = best[start] + cut + self._size_price(first, last)
                if cost < best[end]:
                    best[end], back[end] = cost, start
        pieces: list[Range] = []
        end = count
        while end > 0:
            start = back[end]
            pieces.append((items[start][0], items[end - 1][1]))
            end = start
        pieces.reverse()
        return pieces

    def _too_large(self, first: int, last: int) -> bool:
        """True if no larger piece can fit either, whatever it keeps free."""
        return (
            self._sizes.tokens(first, last) > self._limits.tokens
            or self._sizes.chars(first, last) > self._limits.chars
        )

    def _size_price(self, first: int, last: int) -> float:
        tokens = self._sizes.tokens(first, last)
        target = self._limits.target
        if tokens <= target:
            return ((target - tokens) / target) ** 2
        return 2.0 * ((tokens - target) / max(1, self._limits.tokens - target)) ** 2

    def _merge_small(self, pieces: list[Range], root: Section) -> list[Range]:
        """Merge pieces under the minimum with a neighbour: of the same section if one fits, else
        over the weaker boundary."""
        sections = _section_starts(root)
        index = 0
        while index < len(pieces):
            first, last = pieces[index]
            if len(pieces) == 1 or self._sizes.tokens(first, last) >= self._limits.minimum:
                index += 1
                continue
            choices = []
            if index > 0 and self.fits(pieces[index - 1][0], last):
                choices.append((first not in sections, self._prices[first], index - 1))
            following = pieces[index + 1][1] if index + 1 < len(pieces) else None
            if following and self.fits(first, following):
                choices.append((last not in sections, self._prices[last], index))
            if not choices:
                index += 1
                continue
            # Taking the dearer cut away mends most.
            at = max(choices)[2]
            pieces[at : at + 2] = [(pieces[at][0], pieces[at + 1][1])]
            index = at
        return pieces


def _section_starts(root: Section) -> set[int]:
    found, pending = set(), [root]
    while pending:
        section = pending.pop()
        found.add(section.first)
        pending.extend(section.children)
    return found
