"""Which spans outside a piece a reader needs to understand it, and which of them fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from merestone.chunking.atoms import Atom, Outline
from merestone.chunking.render import PATH_SEPARATOR, flat, shown
from merestone.chunking.sections import Section
from merestone.types import JSON, ContextRole, ContextSpan, Document, Tokenizer

_OF_BLOCKS: tuple[ContextRole, ...] = ("caption", "lead_in", "table_header")


class Reconnection:
    """Finds the context of ranges of one document's atoms."""

    def __init__(self, outlined: Outline, of_atom: Sequence[Section], tokenizer: Tokenizer) -> None:
        self._outline = outlined
        self._of_atom = of_atom
        self._tokenizer = tokenizer
        self._costs: dict[str, int] = {}

    @property
    def _document(self) -> Document:
        return self._outline.document

    def heading_path(self, first: int, last: int) -> tuple[int, ...]:
        """Heading blocks above everything in atoms ``[first, last)`` that is not a heading
        itself; of headings alone, the path of the last."""
        common: tuple[int, ...] | None = None
        previous: Section | None = None
        for index in range(first, last):
            if self._outline.atoms[index].heading is not None:
                continue
            section = self._of_atom[index]
            if section is previous:
                continue
            previous = section
            path = section.path()
            common = path if common is None else _common(common, path)
        return self._of_atom[last - 1].path() if common is None else common

    def needed(self, first: int, last: int) -> list[ContextSpan]:
        """Every context span of atoms ``[first, last)``, in the order of rendering."""
        start = self._outline.atoms[first].start
        found: list[ContextSpan] = []
        path = self.heading_path(first, last)
        headings = [self.heading(index) for index in path]
        title = self._document.title
        if title and flat(title) and (not headings or flat(headings[0].text) != flat(title)):
            own = self._document.text[start : self._outline.atoms[last - 1].end]
            if not flat(own).startswith(flat(title)):
                found.append(ContextSpan("title", None, None, title))
        found.extend(span for span in headings if span.end is not None and span.end <= start)
        for role in _OF_BLOCKS:
            found.extend(self._of_blocks(role, self._outline.atoms[first]))
        return found

    def reserved(self, atom: Atom) -> list[ContextSpan]:
        """What a piece that begins at ``atom`` cannot do without."""
        return self._of_blocks("table_header", atom)

    def heading(self, index: int) -> ContextSpan:
        """The words of a heading block."""
        block = self._document.blocks[index]
        start, end = block.attributes.get("content") or (block.start, block.end)
        return ContextSpan("heading", start, end, self._document.text[start:end])

    def _of_blocks(self, role: ContextRole, atom: Atom) -> list[ContextSpan]:
        """Spans of ``role`` that the blocks around ``atom`` name and that end before it,
        outermost first."""
        key = "header" if role == "table_header" else role
        found: list[ContextSpan] = []
        for index in self._outline.ancestors(atom.block):
            block = self._document.blocks[index]
            span: JSON = block.attributes.get(key)
            if block.kind == "table_row" or not isinstance(span, list | tuple):
                continue
            low, high = span
            if high <= atom.start and self._document.text[low:high].strip():
                text = self._document.text[low:high]
                found.append(ContextSpan(role, low, high, text))
        return found[::-1]

    def cost(self, spans: Sequence[ContextSpan]) -> int:
        """Tokens that ``spans`` add to the embedder input, by the sum of their parts."""
        path = [flat(span.text) for span in spans if span.role in ("title", "heading")]
        others = [shown(span) for span in spans if span.role not in ("title", "heading")]
        separators = max(0, len(path) - 1) * self._count(PATH_SEPARATOR.strip())
        return separators + sum(map(self._count, path)) + sum(map(self._count, others))

    def _count(self, text: str) -> int:
        if text not in self._costs:
            self._costs[text] = self._tokenizer.counts([text])[0]
        return self._costs[text]


@dataclass(frozen=True)
class Shedding:
    """The order in which context gives way."""

    spans: tuple[ContextSpan, ...]

    @cached_property
    def order(self) -> list[int]:
        """Indexes into ``spans``: title, outer headings, caption, lead-in, and last what was
        reserved for."""
        rank = ("title", "heading", "caption", "lead_in", "signature", "table_header")
        return sorted(range(len(self.spans)), key=lambda index: rank.index(self.spans[index].role))

    def after(self, count: int) -> tuple[tuple[ContextSpan, ...], tuple[ContextSpan, ...]]:
        """What is kept and what is shed once ``count`` spans have given way."""
        gone = set(self.order[:count])
        kept = tuple(span for index, span in enumerate(self.spans) if index not in gone)
        return kept, tuple(self.spans[index] for index in self.order[:count])


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    shared = min(len(one), len(other))
    end = bisect_left(range(shared), 1, key=lambda index: int(one[index] != other[index]))
    return one[:end]
