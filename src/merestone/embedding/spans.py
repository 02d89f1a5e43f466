"""Late chunking: where the vectors of a text's parts come from when the whole is read at once.

Günther et al., "Late Chunking: Contextual Chunk Embeddings Using Long-Context Embedding Models",
2024. A text beyond the limit is read in windows, each half over the one before; a token is taken
from the window in which it stands farthest from a border that is not the text's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.overlong import windows
from merestone.text.hashing import digest
from merestone.types import Vectors


class Run(NamedTuple):
    """Tokens ``first`` to ``end`` of a window, counted from the window's own first token."""

    window: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class SpanPlan:
    """The windows of a text in tokens, and the runs of tokens that each span is pooled from."""

    windows: tuple[tuple[int, int], ...]
    runs: tuple[tuple[Run, ...], ...]
    """By span; without any token in the whole text, none."""

    def used(self) -> list[int]:
        """Windows that a span needs, ascending."""
        return sorted({run.window for runs in self.runs for run in runs})

    def keys(self, ids: NDArray[np.int64]) -> list[str]:
        """By span: a hash of its windows' token ids and of its own places in them."""
        contents = {
            number: digest(ids[slice(*self.windows[number])].astype("<i8").tobytes())
            for number in self.used()
        }
        return [
            digest("span", *(f"{contents[run.window]} {run.first} {run.end}" for run in runs))
            for runs in self.runs
        ]


def plan_spans(starts: Sequence[int], spans: Sequence[tuple[int, int]], size: int) -> SpanPlan:
    """``starts``: the place of each token of the text, ascending. ``size``: tokens of a window.

    A token belongs to the span that it begins in. A span without any takes the token before it,
    at the beginning of the text the one behind.
    """
    places = tuple(windows(len(starts), size))
    owners = _owners(len(starts), places)
    runs = []
    for start, end in spans:
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        if first >= last and len(starts):
            first = max(0, first - 1)
            last = first + 1
        runs.append(tuple(_runs(owners, places, first, last)))
    return SpanPlan(places, tuple(runs))


class SpanSums:
    """Token vectors summed up by span, as the windows come."""

    def __init__(self, plan: SpanPlan, width: int) -> None:
        self._plan = plan
        self._sums = np.zeros((len(plan.runs), width), np.float32)
        self._counts = np.zeros(len(plan.runs), np.int64)
        self._wanted: Mapping[int, list[tuple[int, Run]]] = {number: [] for number in plan.used()}
        for span, runs in enumerate(plan.runs):
            for run in runs:
                self._wanted[run.window].append((span, run))

    def take(self, window: int, tokens: Vectors) -> None:
        """``tokens``: the vectors of the window's own tokens, special ones left out."""
        for span, run in self._wanted[window]:
            self._sums[span] += tokens[run.first : run.end].sum(axis=0)
            self._counts[span] += run.end - run.first

    def means(self) -> Vectors:
        """By span, not scaled; zeros for a span without a token."""
        counts = np.maximum(1, self._counts).astype(np.float32)
        means: Vectors = self._sums / counts[:, None]
        return means


def _owners(count: int, places: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """By token: the window that it is taken from."""
    best = np.full(count, -1.0)
    owners = np.zeros(count, np.int64)
    for number, (start, end) in enumerate(places):
        tokens = np.arange(start, end)
        left = tokens - start if start else np.full(end - start, np.inf)
        right = end - 1 - tokens if end < count else np.full(end - start, np.inf)
        margin = np.minimum(left, right)
        better = margin > best[start:end]
        best[start:end][better] = margin[better]
        owners[start:end][better] = number
    return owners


def _runs(
    owners: NDArray[np.int64], places: Sequence[tuple[int, int]], first: int, end: int
) -> Iterator[Run]:
    """Tokens ``first`` to ``end``, parted where another window begins to own them."""
    while first < end:
        window = int(owners[first])
        others = np.flatnonzero(owners[first:end] != window)
        stop = first + int(others[0]) if len(others) else end
        start = places[window][0]
        yield Run(window, first - start, stop - start)
        first = stop
