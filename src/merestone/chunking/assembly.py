"""One document being cut: from its atoms to the pieces that a strategy chose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from merestone.chunking import boundaries
from merestone.chunking.atoms import Atom, Outline, parts_of
from merestone.chunking.context import Reconnection, after_shedding, heading_path
from merestone.chunking.finishing import Piece, clip_units, finish, says_something, trim
from merestone.chunking.packing import Range
from merestone.chunking.render import flat, render_parts
from merestone.chunking.sections import Section, section_tree
from merestone.chunking.sizes import Sizes
from merestone.chunking.splitting import split_oversize
from merestone.chunking.structures import Structures
from merestone.types import (
    JSON,
    ChunkingSettings,
    ContextSpan,
    Cutting,
    Document,
    Dropped,
    Edge,
    Tokenizer,
    Unit,
    Units,
)

_SHARED = ("language", "ordered", "key", "speaker", "time")
"""Attributes of a block that a chunk which is a part of it has too."""


class Assembly:
    """Atoms of one document, none over the limits, their sizes, and the chunks that ranges of
    them make."""

    def __init__(self, outlined: Outline, settings: ChunkingSettings, tokenizer: Tokenizer) -> None:
        self.document: Document = outlined.document
        self.settings = settings
        self.tokenizer = tokenizer
        self.outline = outlined
        self.room = settings.max_tokens - tokenizer.special_tokens
        """Tokens for text and context together."""
        self.reconnection = Reconnection(self.document, tokenizer, settings.context)
        counts = split_oversize(outlined, tokenizer, settings.max_chars, self.room, self._reserve)
        self.atoms = outlined.atoms
        self.sizes = Sizes(self.document.text, self.atoms, counts, tokenizer)
        self.root, self.of_atom = section_tree(outlined, self.sizes)
        self.reserves = list(map(self._reserve, self.atoms))
        self._structures = Structures(outlined.document)

    def _reserve(self, atom: Atom) -> int:
        """Tokens that a piece beginning at ``atom`` keeps free; none for a header that would
        take more than half."""
        cost = self.reconnection.reserve(atom)
        return cost if cost <= self.room // 2 else 0

    def cutting(self, ranges: Sequence[Range], config: str) -> Cutting:
        """The chunks of ``ranges``, which tile the atoms, and what carries nothing."""
        exact = [part for first, last in ranges for part in self._held(first, last)]
        kept, dropped = self._sort_out(exact)
        pieces = [self._piece(first, last, overlap) for first, last, overlap in kept]
        return Cutting(finish(self.document, pieces, config), tuple(dropped))

    def _held(self, first: int, last: int) -> list[Range]:
        """The range, or its halves where sums of counts said too little."""
        done: list[Range] = []
        pending = [(first, last)]
        while pending:
            first, last = pending.pop()
            if (
                last - first == 1
                or self.sizes.is_exact(first, last)
                or self._own_tokens(first, last) <= self.room - self.reserves[first]
            ):
                done.append((first, last))
            else:
                middle = (first + last) // 2
                pending += [(middle, last), (first, middle)]
        return done

    def _sort_out(
        self, ranges: Sequence[Range]
    ) -> tuple[list[tuple[int, int, int]], list[Dropped]]:
        """Ranges to keep, each with the first atom of its overlap; and what carries nothing."""
        kept: list[tuple[int, int, int]] = []
        dropped: list[Dropped] = []
        text, sizes = self.document.text, self.sizes
        for first, last in ranges:
            start, end = trim(text, sizes.starts[first], sizes.ends[last - 1])
            # Of ASCII it says nothing however much there is; of other scripts we know less.
            is_little = sizes.tokens(first, last) < self.settings.min_tokens
            piece = text[start:end]
            if (is_little or piece.isascii()) and not says_something(piece):
                dropped.append(Dropped(start, end, "no letters or digits"))
                continue
            # A piece never repeats the whole of the one before.
            floor = kept[-1][0] + 1 if kept else first
            kept.append((first, last, self._overlap(first, last, floor)))
        return kept, dropped

    def _overlap(self, first: int, last: int, floor: int) -> int:
        """First of the atoms from ``floor`` on that the piece ``[first, last)`` repeats."""
        settings, sizes, at = self.settings, self.sizes, first
        if settings.overlap_tokens or settings.overlap_chars:
            most = first - floor
            allowed_tokens = settings.overlap_tokens or self.room
            allowed_chars = settings.overlap_chars or settings.max_chars
        elif settings.torn_overlap_tokens and self._is_torn(first):
            most = 1
            allowed_tokens = settings.torn_overlap_tokens
            allowed_chars = settings.max_chars
        else:
            return first
        while (
            at > max(floor, first - most)
            and sizes.tokens(at - 1, first) <= allowed_tokens
            and sizes.chars(at - 1, first) <= allowed_chars
            and sizes.chars(at - 1, last) <= settings.max_chars
            and self._own_tokens(at - 1, last) <= self.room
        ):
            at -= 1
        return at

    def _is_torn(self, at: int) -> bool:
        """True if a cut before atom ``at`` parts two sentences of one paragraph or item."""
        atoms = self.atoms
        return (
            atoms[at].edge.strength <= boundaries.SENTENCE.strength
            and atoms[at].kind in ("sentence", "list_item")
            and atoms[at - 1].heading is None
        )

    def _piece(self, first: int, last: int, overlap: int) -> Piece:
        atoms, sizes = self.atoms, self.sizes
        start, end = trim(self.document.text, sizes.starts[overlap], sizes.ends[last - 1])
        path = heading_path(self.outline, self.of_atom, overlap, last)
        spans = self.reconnection.needed(path, atoms[overlap], end)
        context, shed, tokens = self._fitted(spans, self._own_tokens(overlap, last), start, end)
        kind, attributes = self._description(overlap, last)
        return Piece(
            start=start,
            end=end,
            tokens=tokens,
            kind=kind,
            boundary_start=Edge("overlap", 0.0) if overlap < first else atoms[first].edge,
            boundary_end=atoms[last].edge if last < len(atoms) else boundaries.DOCUMENT,
            heading_path=tuple(self._heading_text(index) for index in path),
            context=context,
            shed=shed,
            units=Units(lambda: clip_units(self._units(overlap, last), start, end)),
            attributes=attributes,
        )

    def _own_tokens(self, first: int, last: int) -> int:
        if self.sizes.is_exact(first, last):
            return self.sizes.tokens(first, last)
        sizes = self.sizes
        start, end = trim(self.document.text, sizes.starts[first], sizes.ends[last - 1])
        return self.tokenizer.counts([self.document.text[start:end]])[0]

    def _fitted(
        self, spans: Sequence[ContextSpan], own: int, start: int, end: int
    ) -> tuple[tuple[ContextSpan, ...], tuple[ContextSpan, ...], int]:
        """Context that fits beside the text, what was shed, and the tokens of all together."""
        if not spans:
            return (), (), own + self.tokenizer.special_tokens
        for count in range(len(spans) + 1):
            kept, shed = after_shedding(spans, count)
            tokens = self._input_tokens(kept, own, start, end)
            if tokens <= self.settings.max_tokens:
                break
        return kept, shed, tokens

    def _input_tokens(self, context: Sequence[ContextSpan], own: int, start: int, end: int) -> int:
        special = self.tokenizer.special_tokens
        if not context or self.tokenizer.adds_up:
            return special + self.reconnection.cost(context) + own
        rendered = render_parts(context, self.document.text[start:end])
        return special + self.tokenizer.counts([rendered])[0]

    def _heading_text(self, index: int) -> str:
        return flat(self.reconnection.heading(index).text)

    def _units(self, first: int, last: int) -> list[Unit]:
        units = []
        section: Section | None = None
        around = ("section", 0, 0)
        for index in range(first, last):
            if self.of_atom[index] is not section:
                section = self.of_atom[index]
                ends = (self.sizes.starts[section.first], self.sizes.ends[section.last - 1])
                around = ("section", *ends)
            atom = self.atoms[index]
            structure = self._structures.of(atom.block) or around
            units += [
                Unit(part.start, part.end, part.kind, *structure)
                for part in parts_of(self.outline, atom)
            ]
        return units

    @cached_property
    def _tops(self) -> list[int]:
        """For each block the index of the block at the top level around it."""
        tops: list[int] = []
        for index, block in enumerate(self.document.blocks):
            tops.append(index if block.parent is None else tops[block.parent])
        return tops

    def _description(self, first: int, last: int) -> tuple[str, dict[str, JSON]]:
        """Kind of the blocks of the piece, ``text`` where there are several; and the attributes
        of the one block that it is made of, if it is one."""
        blocks = self.document.blocks
        inner = sorted(
            {
                atom.block
                for atom in self.atoms[first:last]
                if atom.heading is None and atom.block is not None
            }
        )
        tops = {self._tops[index] for index in inner}
        if not tops:
            return ("heading" if self.atoms[first].heading is not None else "text"), {}
        kinds = {blocks[index].kind for index in tops}
        attributes = self._structures.symbols(inner)
        for indexes in (tops, inner):
            if len(indexes) == 1:
                given = blocks[next(iter(indexes))].attributes
                attributes |= {key: given[key] for key in _SHARED if key in given}
        return (kinds.pop() if len(kinds) == 1 else "text"), attributes
