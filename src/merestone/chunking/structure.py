"""The strategy ``structure``: headings, blocks, tables and lists decide where to cut."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import ClassVar

from merestone.chunking import boundaries
from merestone.chunking.assembly import Assembly
from merestone.chunking.atoms import outline
from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.limits import check_settings
from merestone.chunking.meaning import with_meaning
from merestone.chunking.packing import Limits, Packer
from merestone.types import ChunkingSettings, Cutting, Document, Embedder, Tokenizer

_LOOK = 80
"""Code points looked at before a boundary. Keeps the cost linear."""
_LINES_OF_TITLE = 4
"""Lines between a heading and the next among which no sentence is looked for."""


class StructureChunker:
    """Keeps sections, blocks, rows and sentences whole where they fit, and gives what had to be
    parted its headings, lead-in, signature and table header back as context."""

    name: ClassVar[str] = "structure"
    revision: ClassVar[int] = 3

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        check_settings(settings, tokenizer)
        # Overlap repeats sentences and lines, and meaning is theirs: elsewhere blocks do.
        fine = bool(settings.semantic_weight or settings.overlap_tokens or settings.overlap_chars)
        assembly = Assembly(outline(document, in_sentences=fine), settings, tokenizer)
        prices = edge_prices(assembly)
        if settings.semantic_weight:
            prices = with_meaning(assembly, prices, embedder, settings.semantic_weight)
        config = chunking_fingerprint(self, settings, tokenizer, embedder)
        ranges = packer_of(assembly, prices).pack(assembly.root)
        return assembly.cutting(ranges, config)


CHUNKER = StructureChunker()


def edge_prices(assembly: Assembly) -> list[float]:
    """The price of a cut before each atom, as its boundary alone makes it."""
    return [boundaries.price(atom.edge) for atom in assembly.atoms]


def packer_of(assembly: Assembly, prices: Sequence[float]) -> Packer:
    """The packer of a document, with the prices of what a cut would part from its explanation."""
    settings = assembly.settings
    limits = Limits(
        tokens=assembly.room - settings.overlap_tokens,
        chars=settings.max_chars - settings.overlap_chars,
        target=max(1, min(settings.target_tokens, assembly.room - settings.overlap_tokens)),
        minimum=settings.min_tokens,
    )
    raised = list(prices)
    for at, surcharge in _surcharges(assembly).items():
        raised[at] += surcharge
    return Packer(assembly.outline, assembly.sizes, raised, assembly.reserves, limits)


def _surcharges(assembly: Assembly) -> dict[int, float]:
    """By atom the price of a cut before it that would part what explains from what it explains."""
    atoms, text = assembly.atoms, assembly.document.text
    found: dict[int, float] = {}
    for at in range(1, len(atoms)):
        atom, before = atoms[at], atoms[at - 1]
        if atom.heading is not None and _is_title_page(assembly, at):
            found[at] = boundaries.LEAD_IN_SURCHARGE
        if before.heading is not None:
            found[at] = boundaries.HEADING_SURCHARGE
        elif atom.edge is boundaries.BROKEN_SENTENCE:
            found[at] = boundaries.BROKEN_SENTENCE_SURCHARGE
        elif atom.block != before.block:
            ahead = text[max(before.start, before.end - _LOOK) : before.end].rstrip()
            if ahead.endswith((":", "：", "–", "—")):
                found[at] = boundaries.LEAD_IN_SURCHARGE
    for at, surcharge in _surcharges_of_blocks(assembly):
        found[at] = max(surcharge, found.get(at, 0.0))
    return found


def _is_title_page(assembly: Assembly, at: int) -> bool:
    """True if between the heading before atom ``at`` and ``at`` there is something, but no
    sentence: then the heading is over what follows, as that of a statement over "Assets" is."""
    first = at - 1
    while first >= 0 and at - first <= _LINES_OF_TITLE and assembly.atoms[first].heading is None:
        atom = assembly.atoms[first]
        line = assembly.document.text[atom.start : min(atom.end, atom.start + _LOOK)].rstrip()
        if atom.kind != "sentence" or atom.end - atom.start > _LOOK or line[-1:] in ".!?;。！？":
            return False
        first -= 1
    return 0 <= first < at - 1 and assembly.atoms[first].heading is not None


def _surcharges_of_blocks(assembly: Assembly) -> Iterator[tuple[int, float]]:
    starts = assembly.sizes.starts
    for block in assembly.document.blocks:
        if not block.attributes or block.kind in ("heading", "table_row"):
            continue
        first, last = assembly.sizes.within(block.start, block.end)
        for key in ("term", "header"):
            span = block.attributes.get(key)
            if isinstance(span, list | tuple):
                at = bisect_left(starts, span[1], first, last)
                if first < at < last:
                    yield at, boundaries.TERM_SURCHARGE
        lead_in = block.attributes.get("lead_in")
        if lead_in and 0 < first < len(starts) and starts[first - 1] < lead_in[1]:
            yield first, boundaries.LEAD_IN_SURCHARGE
