"""Which cuts to take under the limit.

Packing works down the tree of sections. A subtree that fits stays whole; small neighbours under
one parent are merged; what is too large is cut by an optimal segmentation: least total price of
cuts and of sizes far from the target. So an edit moves no cut outside its own subtree and its
merged siblings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from merestone.chunking.atoms import Outline
from merestone.chunking.sections import Section
from merestone.chunking.sizes import Sizes

Range = tuple[int, int]
"""Half-open range of atoms."""


_MANY = 48
"""Items to a piece above which very short ones are put together."""
_SHARE = 24
"""Of the target; what is put together is at most so small a part of it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a piece may hold, in tokens and code points of its own text."""

    tokens: int
    chars: int
    target: int
    minimum: int


class Packer:
    """Packs one document.

    ``prices[i]`` is the price of a cut before atom i, and ``reserves[i]`` what a piece that begins
    at atom i must keep free for the table header or signature that it needs.
    """

    def __init__(
        self,
        outlined: Outline,
        sizes: Sizes,
        prices: Sequence[float],
        reserves: Sequence[int],
        limits: Limits,
    ) -> None:
        self._sizes = sizes
        self._prices = prices
        self._reserves = reserves
        self._limits = limits
        self._blocks = _block_ends(outlined, sizes)
        self._text_from = _next_text(outlined)

    def fits(self, first: int, last: int) -> bool:
        """True if atoms ``[first, last)`` may be one piece."""
        sizes, limits = self._sizes, self._limits
        return (
            sizes.tokens(first, last) <= limits.tokens - self._reserves[first]
            and sizes.chars(first, last) <= limits.chars
        )

    def pack(self, root: Section) -> list[Range]:
        """Ranges that tile the section's atoms, none over the limits unless it is one atom."""
        done: list[Range] = []
        # A stack and not recursion: sections nest as deep as a document likes.
        pending = [(root, root.first)]
        while pending:
            section, first = pending.pop()
            run: list[Range] = []
            for item, child in self._items(section, first):
                if self.fits(*item):
                    run.append(item)
                    continue
                done.extend(self.segment(run))
                run = []
                if child is None:
                    done.extend(self.tile(*item))
                else:
                    pending.append((child, item[0]))
            done.extend(self.segment(run))
        done.sort()
        return self._merge_small(done, root)

    def _items(self, section: Section, first: int) -> list[tuple[Range, Section | None]]:
        """The section whole if it fits; else its subsections and what stands between them.
        Headings without a text of their own go with the subsection behind them."""
        if section.last <= first:
            return []
        if not section.children or self.fits(first, section.last):
            return [((first, section.last), None)]
        items: list[tuple[Range, Section | None]] = []
        start = first
        for child in section.children:
            if self._text_from[start] < child.first:
                items.append(((start, child.first), None))
                start = child.first
            if child is section.children[-1] or self._text_from[start] < child.last:
                items.append(((start, child.last), child))
                start = child.last
        if start < section.last:
            items.append(((start, section.last), None))
        return items

    def tile(self, first: int, last: int) -> list[Range]:
        """Ranges that tile atoms ``[first, last)``, wherever sections begin and end."""
        return self.segment(self._blocks_of(first, last))

    def _blocks_of(self, first: int, last: int) -> list[Range]:
        """The largest blocks that fit, else their parts, that tile ``[first, last)``.

        Headings are one with the block behind them, unless it fits only without them.
        """
        found: list[Range] = []
        start = first
        while start < last:
            at = min(self._text_from[start], last - 1)
            ends = (end for end in self._blocks.get(at, ()) if end <= last)
            end = next((end for end in ends if self.fits(at, end)), at + 1)
            if at > start and not self.fits(start, end):
                end = at if self.fits(start, at) else start + 1
            found.append((start, end))
            start = end
        return found

    def segment(self, items: Sequence[Range]) -> list[Range]:
        """Optimal segmentation of neighbouring items, none of which is cut.

        Dynamic programming over the ends of pieces; linear in the number of items, since a piece
        holds a bounded number of them.
        """
        items = self._bundled(items)
        if len(items) < 2:
            return list(items)
        limits, reserves, prices = self._limits, self._reserves, self._prices
        most, chars, target = limits.tokens, limits.chars, limits.target
        over = max(1, most - target)
        before, starts, ends = self._sizes.before, self._sizes.starts, self._sizes.ends
        firsts = [first for first, _ in items]
        best = [0.0]
        back = [0]
        for end, (_, last) in enumerate(items):
            total, stop = before[last], ends[last - 1]
            cheapest, chosen = inf, end
            for start in range(end, -1, -1):
                first = firsts[start]
                tokens = total - before[first]
                if start < end:
                    if tokens > most or stop - starts[first] > chars:
                        break
                    if tokens > most - reserves[first]:
                        continue
                if tokens <= target:
                    cost = 1.0 - tokens / target
                    cost *= cost
                else:
                    cost = (tokens - target) / over
                    cost *= 2.0 * cost
                cost += best[start]
                if start:
                    cost += prices[first]
                if cost < cheapest:
                    cheapest, chosen = cost, start
            best.append(cheapest)
            back.append(chosen)
        pieces: list[Range] = []
        end = len(items)
        while end > 0:
            start = back[end]
            pieces.append((firsts[start], items[end - 1][1]))
            end = start
        pieces.reverse()
        return pieces

    def _bundled(self, items: Sequence[Range]) -> Sequence[Range]:
        """Very short items, such as lines of a word, put together where there are so many of them
        that a choice between all would cost more than it is worth."""
        if len(items) < _MANY:
            return items
        sizes, limits = self._sizes, self._limits
        tokens = sizes.tokens(items[0][0], items[-1][1])
        chars = sizes.chars(items[0][0], items[-1][1])
        pieces = max(tokens / limits.target, chars / limits.chars, 1)
        if len(items) < _MANY * pieces:
            return items
        found: list[Range] = []
        for first, last in items:
            if found and self._is_tiny(found[-1][0], last):
                found[-1] = (found[-1][0], last)
            else:
                found.append((first, last))
        return found

    def _is_tiny(self, first: int, last: int) -> bool:
        sizes, limits = self._sizes, self._limits
        return (
            sizes.tokens(first, last) * _SHARE <= limits.target
            and sizes.chars(first, last) * _SHARE <= limits.chars
            and self._reserves[first] == self._reserves[last - 1]
        )

    def _merge_small(self, pieces: list[Range], root: Section) -> list[Range]:
        """Merge pieces under the minimum with a neighbour: of the same section if one fits, else
        over the weaker boundary."""
        sizes, minimum = self._sizes, self._limits.minimum
        if all(sizes.tokens(first, last) >= minimum for first, last in pieces):
            return pieces
        sections = _section_starts(root)
        kept: list[Range] = []
        waiting = pieces[::-1]
        while waiting:
            first, last = waiting.pop()
            if sizes.tokens(first, last) >= minimum:
                kept.append((first, last))
                continue
            choices = []
            if kept and self.fits(kept[-1][0], last):
                choices.append((first not in sections, self._prices[first], 0))
            if waiting and self.fits(first, waiting[-1][1]):
                choices.append((last not in sections, self._prices[last], 1))
            if not choices:
                kept.append((first, last))
            # Taking the dearer cut away mends most.
            elif max(choices)[2] == 0:
                waiting.append((kept.pop()[0], last))
            else:
                waiting.append((first, waiting.pop()[1]))
        return kept


def _next_text(outlined: Outline) -> list[int]:
    """For each atom the first from it on that is no heading."""
    found = [len(outlined.atoms)] * (len(outlined.atoms) + 1)
    for index in range(len(outlined.atoms) - 1, -1, -1):
        is_heading = outlined.atoms[index].heading is not None
        found[index] = found[index + 1] if is_heading else index
    return found


def _block_ends(outlined: Outline, sizes: Sizes) -> dict[int, list[int]]:
    """By the atom at which they begin, the ends in atoms of the blocks of several atoms,
    outermost first."""
    found: dict[int, list[int]] = {}
    for block in outlined.document.blocks:
        first, last = sizes.within(block.start, block.end)
        if last - first > 1:
            found.setdefault(first, []).append(last)
    return found


def _section_starts(root: Section) -> set[int]:
    found, pending = set(), [root]
    while pending:
        section = pending.pop()
        found.add(section.first)
        pending.extend(section.children)
    return found
