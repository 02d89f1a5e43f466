"""The strategy ``structure``: headings, blocks, tables and lists decide where to cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import ClassVar

from merestone.chunking import boundaries
from merestone.chunking.atoms import Atom, outline, structure_around
from merestone.chunking.context import Reconnection, Shedding
from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.finishing import Piece, clip_units, finish, trim
from merestone.chunking.limits import check_settings
from merestone.chunking.packing import Limits, Packer, Range
from merestone.chunking.render import flat, render_parts
from merestone.chunking.sections import section_tree
from merestone.chunking.sizes import Sizes
from merestone.chunking.splitting import split_oversize
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
)


class StructureChunker:
    """Keeps sections, blocks, rows and sentences whole where they fit, and gives what had to be
    parted its headings, lead-in and table header back as context."""

    name: ClassVar[str] = "structure"
    revision: ClassVar[int] = 1

    def cut(self, document: Document, settings: ChunkingSettings, tokenizer: Tokenizer) -> Cutting:
        check_settings(settings, tokenizer)
        return _Cut(document, settings, tokenizer).run()


CHUNKER = StructureChunker()


class _Cut:
    """One document being cut."""

    def __init__(
        self, document: Document, settings: ChunkingSettings, tokenizer: Tokenizer
    ) -> None:
        self.document = document
        self.settings = settings
        self.tokenizer = tokenizer
        self.outline = outline(document)
        self.room = settings.max_tokens - tokenizer.special_tokens
        reconnection = Reconnection(self.outline, (), tokenizer)
        self.outline.atoms, counts = split_oversize(
            document.text,
            self.outline.atoms,
            tokenizer,
            settings.max_chars,
            lambda atom: self.room - self._header_room(reconnection, atom),
        )
        self.sizes = Sizes(document.text, self.outline.atoms, counts, tokenizer)
        self.root, self.of_atom = section_tree(self.outline)
        self.reconnection = Reconnection(self.outline, self.of_atom, tokenizer)

    def run(self) -> Cutting:
        if not self.outline.atoms:
            return Cutting((), ())
        ranges = self._packed()
        kept, dropped = self._sort_out(ranges)
        pieces = [self._piece(first, last, overlap) for first, last, overlap in kept]
        config = chunking_fingerprint(CHUNKER, self.settings, self.tokenizer)
        return Cutting(finish(self.document, pieces, config), tuple(dropped))

    def _header_room(self, reconnection: Reconnection, atom: Atom) -> int:
        """Tokens that a piece beginning at ``atom`` keeps free; none for a header that would
        take more than half."""
        cost = reconnection.cost(reconnection.reserved(atom))
        return cost if cost <= self.room // 2 else 0

    def _packed(self) -> list[Range]:
        atoms, settings = self.outline.atoms, self.settings
        reserves = [self._header_room(self.reconnection, atom) for atom in atoms]
        limits = Limits(
            tokens=self.room - settings.overlap_tokens,
            chars=settings.max_chars - settings.overlap_chars,
            target=min(settings.target_tokens, self.room),
            minimum=settings.min_tokens,
            reserve=reserves.__getitem__,
        )
        prices = [boundaries.price(atom.edge) for atom in atoms]
        packer = Packer(self.sizes, prices, limits)
        for at, surcharge in self._surcharges(packer):
            prices[at] += surcharge
        ranges = packer.pack(self.root)
        return [part for first, last in ranges for part in self._held(first, last, reserves)]

    def _held(self, first: int, last: int, reserves: Sequence[int]) -> list[Range]:
        """The range, or its halves where sums of counts said too little."""
        done: list[Range] = []
        pending = [(first, last)]
        while pending:
            first, last = pending.pop()
            if (
                last - first == 1
                or self.sizes.is_exact(first, last)
                or self._own_tokens(first, last) <= self.room - reserves[first]
            ):
                done.append((first, last))
            else:
                middle = (first + last) // 2
                pending += [(middle, last), (first, middle)]
        return done

    def _surcharges(self, packer: Packer) -> list[tuple[int, float]]:
        """(atom, price) for each boundary at which a cut would tear something."""
        atoms, blocks = self.outline.atoms, self.document.blocks
        starts = [atom.start for atom in atoms]
        ends = [atom.end for atom in atoms]
        found: list[tuple[int, float]] = []
        for index, atom in enumerate(atoms[:-1]):
            if atom.heading is not None:
                found.append((index + 1, boundaries.HEADING_SURCHARGE))
        for block in blocks:
            first, last = bisect_right(ends, block.start), bisect_left(starts, block.end)
            if last - first > 1 and block.kind != "heading":
                surcharge = boundaries.whole_surcharge(block.kind)
                if surcharge and packer.fits(first, last):
                    found.extend((at, surcharge) for at in range(first + 1, last))
                for key in ("term", "header"):
                    span = block.attributes.get(key)
                    if isinstance(span, list | tuple) and block.kind != "table_row":
                        at = bisect_left(starts, span[1], first, last)
                        if first < at < last:
                            found.append((at, boundaries.TERM_SURCHARGE))
            lead_in = block.attributes.get("lead_in")
            if lead_in and first and atoms[first - 1].start < lead_in[1]:
                found.append((first, boundaries.LEAD_IN_SURCHARGE))
        return found

    def _sort_out(
        self, ranges: Sequence[Range]
    ) -> tuple[list[tuple[int, int, int]], list[Dropped]]:
        """Ranges to keep, each with the first atom of its overlap; and what carries nothing."""
        kept: list[tuple[int, int, int]] = []
        dropped: list[Dropped] = []
        atoms, text = self.outline.atoms, self.document.text
        for first, last in ranges:
            start, end = trim(text, atoms[first].start, atoms[last - 1].end)
            small = self.sizes.tokens(first, last) < self.settings.min_tokens
            if small and not any(map(str.isalnum, text[start:end])):
                dropped.append(Dropped(start, end, "no letters or digits"))
                continue
            # A piece never repeats the whole of the one before.
            floor = kept[-1][0] + 1 if kept else first
            kept.append((first, last, self._overlap(first, last, floor)))
        return kept, dropped

    def _overlap(self, first: int, last: int, floor: int) -> int:
        """First of the atoms from ``floor`` on that the piece ``[first, last)`` repeats."""
        settings, at = self.settings, first
        if not settings.overlap_tokens and not settings.overlap_chars:
            return first
        allowed_tokens = settings.overlap_tokens or self.room
        allowed_chars = settings.overlap_chars or settings.max_chars
        while (
            at > floor
            and self.sizes.tokens(at - 1, first) <= allowed_tokens
            and self.sizes.chars(at - 1, first) <= allowed_chars
            and self.sizes.chars(at - 1, last) <= settings.max_chars
            and self._own_tokens(at - 1, last) <= self.room
        ):
            at -= 1
        return at

    def _piece(self, first: int, last: int, overlap: int) -> Piece:
        atoms = self.outline.atoms
        start, end = trim(self.document.text, atoms[overlap].start, atoms[last - 1].end)
        own = self._own_tokens(overlap, last)
        context, shed, tokens = self._fitted(
            self.reconnection.needed(overlap, last), own, start, end
        )
        path = self.reconnection.heading_path(overlap, last)
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
            units=clip_units(self._units(overlap, last), start, end),
            attributes=attributes,
        )

    def _own_tokens(self, first: int, last: int) -> int:
        if self.sizes.is_exact(first, last):
            return self.sizes.tokens(first, last)
        atoms = self.outline.atoms
        start, end = trim(self.document.text, atoms[first].start, atoms[last - 1].end)
        return self.tokenizer.counts([self.document.text[start:end]])[0]

    def _fitted(
        self, spans: Sequence[ContextSpan], own: int, start: int, end: int
    ) -> tuple[tuple[ContextSpan, ...], tuple[ContextSpan, ...], int]:
        """Context that fits beside the text, what was shed, and the tokens of all together."""
        shedding = Shedding(tuple(spans))
        count = 0
        while True:
            kept, shed = shedding.after(count)
            tokens = self._input_tokens(kept, own, start, end)
            if tokens <= self.settings.max_tokens or count == len(shedding.spans):
                return kept, shed, tokens
            count += 1

    def _input_tokens(self, context: Sequence[ContextSpan], own: int, start: int, end: int) -> int:
        special = self.tokenizer.special_tokens
        if not context or self.tokenizer.adds_up:
            return special + self.reconnection.cost(context) + own
        rendered = render_parts(context, self.document.text[start:end])
        return special + self.tokenizer.counts([rendered])[0]

    def _heading_text(self, index: int) -> str:
        return flat(self.reconnection.heading(index).text)

    def _units(self, first: int, last: int) -> list[Unit]:
        atoms = self.outline.atoms
        units = []
        for index in range(first, last):
            section = self.of_atom[index]
            around = (atoms[section.first].start, atoms[section.last - 1].end)
            atom = atoms[index]
            units.append(
                Unit(atom.start, atom.end, atom.kind, *structure_around(self.outline, atom, around))
            )
        return units

    def _description(self, first: int, last: int) -> tuple[str, dict[str, JSON]]:
        """Kind of the blocks of the piece, ``text`` where there are several; and the attributes
        of the one block that it is made of, if it is one."""
        blocks = self.document.blocks
        tops: dict[int, None] = {}
        for atom in self.outline.atoms[first:last]:
            if atom.heading is None and atom.block is not None:
                *_, top = self.outline.ancestors(atom.block)
                tops[top] = None
        if not tops:
            return ("heading" if self.outline.atoms[first].heading is not None else "text"), {}
        kinds = {blocks[index].kind for index in tops}
        if len(kinds) > 1:
            return "text", {}
        attributes: dict[str, JSON] = {}
        if len(tops) == 1:
            given = blocks[next(iter(tops))].attributes
            attributes = {key: given[key] for key in ("language", "ordered") if key in given}
        return kinds.pop(), attributes
