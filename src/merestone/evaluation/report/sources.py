"""What a report shows of the documents: the text around the gold and of what was served, each
piece once, and where the chunks begin and end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.ranges import Range, ends_of, merged, widened
from merestone.evaluation.runs.values import QuestionKey, QuestionResult, Run, Served
from merestone.types import Chunk, SettingsError, Snapshot

AROUND = 360
"""Code points of text that are shown on each side of the gold."""
_STRIP = 1200
"""Code points of the document that a strip shows on each side of the gold."""
_APART = 2400
"""Gold that is farther apart than this is drawn on strips of its own."""
_LONGEST_STRIP = 16_000
_LONGEST_GOLD = 2400
_LONGEST_PASSAGES = (1600, 800, 400, 200, 0)
"""How much of a passage is kept; the next one is tried where all together are too much."""
_MOST_TEXT = 2_400_000
"""Code points of all texts together."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A part of a document around gold."""

    document: str
    start: int
    end: int
    length: int
    """Of the document, in code points."""
    cuts: tuple[tuple[Range, ...] | None, ...]
    """By run: the chunks that reach into it; ``None`` where the run's cutting is not at hand."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The texts that a report carries, and the strips of its questions."""

    texts: Mapping[str, tuple[tuple[int, str], ...]]
    """By document: pieces of its text, each with the place where it begins."""
    strips: Mapping[QuestionKey, tuple[Strip, ...]]
    """By question."""
    shortened: bool
    """True if passages had to be cut short so that the page stays small."""


NO_SOURCES = Sources({}, {}, False)


def gather_sources(
    report: Report, snapshot: Snapshot | None, cuttings: Mapping[str, Snapshot]
) -> Sources:
    """Read what the report needs; nothing without a snapshot.

    ``cuttings`` has by run id the library in which that run was made, where it is another one.
    """
    if snapshot is None:
        return NO_SOURCES
    runs = [column.run for column in report.columns]
    reader = _Reader(snapshot)
    wanted, shortened = _wanted(report, reader)
    texts = {
        document: tuple((start, reader.text(document)[start:end]) for start, end in ranges)
        for document, ranges in wanted.items()
    }
    readers = {id(each): _Reader(each) for each in cuttings.values()} | {id(snapshot): reader}
    boards = [_Cutting(run, readers[id(cuttings.get(run.id, snapshot))]) for run in runs]
    strips = {
        row.first.key: tuple(_strips(row.first, reader, boards))
        for row in report.questions
        if row.first is not None
    }
    return Sources(texts, strips, shortened)


def require_readable(runs: Sequence[Run], snapshot: Snapshot) -> None:
    """Raise ``SettingsError`` with code ``owner-only`` if a run names a document that who opened
    ``snapshot`` may not see: its figures are then of more than they may know of."""
    if not snapshot.is_limited:
        return
    known = set(snapshot.document_ids())
    for run in runs:
        if not _documents(run) <= known:
            raise SettingsError(
                "owner-only",
                f"Run {run.id[:12]} holds documents that are gone or that the asker may not read.",
                "Make a run as this asker, or ask as the owner: --as-owner, or as_owner=True.",
            )


def _documents(run: Run) -> set[str]:
    gold = {span.document for result in run.results for span in result.gold}
    return gold | {each.document for result in run.results for each in _passages(result)}


class _Reader:
    """Texts and chunks of documents, each read once; empty where there are none."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._texts: dict[str, str] = {}
        self._chunks: dict[str, list[Chunk]] = {}

    def text(self, document: str) -> str:
        if document not in self._texts:
            self._texts[document] = self._snapshot.text(document) or ""
        return self._texts[document]

    def chunks(self, document: str) -> list[Chunk]:
        if document not in self._chunks:
            self._chunks[document] = self._snapshot.chunks_of(document)
        return self._chunks[document]


def _wanted(report: Report, reader: _Reader) -> tuple[dict[str, list[Range]], bool]:
    """By document, the ranges to keep; and whether passages had to be cut short."""
    results = [result for column in report.columns for result in column.run.results]
    gold = {(span.document, span.start, span.end) for result in results for span in result.gold}
    served = {
        (each.document, each.start, each.end) for result in results for each in _passages(result)
    }
    ranges: dict[str, list[Range]] = {}
    for longest in _LONGEST_PASSAGES:
        ranges = {}
        for document, start, end in gold:
            around = widened((start, end), AROUND, len(reader.text(document)))
            ranges.setdefault(document, []).extend(ends_of(*around, _LONGEST_GOLD))
        for document, start, end in served:
            length = len(reader.text(document))
            kept = ends_of(min(start, length), min(end, length), longest)
            ranges.setdefault(document, []).extend(kept)
        ranges = {document: merged(each) for document, each in sorted(ranges.items())}
        total = sum(end - start for each in ranges.values() for start, end in each)
        if total <= _MOST_TEXT:
            break
    return ranges, longest != _LONGEST_PASSAGES[0]


def _passages(result: QuestionResult) -> Iterator[Served]:
    for served in result.served.values():
        yield from served


class _Cutting:
    """Where a run's chunks begin and end, as far as the library at hand still has them."""

    def __init__(self, run: Run, reader: _Reader) -> None:
        self._reader = reader
        served = {each.document: each for result in run.results for each in _passages(result)}
        self._is_known = all(map(self._holds, served.values()))

    def inside(self, document: str, start: int, end: int) -> tuple[Range, ...] | None:
        """The chunks that reach into the range; ``None`` where they are not known."""
        if not self._is_known:
            return None
        return tuple(
            (chunk.start, chunk.end)
            for chunk in self._reader.chunks(document)
            if chunk.start < end and start < chunk.end
        )

    def _holds(self, passage: Served) -> bool:
        """True if the passage comes from chunks that are there today."""
        by_id = {chunk.id: chunk for chunk in self._reader.chunks(passage.document)}
        return all(chunk in by_id for chunk in passage.chunks)


def _strips(result: QuestionResult, reader: _Reader, boards: Sequence[_Cutting]) -> Iterator[Strip]:
    """The parts of documents that hold gold, in the order of the gold."""
    gold: dict[str, list[Range]] = {}
    for span in result.gold:
        gold.setdefault(span.document, []).append((span.start, span.end))
    for document, spans in gold.items():
        length = len(reader.text(document))
        if not length:
            continue
        for start, end in merged(spans, _APART):
            first, last = widened((start, min(end, start + _LONGEST_STRIP)), _STRIP, length)
            if first >= last:
                continue
            cuts = tuple(board.inside(document, first, last) for board in boards)
            yield Strip(document, first, last, length, cuts)
