"""Strategies that count: so many sentences or records in a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from merestone.chunking.assembly import Assembly
from merestone.chunking.atoms import outline
from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.limits import check_settings
from merestone.chunking.packing import Range
from merestone.chunking.structure import edge_prices, pack, packer_of
from merestone.types import ChunkingSettings, Cutting, Document, Embedder, Tokenizer


class SentencesChunker:
    """``group`` sentences in each chunk; without ``group`` as many as come near the target.

    Rows, list items and lines of code count as sentences. A heading begins a new chunk, and
    limits win over the count.
    """

    name: ClassVar[str] = "sentences"
    revision: ClassVar[int] = 1

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        check_settings(settings, tokenizer)
        assembly = Assembly(outline(document, in_sentences=True), settings, tokenizer)
        config = chunking_fingerprint(self, settings, tokenizer)
        return assembly.cutting(_grouped(assembly, _sentences(assembly), settings.group), config)


class RecordsChunker:
    """``group`` records in each chunk, with the header of their table as context; without
    ``group`` as many as come near the target.

    Text that is no record, and records over a limit, are cut as ``structure`` would.
    """

    name: ClassVar[str] = "records"
    revision: ClassVar[int] = 1

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        check_settings(settings, tokenizer)
        assembly = Assembly(outline(document), settings, tokenizer)
        if settings.group is None:
            ranges = pack(assembly, edge_prices(assembly))
        else:
            ranges = _grouped(assembly, _records(assembly), settings.group)
        return assembly.cutting(ranges, chunking_fingerprint(self, settings, tokenizer))


SENTENCES = SentencesChunker()
RECORDS = RecordsChunker()


def _sentences(assembly: Assembly) -> list[tuple[Range, bool]]:
    """Each sentence, and whether a chunk must begin with it; headings go with what follows."""
    items: list[tuple[Range, bool]] = []
    first = 0
    for index, atom in enumerate(assembly.atoms):
        if atom.heading is None or index + 1 == len(assembly.atoms):
            opens = assembly.atoms[first].heading is not None
            items.append(((first, index + 1), opens))
            first = index + 1
    return items


def _records(assembly: Assembly) -> list[tuple[Range, bool]]:
    """Each record with what stands behind it; the header of a table goes with the first."""
    atoms, blocks = assembly.atoms, assembly.document.blocks
    if not atoms:
        return []
    starts = [
        index
        for index, atom in enumerate(atoms)
        if atom.edge.reason in ("record", "table_row", "document", "block")
        and not _is_below_header(assembly, index)
    ]
    ends = [*starts[1:], len(atoms)]
    opens = [
        (block := atoms[index].block) is None or blocks[block].kind not in ("record", "table_row")
        for index in starts
    ]
    return list(zip(zip(starts, ends, strict=True), opens, strict=True))


def _is_below_header(assembly: Assembly, index: int) -> bool:
    before = assembly.atoms[index - 1].block if index else None
    return before is not None and bool(assembly.document.blocks[before].attributes.get("header"))


def _grouped(
    assembly: Assembly, items: Sequence[tuple[Range, bool]], group: int | None
) -> list[Range]:
    """Up to ``group`` neighbouring items together, as far as the limits allow; without ``group``
    up to the target. An item over the limits is cut as ``structure`` would."""
    packer = packer_of(assembly, edge_prices(assembly))
    target = assembly.settings.target_tokens
    found: list[Range] = []
    count = 0
    for (first, last), opens in items:
        start = found[-1][0] if found else first
        if (
            found
            and not opens
            and (group is None or count < group)
            and (group is not None or assembly.sizes.tokens(start, last) <= target)
            and packer.fits(start, last)
        ):
            found[-1] = (start, last)
            count += 1
        elif last - first == 1 or packer.fits(first, last):
            found.append((first, last))
            count = 1
        else:
            found += packer.segment([(index, index + 1) for index in range(first, last)])
            count = 1
    return found
