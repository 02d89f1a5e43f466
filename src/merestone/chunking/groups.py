"""Strategies that count: so many sentences or records in a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import ClassVar

from merestone.chunking.assembly import Assembly
from merestone.chunking.atoms import Atom, outline
from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.limits import check_settings
from merestone.chunking.packing import Packer, Range
from merestone.chunking.structure import edge_prices, packer_of
from merestone.types import ChunkingSettings, Cutting, Document, Embedder, Tokenizer


class SentencesChunker:
    """``group`` sentences in each chunk; without ``group`` as many as come near the target.

    Rows, list items and lines of code count as sentences. A heading begins a new chunk, and
    limits win over the count.
    """

    name: ClassVar[str] = "sentences"
    revision: ClassVar[int] = 2

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        check_settings(settings, tokenizer)
        # Between two sentences nothing is torn here: every cut is one that was asked for.
        settings = replace(settings, torn_overlap_tokens=0)
        assembly = Assembly(outline(document, in_sentences=True), settings, tokenizer)
        packer = packer_of(assembly, edge_prices(assembly))
        ranges = _grouped(assembly, packer, _sentences(assembly), settings.group)
        return assembly.cutting(ranges, chunking_fingerprint(self, settings, tokenizer))


class RecordsChunker:
    """``group`` records in each chunk, with the header of their table as context; without
    ``group`` as many as come near the target.

    Text that is no record, and records over a limit, are cut as ``structure`` would.
    """

    name: ClassVar[str] = "records"
    revision: ClassVar[int] = 2

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        check_settings(settings, tokenizer)
        assembly = Assembly(outline(document), settings, tokenizer)
        packer = packer_of(assembly, edge_prices(assembly))
        if settings.group is None:
            ranges = packer.pack(assembly.root)
        else:
            ranges = _record_ranges(assembly, packer, settings.group)
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


def _record_ranges(assembly: Assembly, packer: Packer, group: int) -> list[Range]:
    """Groups of records, and what stands between them as ``structure`` would cut it; headings just
    before a record go with it."""
    is_record = [_is_of_record(assembly, atom) for atom in assembly.atoms]
    found: list[Range] = []
    start = 0
    for same, run in groupby(range(len(is_record)), is_record.__getitem__):
        last = max(run) + 1
        if same:
            found += _grouped(assembly, packer, _records(assembly, start, last), group)
            start = last
        else:
            first, start = start, last
            if last < len(is_record):
                while start > first and assembly.atoms[start - 1].heading is not None:
                    start -= 1
            found += packer.tile(first, start)
    return found


def _is_of_record(assembly: Assembly, atom: Atom) -> bool:
    blocks = assembly.document.blocks
    return any(
        blocks[index].kind in ("record", "table_row", "table")
        for index in assembly.outline.ancestors(atom.block)
    )


def _records(assembly: Assembly, first: int, last: int) -> list[tuple[Range, bool]]:
    """The records of atoms ``[first, last)``, each with what is a part of it; the header of a table
    and the headings above go with the first. A table begins a new chunk."""
    atoms = assembly.atoms
    starts = [first]
    for index in range(first + 1, last):
        begins = atoms[index].edge.reason in ("record", "table_row", "block")
        if begins and not _is_header(assembly, atoms[index - 1]):
            starts.append(index)
    ends = [*starts[1:], last]
    opens = [atoms[index].edge.reason == "block" for index in starts]
    return list(zip(zip(starts, ends, strict=True), opens, strict=True))


def _is_header(assembly: Assembly, atom: Atom) -> bool:
    if atom.heading is not None:
        return True
    return atom.block is not None and bool(
        assembly.document.blocks[atom.block].attributes.get("header")
    )


def _grouped(
    assembly: Assembly, packer: Packer, items: Sequence[tuple[Range, bool]], group: int | None
) -> list[Range]:
    """Up to ``group`` neighbouring items together, as far as the limits allow; without ``group``
    up to the target. An item over the limits is cut as ``structure`` would."""
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
