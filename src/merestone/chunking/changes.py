"""What became of each chunk between two versions of a document."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from merestone.chunking.passages import Passage, Places
from merestone.text.alignment import align_texts, longest_ascending
from merestone.text.white_space import filled, stripped
from merestone.types import (
    Chunk,
    ChunkChange,
    ChunkOutcome,
    Cutting,
    CuttingChanges,
    Document,
    NewChunk,
    SettingsError,
    SharedRun,
)

_LONG = 40
"""So many letters and digits in a row in both texts are no accident."""


def changes_between(
    old_document: Document,
    old: Cutting | Sequence[Chunk],
    new_document: Document,
    new: Cutting | Sequence[Chunk],
) -> CuttingChanges:
    """Map each chunk of the old version to the new one.

    Ids hash the document's id, so both versions have to be cut under one id; else no chunk is
    the same. An old chunk became those new ones that hold a part of it which belongs to at least
    40 letters and digits in a row in both texts, or half of the letters and digits of the shorter
    of the two.
    """
    comparison = _Comparison(old_document.text, _chunks(old), new_document.text, _chunks(new))
    return comparison.run()


def _chunks(cutting: Cutting | Sequence[Chunk]) -> Sequence[Chunk]:
    chunks = cutting.chunks if isinstance(cutting, Cutting) else cutting
    if not isinstance(chunks, Sequence) or not all(isinstance(chunk, Chunk) for chunk in chunks):
        raise SettingsError(
            "invalid-span",
            f"{str(cutting)[:80]!r} is not a list of chunks.",
            "Give what `chunk` or `cut_document` gave; ranges alone have no ids to compare.",
        )
    return sorted(chunks, key=lambda chunk: (chunk.start, chunk.end))


class _Traced(NamedTuple):
    """What one old chunk became: indexes of new chunks, and the range of the new text."""

    outcome: ChunkOutcome
    to: tuple[int, ...] = ()
    start: int | None = None
    end: int | None = None


class _Share(NamedTuple):
    """What an old and a new chunk have in common of one run."""

    run: SharedRun
    """Clipped to the two chunks."""
    is_sure: bool
    """True if the whole run is too long to be an accident."""


class _Comparison:
    """Two lists of chunks, by index in order of their starts."""

    def __init__(
        self, old_text: str, old: Sequence[Chunk], new_text: str, new: Sequence[Chunk]
    ) -> None:
        self._old_text, self._new_text = old_text, new_text
        self._old, self._new = old, new
        self._traced: dict[int, _Traced] = {}
        self._reached: set[int] = set()

    def run(self) -> CuttingChanges:
        kept = self._keep_equal()
        kept += self._pair_texts(kept)
        if len(self._traced) < len(self._old):
            self._follow_edits(kept)
        return CuttingChanges(
            tuple(self._change(index, chunk) for index, chunk in enumerate(self._old)),
            tuple(
                NewChunk(chunk.id, chunk.start, chunk.end)
                for index, chunk in enumerate(self._new)
                if index not in self._reached
            ),
        )

    def _change(self, index: int, chunk: Chunk) -> ChunkChange:
        outcome, to, start, end = self._traced[index]
        ids = tuple(self._new[there].id for there in to)
        return ChunkChange(chunk.id, outcome, ids, chunk.start, chunk.end, start, end)

    def _trace(self, outcome: ChunkOutcome, index: int, there: int) -> None:
        chunk = self._new[there]
        self._traced[index] = _Traced(outcome, (there,), chunk.start, chunk.end)
        self._reached.add(there)

    def _keep_equal(self) -> list[tuple[int, int]]:
        """Trace chunks of equal id, text and context; the pairs that kept their order."""
        places = {_identity(chunk): index for index, chunk in enumerate(self._new)}
        pairs = [
            (index, places[identity])
            for index, identity in enumerate(map(_identity, self._old))
            if identity in places
        ]
        kept = _ascending(pairs)
        for index, there in pairs:
            self._trace("moved", index, there)
        for index, there in kept:
            self._trace("same", index, there)
        return kept

    def _pair_texts(self, kept: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Trace chunks of equal text whose id or context is another: those between the same
        neighbours first, then any. The pairs of the former."""
        waiting = self._untraced_by_text()
        bounds = self._bounds(kept)
        cursors = dict.fromkeys(waiting, 0)
        in_place: list[tuple[int, int]] = []
        for index, chunk in self._untraced():
            queue = waiting.get(chunk.text, [])
            low, high = bounds[index]
            at = bisect_left(queue, low, cursors.get(chunk.text, 0))
            if at < len(queue) and queue[at] < high:
                cursors[chunk.text] = at + 1
                there = queue[at]
                same_id = chunk.id == self._new[there].id
                self._trace("changed" if same_id else "moved", index, there)
                in_place.append((index, there))
        waiting = self._untraced_by_text()
        for queue in waiting.values():
            queue.reverse()
        for index, chunk in self._untraced():
            if waiting.get(chunk.text):
                self._trace("moved", index, waiting[chunk.text].pop())
        return in_place

    def _untraced(self) -> list[tuple[int, Chunk]]:
        return [
            (index, chunk) for index, chunk in enumerate(self._old) if index not in self._traced
        ]

    def _untraced_by_text(self) -> dict[str, list[int]]:
        """New chunks that nothing became yet, ascending, by their text."""
        found: dict[str, list[int]] = {}
        for index, chunk in enumerate(self._new):
            if index not in self._reached:
                found.setdefault(chunk.text, []).append(index)
        return found

    def _bounds(self, kept: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """By old index: between which new ones its kept neighbours leave room for it."""
        bounds: list[tuple[int, int]] = []
        low = 0
        for index, there in (*kept, (len(self._old), len(self._new))):
            bounds += [(low, there)] * (index - len(bounds))
            if index < len(self._old):
                bounds.append((there, there + 1))
            low = there + 1
        return bounds

    def _follow_edits(self, kept: Iterable[tuple[int, int]]) -> None:
        """Trace the rest by what the two texts share at their places."""
        runs = align_texts(self._old_text, self._new_text, self._anchors(kept))
        shares = self._shares(runs)
        rest = _Rest(self._old_text, self._new_text, runs)
        for index, chunk in self._untraced():
            to = {
                there: parts
                for there, parts in sorted(shares.get(index, {}).items())
                if rest.is_kin(chunk, self._new[there], parts)
            }
            if not to:
                self._traced[index] = _Traced("gone")
                continue
            parts = [part.run for found in to.values() for part in found]
            start, end = rest.range_of(chunk, [self._new[there] for there in to], parts)
            self._traced[index] = _Traced("changed", tuple(to), start, end)
            self._reached.update(to)

    def _shares(self, runs: Sequence[SharedRun]) -> dict[int, dict[int, list[_Share]]]:
        """By untraced old chunk and by new chunk: what the two hold of ``runs``."""
        ends = [run.old + run.length for run in runs]
        sure = [
            _weight(self._old_text[run.old : end]) >= _LONG
            for run, end in zip(runs, ends, strict=True)
        ]
        parts: list[tuple[int, _Share]] = []
        for index, chunk in self._untraced():
            first = bisect_right(ends, chunk.start)
            last = bisect_left(runs, (chunk.end,))
            parts += [
                (index, _Share(_clip(runs[at], chunk.start - runs[at].old, chunk), sure[at]))
                for at in range(first, last)
            ]
        parts.sort(key=lambda item: item[1].run.new)
        places = Places([Passage(chunk.start, chunk.end) for chunk in self._new])
        ranges = [(run.new, run.new + run.length) for _, (run, _) in parts]
        shares: dict[int, dict[int, list[_Share]]] = {}
        for (index, part), chunks in zip(parts, places.overlapping(ranges), strict=True):
            for there in chunks:
                chunk = self._new[there]
                run = _clip(part.run, chunk.start - part.run.new, chunk)
                shares.setdefault(index, {}).setdefault(there, []).append(part._replace(run=run))
        return shares

    def _anchors(self, kept: Iterable[tuple[int, int]]) -> list[SharedRun]:
        """Ranges of chunks that are known to be equal, ascending and apart in both texts."""
        runs: list[SharedRun] = []
        old_end = new_end = 0
        for index, there in _ascending(sorted(kept)):
            chunk, other = self._old[index], self._new[there]
            if chunk.start >= old_end and other.start >= new_end:
                runs.append(SharedRun(chunk.start, other.start, chunk.end - chunk.start))
                old_end, new_end = chunk.end, other.end
        return runs


class _Rest:
    """Judges what an old and a new chunk share."""

    def __init__(self, old_text: str, new_text: str, runs: Sequence[SharedRun]) -> None:
        self._old_text, self._new_text = old_text, new_text
        self._starts = sorted(run.new for run in runs)
        self._ends = sorted(run.new + run.length for run in runs)
        self._weights: dict[str, int] = {}

    def is_kin(self, chunk: Chunk, other: Chunk, parts: Sequence[_Share]) -> bool:
        """True if enough of ``chunk`` is in ``other``."""
        shared = [self._old_text[run.old : run.old + run.length] for run, _ in parts]
        weights = [_weight(text) for text in shared]
        shorter = min(self._weight_of(chunk), self._weight_of(other))
        if shorter == 0:
            # Nothing but signs, such as a row of dashes.
            return min(filled(chunk.text), filled(other.text)) <= 2 * sum(map(filled, shared))
        surely = any(part.is_sure and weight for part, weight in zip(parts, weights, strict=True))
        return surely or shorter <= 2 * sum(weights)

    def _weight_of(self, chunk: Chunk) -> int:
        if chunk.text not in self._weights:
            self._weights[chunk.text] = _weight(chunk.text)
        return self._weights[chunk.text]

    def range_of(
        self, chunk: Chunk, to: Sequence[Chunk], parts: Sequence[SharedRun]
    ) -> tuple[int, int]:
        """The range of the new text that ``chunk`` became: from the first to the last of
        ``parts``, and where its own beginning or end was rewritten, up to what is known to come
        from elsewhere, inside the chunks ``to``."""
        first = min(parts, key=lambda part: part.new)
        last = max(parts, key=lambda part: part.new)
        start, end = first.new, last.new + last.length
        if self._old_text[chunk.start : first.old].strip():
            known = bisect_right(self._ends, start)
            start = max(to[0].start, self._ends[known - 1] if known else 0)
        if self._old_text[last.old + last.length : chunk.end].strip():
            known = bisect_left(self._starts, end)
            ends = [other.end for other in to]
            end = min(max(ends), *self._starts[known : known + 1], len(self._new_text))
        return stripped(self._new_text, start, end)


def _identity(chunk: Chunk) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return chunk.id, chunk.text, tuple((span.role, span.text) for span in chunk.context)


def _ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of ``pairs``, which ascend in their first, that ascend in their second too."""
    return [pairs[index] for index in longest_ascending([there for _, there in pairs])]


def _clip(run: SharedRun, ahead: int, chunk: Chunk) -> SharedRun:
    """The part of ``run`` that is in ``chunk``, which begins ``ahead`` characters into it."""
    skip = max(0, ahead)
    stop = min(run.length, ahead + chunk.end - chunk.start)
    return SharedRun(run.old + skip, run.new + skip, stop - skip)


def _weight(text: str) -> int:
    """Letters and digits."""
    return sum(map(str.isalnum, text))
