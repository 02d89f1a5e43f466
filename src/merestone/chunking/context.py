"""Which spans outside a piece a reader needs to understand it, and which of them fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile

from merestone.chunking.atoms import Atom, Outline
from merestone.chunking.render import PATH_SEPARATOR, flat, shown
from merestone.chunking.sections import Section
from merestone.types import CONTEXT_ROLES, Block, ContextRole, ContextSpan, Document, Tokenizer

_OF_BLOCKS: tuple[tuple[ContextRole, str], ...] = (
    ("caption", "caption"),
    ("lead_in", "lead_in"),
    ("signature", "signature"),
    ("table_header", "header"),
)
"""Roles whose spans a block names, with the attribute that names it."""
_NEEDED = ("signature", "table_header")
"""What a piece cannot do without, so that room is kept for it."""

_LOOK = 400
"""Code points of a piece in which its title is looked for."""
_LINE_END = re.compile(r"[\r\n]")


class Reconnection:
    """Finds the context of ranges of one document's atoms; of the ``roles`` asked for."""

    def __init__(
        self, document: Document, tokenizer: Tokenizer, roles: Sequence[ContextRole]
    ) -> None:
        self._document = document
        self._tokenizer = tokenizer
        self._roles = roles
        self._of_block = self._spans_of_blocks()
        self._headings: dict[int, ContextSpan] = {}
        self._costs: dict[ContextSpan, int] = {}
        self._headers: dict[int, ContextSpan | None] = {}
        """By their starts the headers of tables, without the rows of dashes behind them."""
        self._title = flat(document.title or "") if "title" in roles else ""

    def _spans_of_blocks(self) -> list[tuple[ContextSpan, ...]]:
        """For each block the spans that it and the blocks around it name, outermost first."""
        wanted = [pair for pair in _OF_BLOCKS if pair[0] in self._roles]
        found: list[tuple[ContextSpan, ...]] = []
        for block in self._document.blocks:
            above = found[block.parent] if block.parent is not None else ()
            own = self._named_by(block, wanted) if block.attributes else ()
            found.append((*above, *own) if own else above)
        return found

    def _named_by(
        self, block: Block, wanted: Sequence[tuple[ContextRole, str]]
    ) -> tuple[ContextSpan, ...]:
        if block.kind == "table_row":
            return ()
        text = self._document.text
        spans = []
        for role, key in wanted:
            place = block.attributes.get(key)
            if isinstance(place, list | tuple):
                low, high = place
                if text[low:high].strip():
                    spans.append(ContextSpan(role, low, high, text[low:high]))
        return tuple(spans)

    def reserve(self, atom: Atom) -> int:
        """Tokens of the spans that a piece which begins at ``atom`` cannot do without."""
        if atom.block is None or not self._of_block[atom.block]:
            return 0
        spans = [span for span in self._before(atom) if span.role in _NEEDED]
        if self._tokenizer.adds_up or not spans:
            return sum(map(self._cost_of, spans))
        # The line ends behind each span and before the text count too.
        return sum(map(self._cost_of, spans)) + (len(spans) + 1) * self._line_end

    def needed(self, path: Sequence[int], atom: Atom, end: int) -> list[ContextSpan]:
        """Every context span of a piece from ``atom`` to ``end`` below the heading blocks ``path``,
        in the order of rendering. A title that the piece begins with is none."""
        start = atom.start
        found: list[ContextSpan] = []
        headings = [self.heading(index) for index in path]
        if self._title and not (headings and flat(headings[0].text) == self._title):
            ahead = self._document.text[start : min(end, start + 2 * len(self._title) + _LOOK)]
            if self._title not in flat(ahead):
                title = self._document.title
                found.append(ContextSpan("title", None, None, title or ""))
        if "heading" in self._roles:
            found += [span for span in headings if span.end is not None and span.end <= start]
        found += sorted(self._before(atom), key=lambda span: CONTEXT_ROLES.index(span.role))
        return found

    def _before(self, atom: Atom) -> list[ContextSpan]:
        """What the blocks around ``atom`` name and that ends before it."""
        if atom.block is None:
            return []
        return [
            span
            for named in self._of_block[atom.block]
            if (span := self._clipped(named, atom.start)) is not None
        ]

    def _clipped(self, span: ContextSpan, start: int) -> ContextSpan | None:
        """``span`` if it ends before ``start``; of a header that a piece begins within, behind its
        words in a long row of dashes, the part before."""
        if span.start is None or span.end is None or span.end <= start:
            return span
        if span.role != "table_header":
            return None
        if span.start not in self._headers:
            self._headers[span.start] = _without_rule(span)
        words = self._headers[span.start]
        return words if words is not None and (words.end or 0) <= start else None

    def heading(self, index: int) -> ContextSpan:
        """The words of a heading block."""
        if index not in self._headings:
            block = self._document.blocks[index]
            start, end = block.attributes.get("content") or (block.start, block.end)
            text = self._document.text[start:end]
            self._headings[index] = ContextSpan("heading", start, end, text)
        return self._headings[index]

    def cost(self, spans: Sequence[ContextSpan]) -> int:
        """Tokens that ``spans`` add to the embedder input, by the sum of their parts."""
        if not spans:
            return 0
        on_path = sum(span.role in ("title", "heading") for span in spans)
        separators = max(0, on_path - 1) * self._separator
        return separators + sum(map(self._cost_of, spans))

    @cached_property
    def _line_end(self) -> int:
        return self._tokenizer.counts(["\n"])[0]

    @cached_property
    def _separator(self) -> int:
        return self._tokenizer.counts([PATH_SEPARATOR.strip()])[0]

    def _cost_of(self, span: ContextSpan) -> int:
        if span not in self._costs:
            written = flat(span.text) if span.role in ("title", "heading") else shown(span)
            self._costs[span] = self._tokenizer.counts([written])[0]
        return self._costs[span]


def heading_path(
    outlined: Outline, of_atom: Sequence[Section], first: int, last: int
) -> tuple[int, ...]:
    """Heading blocks above everything in atoms ``[first, last)`` that is not a heading itself; of
    headings alone, the path of the last."""
    common: tuple[int, ...] | None = None
    previous: Section | None = None
    for index in range(first, last):
        section = of_atom[index]
        if section is previous or outlined.atoms[index].heading is not None:
            continue
        previous = section
        common = section.path if common is None else _common(common, section.path)
    return of_atom[last - 1].path if common is None else common


def after_shedding(
    spans: Sequence[ContextSpan], count: int
) -> tuple[tuple[ContextSpan, ...], tuple[ContextSpan, ...]]:
    """What is kept and what is shed once ``count`` spans have given way: the title first, then
    outer headings, caption, lead-in, and last what room was kept for."""
    if not count:
        return tuple(spans), ()
    roles = [CONTEXT_ROLES.index(span.role) for span in spans]
    order = sorted(range(len(spans)), key=roles.__getitem__)[:count]
    kept = tuple(span for index, span in enumerate(spans) if index not in order)
    return kept, tuple(spans[index] for index in order)


def _without_rule(header: ContextSpan) -> ContextSpan | None:
    words = len(header.text.rstrip("|-:=+ \t\r\n"))
    line_end = _LINE_END.search(header.text, words)
    if not words or line_end is None or header.start is None:
        return None
    text = header.text[: line_end.start()]
    return header._replace(end=header.start + len(text), text=text)


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return tuple(index for index, _ in pairs)
