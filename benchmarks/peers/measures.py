"""What is measured of one tool on one sample."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from peers.forks import cpu_seconds, peak_bytes
from peers.oracle import Outline, solid
from peers.samples import Sample
from peers.tools import Cutter, Piece
from peers.units import Unit

MEMORY_BYTES = 1_000_000
"""Size of the one text whose peak of memory is measured."""
_SEARCHED = 50_000
"""Solid characters behind the last chunk within which the next is looked for."""

Make = Callable[[], Cutter]
Range = tuple[int, int]


@dataclass
class Quality:
    """Counts over the chunks of a sample."""

    chunks: int = 0
    over: int = 0
    """Chunks over the limit as the tool promises it."""
    over_model: int = 0
    """Chunks that a model of that limit cuts off: special tokens counted."""
    largest: int = 0
    """Size of the largest chunk, special tokens counted where the tool promises them."""
    placed: int = 0
    """Chunks whose reported range of the text is the chunk."""
    backwards: int = 0
    """Chunks that are reported to begin before the one before them."""
    characters: int = 0
    """Solid characters of the texts."""
    covered: int = 0
    """Those of them that are in a chunk."""
    cuts: int = 0
    inside_graphemes: int = 0
    fitting: dict[str, int] = field(default_factory=dict)
    """By kind: blocks that would fit in a chunk."""
    broken: dict[str, int] = field(default_factory=dict)
    """By kind: those of them that are cut."""
    headings: int = 0
    orphans: int = 0
    """Headings at a chunk's end with their text in the next."""
    continued: int = 0
    """Chunks that begin below the header of a table."""
    with_header: int = 0
    """Those of them that are shown with the header."""
    example: dict[str, str] = field(default_factory=dict)
    """By fault: the first text that shows it, shortened."""

    def note(self, fault: str, text: str) -> None:
        self.example.setdefault(fault, text[:80])


def memory(make: Make, sample: Sample, read: bool) -> float:
    """Peak of memory while one text is cut, in bytes of the text. ``read``: preparing counts."""
    text = sample.joined(MEMORY_BYTES)
    cutter = make()
    small = text[:2000]
    cutter.cut(cutter.prepare(small))
    if read:
        peak = peak_bytes(lambda: cutter.cut(cutter.prepare(text)))
    else:
        prepared = cutter.prepare(text)
        peak = peak_bytes(lambda: cutter.cut(prepared))
    return peak / len(text.encode())


def figures(
    make: Make, sample: Sample, outlines: Sequence[Outline], unit: Unit, seconds: float, reads: bool
) -> dict[str, Any]:
    """Speed, quality and churn of a tool on a sample."""
    cutter = make()
    cutter.cut(cutter.prepare(sample.texts[0][:2000]))
    prepared = [cutter.prepare(text) for text in sample.texts]
    runs, found = _timed(make, prepared, seconds)
    answer: dict[str, Any] = {"cut_s": min(runs), "runs": len(runs)}
    if reads:
        answer["read_s"] = min(
            cpu_seconds(lambda: [cutter.prepare(text) for text in sample.texts])
            for _ in range(min(3, len(runs)))
        )
    pieces = [cutter.pieces(raw) for raw in found]
    answer["quality"] = asdict(quality(sample.texts, pieces, outlines, unit, cutter.special))
    if sample.edited:
        answer["churn"] = churn(make(), sample)
    return answer


def _timed(make: Make, prepared: Sequence[Any], seconds: float) -> tuple[list[float], list[Any]]:
    """CPU seconds of up to five runs over everything, within about ``seconds``, and what the last
    run gave. A cutter may remember what it counted, so each run has a new one."""
    runs: list[float] = []
    found: list[Any] = []
    deadline = time.monotonic() + seconds
    while not runs or (len(runs) < 5 and time.monotonic() < deadline):
        cut = make().cut
        found.clear()
        runs.append(cpu_seconds(lambda cut=cut: found.extend(map(cut, prepared))))
    return runs, found


def quality(
    texts: Sequence[str],
    pieces: Sequence[Sequence[Piece]],
    outlines: Sequence[Outline],
    unit: Unit,
    special: bool,
) -> Quality:
    """Faults of the chunks of each text, by oracles that no tool uses."""
    total = Quality()
    for text, cut, outline in zip(texts, pieces, outlines, strict=True):
        _add_positions(total, text, cut)
        found = solid_ranges(text, outline, cut)
        ranges = [(start, end) for start, end, _ in found]
        _add_cover(total, outline, ranges)
        _add_blocks(total, outline, ranges, unit)
        _add_tables(total, outline, found)
    _add_sizes(total, [piece.shown for cut in pieces for piece in cut], unit, special)
    return total


def solid_ranges(
    text: str, outline: Outline, pieces: Sequence[Piece]
) -> list[tuple[int, int, Piece]]:
    """Each piece that is found and where it lies, in solid offsets, in order.

    What the tool reports is taken where the text has the piece there and it joins or overlaps the
    piece before. Else the piece is looked for behind the one before; one that is blank, or that
    the text does not hold there, has no range.
    """
    found: list[tuple[int, int, Piece]] = []
    before = at = 0
    for piece in pieces:
        own = solid(piece.text)
        if not own:
            continue
        start = _reported(text, outline, piece)
        if not before <= start <= at:
            start = outline.solid.find(own, at, at + len(own) + _SEARCHED)
        if start >= 0:
            before, at = start, max(at, start + len(own))
            found.append((start, start + len(own), piece))
    return found


def _reported(text: str, outline: Outline, piece: Piece) -> int:
    """The solid offset at which the tool says the piece begins; -1 if it is not there."""
    start, end = piece.start, piece.end
    if start is None or end is None or start < 0 or text[start:end] != piece.text:
        return -1
    return int(outline.places[start])


def _add_positions(total: Quality, text: str, pieces: Sequence[Piece]) -> None:
    before = 0
    for piece in pieces:
        start, end = piece.start, piece.end
        if start is None or end is None or start < 0:
            total.note("position", piece.text)
            continue
        if text[start:end] == piece.text:
            total.placed += 1
        else:
            total.note("position", piece.text)
        total.backwards += start < before
        before = start


def _add_sizes(total: Quality, shown: Sequence[str], unit: Unit, special: bool) -> None:
    total.chunks = len(shown)
    for text, size in zip(shown, unit.counts(shown), strict=True):
        own = size + (unit.special if special else 0)
        total.largest = max(total.largest, own)
        total.over_model += size + unit.special > unit.limit
        if own > unit.limit:
            total.over += 1
            total.note("over", text)


def _add_cover(total: Quality, outline: Outline, ranges: Sequence[Range]) -> None:
    end_of_text = len(outline.solid)
    total.characters += end_of_text
    at = 0
    for start, end in [*ranges, (end_of_text, end_of_text)]:
        if start > at:
            total.note("lost", outline.solid[at:start])
        total.covered += max(0, end - max(start, at))
        at = max(at, end)
    for cut in {offset for item in ranges for offset in item} - {0, end_of_text}:
        total.cuts += 1
        if outline.is_inside_grapheme(cut):
            total.inside_graphemes += 1
            total.note("grapheme", outline.solid[max(0, cut - 20) : cut + 20])


def _add_blocks(total: Quality, outline: Outline, ranges: Sequence[Range], unit: Unit) -> None:
    starts = [start for start, _ in ranges]

    def last_beginning(at: int) -> Range:
        """The last of the chunks that begin at or before ``at``: it reaches furthest of them."""
        index = bisect_right(starts, at) - 1
        return ranges[index] if index >= 0 else (0, 0)

    for part in outline.parts:
        if part.kind == "heading" or not part.fits[unit.name]:
            continue
        total.fitting[part.kind] = total.fitting.get(part.kind, 0) + 1
        if last_beginning(part.start)[1] < part.end:
            total.broken[part.kind] = total.broken.get(part.kind, 0) + 1
            total.note(f"broken {part.kind}", part.text)
    total.headings += len(outline.headings)
    for end in outline.headings:
        # With overlap the heading may stand in the next chunk again, before its text.
        if last_beginning(end - 1)[1] == end:
            total.orphans += 1
            total.note("orphan", outline.solid[max(0, end - 60) : end])


def _add_tables(total: Quality, outline: Outline, found: Sequence[tuple[int, int, Piece]]) -> None:
    starts = [start for start, _, _ in found]
    for table in outline.tables:
        first = bisect_left(starts, table.header_end)
        for _, _, piece in found[first : bisect_left(starts, table.end)]:
            total.continued += 1
            if table.header in solid(piece.shown):
                total.with_header += 1
            else:
                total.note("no header", piece.shown)


def churn(cutter: Cutter, sample: Sample) -> dict[str, float]:
    """New chunks and new embedder inputs when a paragraph is put at the top, a document each."""
    chunks = texts = inputs = 0
    for before, after in sample.edited:
        old = cutter.pieces(cutter.cut(cutter.prepare(before)))
        new = cutter.pieces(cutter.cut(cutter.prepare(after)))
        chunks += len(new)
        texts += _new([piece.text for piece in old], [piece.text for piece in new])
        inputs += _new([piece.shown for piece in old], [piece.shown for piece in new])
    count = len(sample.edited)
    return {"texts": texts / count, "inputs": inputs / count, "share": texts / max(1, chunks)}


def _new(old: Sequence[str], new: Sequence[str]) -> int:
    return (Counter(new) - Counter(old)).total()
