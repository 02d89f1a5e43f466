"""Searching a state of the library by a graph that may be older or newer than it.

Rows that graph and state have in common are proposed by the graph, all others are scanned. What
was proposed is scored by its float16 row and judged by the rows of the library, as in the exact
scan, so an old graph, or one of another history, can cost recall at most, and never gives what is
gone or what the reader may not see. Where a filter leaves few rows, or too little comes back,
every row is scanned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from merestone.storage import dense
from merestone.storage.ann import Graph, marks_of
from merestone.storage.dense import Live, Numbers, Segment
from merestone.types import Scored, Vectors

_ROWS_A_PROPOSAL = 100
"""A proposal costs what it costs to scan so many rows, or somewhat less (about 5 µs to 0.065 µs):
with fewer rows for each, they are all scanned."""
_SPARE = 1.2
"""So many times what is wanted is proposed, for some rows may be dead."""


@dataclass(frozen=True, slots=True)
class Cover:
    """A graph, and what it covers of a state's segments."""

    graph: Graph
    segments: Sequence[Segment]
    numbers: Numbers
    """Of the rows that both have, ascending."""
    owners: NDArray[np.intp]
    """The index of each one's segment, and its row there."""
    rows: NDArray[np.intp]
    rest: Segment
    """The rows that the graph does not have."""
    documents: Numbers
    """Those of the covered rows, ascending, and how many rows each has."""
    counts: NDArray[np.intp]

    def share(self, permitted: Numbers | None) -> float:
        """Of the covered rows, how many are of permitted documents."""
        if permitted is None:
            return 1.0
        held = self.counts[np.isin(self.documents, permitted)].sum()
        return float(held) / max(1, len(self.numbers))


def cover(graph: Graph, segments: Sequence[Segment], dimension: int) -> Cover:
    """What ``graph`` covers of ``segments``."""
    numbers = _joined([segment.chunks for segment in segments])
    sizes = [len(segment.chunks) for segment in segments]
    owners = np.repeat(np.arange(len(segments), dtype=np.intp), sizes)
    rows = np.concatenate([np.arange(size, dtype=np.intp) for size in [0, *sizes]])
    marks = [marks_of(segment.scales, segment.bounds) for segment in segments]
    held = graph.holds(numbers, np.concatenate([np.empty((0, 2), np.float32), *marks]))
    order = np.flatnonzero(held)[np.argsort(numbers[held], kind="stable")]
    documents = _joined([segment.documents for segment in segments])
    known, counts = np.unique(documents[held], return_counts=True)
    left = [~held[owners == index] for index in range(len(segments))]
    return Cover(
        graph,
        segments,
        numbers[order],
        owners[order],
        rows[order],
        _part(segments, left, dimension),
        known,
        counts,
    )


def _joined(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays])


def _part(
    segments: Sequence[Segment], masks: Sequence[NDArray[np.bool_]], dimension: int
) -> Segment:
    """The marked rows of all segments as one."""
    pairs = list(zip(segments, masks, strict=True))
    return Segment(
        number=0,
        chunks=_joined([part.chunks[mask] for part, mask in pairs]),
        documents=_joined([part.documents[mask] for part, mask in pairs]),
        scales=np.concatenate([np.empty(0, np.float32), *(p.scales[m] for p, m in pairs)]),
        bounds=np.concatenate([np.empty((0, 2), np.float32), *(p.bounds[m] for p, m in pairs)]),
        codes=np.concatenate([np.empty((0, dimension), np.int8), *(p.codes[m] for p, m in pairs)]),
        vectors=np.concatenate(
            [np.empty((0, dimension), np.float16), *(p.vectors[m] for p, m in pairs)]
        ),
    )


def search(
    cover: Cover, vector: Vectors, limit: int, permitted: Numbers | None, live: Live, width: int
) -> list[Scored]:
    """As :func:`merestone.storage.dense.search`, but for rows that the graph did not propose."""
    wanted = proposals(limit, cover.share(permitted))
    if not pays(cover, wanted):
        wanted = 0
    return search_by(cover, vector, limit, permitted, live, width, wanted)


def search_by(
    cover: Cover,
    vector: Vectors,
    limit: int,
    permitted: Numbers | None,
    live: Live,
    width: int,
    wanted: int,
) -> list[Scored]:
    """As :func:`search`, with ``wanted`` rows proposed by the graph; 0: none, all are scanned."""
    query = np.asarray(vector, dtype=np.float32)
    code = dense.quantise(query[None, :])[0][0]
    # All rows are as near as any to a vector of zeros.
    if wanted <= 0 or not code.any():
        return dense.search(cover.segments, vector, limit, permitted, live)
    proposed = cover.graph.nearest(code, wanted, width)
    found = _scored(cover, proposed, query, permitted, live)
    found += dense.search([cover.rest], vector, limit, permitted, live)
    if len(found) < limit:
        return dense.search(cover.segments, vector, limit, permitted, live)
    found.sort(key=lambda scored: (-scored.score, scored.number))
    return found[:limit]


def proposals(limit: int, share: float) -> int:
    """How many rows to ask a graph for, so that ``limit`` are likely among those that are
    permitted, which are this share of all; 0 if there are none of these."""
    return ceil(limit * _SPARE / share) if limit > 0 and share > 0 else 0


def pays(cover: Cover, wanted: int) -> bool:
    """True if so many proposals cost less than a scan of all rows."""
    return wanted > 0 and wanted * _ROWS_A_PROPOSAL <= len(cover.numbers)


def _scored(
    cover: Cover,
    proposed: Numbers,
    query: NDArray[np.float32],
    permitted: Numbers | None,
    live: Live,
) -> list[Scored]:
    """The proposed rows that stand in the state, are permitted and live, with exact scores."""
    places = np.minimum(np.searchsorted(cover.numbers, proposed), len(cover.numbers) - 1)
    places = places[cover.numbers[places] == proposed]
    alive = live(cover.numbers[places].tolist())
    found: list[Scored] = []
    for index in np.unique(cover.owners[places]):
        segment = cover.segments[index]
        rows = cover.rows[places[cover.owners[places] == index]]
        if permitted is not None:
            rows = rows[np.isin(segment.documents[rows], permitted)]
        scores = dense.exact_scores(segment, rows, query)
        numbers = segment.chunks[rows].tolist()
        found += [
            Scored(number, score)
            for number, score in zip(numbers, scores, strict=True)
            if number in alive
        ]
    return found
