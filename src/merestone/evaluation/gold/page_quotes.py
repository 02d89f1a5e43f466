"""Finding a quote on a page of a document: its words, in the order in which that page has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from functools import cached_property

from merestone.evaluation.gold.word_runs import WordRun, agreement
from merestone.types import Document

_GAP_PRICE = 0.5
"""What a word between two matching runs of a quote costs; a word that matches gains 1."""
_SHORTEST_RUN = 3
"""Shorter runs of matching words on a page are chance, unless the quote is as short."""
_ENOUGH = 0.85
"""Share of the quote's words that have to be in a range, and of the range's words that have to be
the quote's, for it to be the quote in another reader's order. A page's table comes in many orders,
and no two readers agree on every number of a footnote."""
_LIKELY = 0.5
_FEW = 8
"""Words of a quote that is too short to be told but by all of them in a row."""


@dataclass(frozen=True, slots=True)
class PageMatch:
    """Where a quote stands, and how sure that is."""

    start: int
    end: int
    is_certain: bool
    reason: str = ""


@dataclass
class PagedText:
    """A document with pages."""

    document: Document

    def page_range(self, number: int) -> tuple[int, int] | None:
        """The page's body as a range of the text; ``None`` if there is nothing on it."""
        ranges = self._ranges((number,))
        return (ranges[0][0], max(end for _, end in ranges)) if ranges else None

    def find(self, quote: str, number: int) -> PageMatch | None:
        """The quote on page ``number`` or from it on to the next, or if it is nowhere there, on
        the one page that has it."""
        for pages in ((number,), (number, number + 1)):
            places = list(self._run(pages).places(quote))
            if places:
                return _told(places, "on the page")
        near = _densest(self._run((number,)), quote)
        if near is not None and near.is_certain:
            return near
        places = list(self._whole.places(quote))
        if not places:
            return near
        if len(WordRun(quote).words) <= _FEW:
            return PageMatch(*places[0], False, f"the quote stands on another page than {number}")
        return _told(places, "in the document")

    @cached_property
    def _whole(self) -> WordRun:
        return WordRun(self.document.text)

    @cached_property
    def _body_end(self) -> int:
        return self.document.body_end

    def _run(self, numbers: Sequence[int]) -> WordRun:
        # An empty list would mean the whole text.
        return WordRun(self.document.text, self._ranges(numbers) or [(0, 0)])

    def _ranges(self, numbers: Sequence[int]) -> list[tuple[int, int]]:
        """The words of some pages, those of the body alone if there are any: what stands behind
        the body is near on the page and far in the text."""
        pages = [page for page in self.document.pages if page.number in numbers]
        ranges = [(word.start, word.end) for page in pages for word in page.words]
        return sorted([span for span in ranges if span[1] <= self._body_end] or ranges)


def _told(places: Sequence[tuple[int, int]], where: str) -> PageMatch:
    if len(places) == 1:
        return PageMatch(*places[0], True)
    return PageMatch(*places[0], False, f"the quote stands {len(places)} times {where}")


def _densest(page: WordRun, quote: str) -> PageMatch | None:
    """The range of the page's words that has most of the quote's and little else."""
    wanted = WordRun(quote).words
    matcher = SequenceMatcher(None, page.words, wanted, autojunk=False)
    blocks = [
        block
        for block in matcher.get_matching_blocks()
        if block.size >= min(_SHORTEST_RUN, max(1, len(wanted)))
    ]
    if not blocks:
        return None
    first, last = dense_part(blocks)
    low, high = blocks[first].a, blocks[last].a + blocks[last].size
    share = agreement(page.words[low:high], wanted)
    if share < _LIKELY:
        return None
    start, end = page.range_of(low, high - 1)
    if share >= _ENOUGH and len(wanted) > _FEW:
        return PageMatch(start, end, True)
    return PageMatch(start, end, False, f"{share:.0%} of the words agree")


def dense_part(blocks: Sequence[Match]) -> tuple[int, int]:
    """First and last of the neighbouring runs that gain most: their words, less what is between.

    A table or a page number that the quote has in another place would stretch the range over half
    the page otherwise.
    """
    best, chosen = 0.0, (0, 0)
    gain, first = 0.0, 0
    for index, block in enumerate(blocks):
        if index:
            gain -= _GAP_PRICE * (block.a - blocks[index - 1].a - blocks[index - 1].size)
        if gain <= 0:
            gain, first = 0.0, index
        gain += block.size
        if gain > best:
            best, chosen = gain, (first, index)
    return chosen
