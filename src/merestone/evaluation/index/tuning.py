"""Which index suits a library's vectors: the scan of all, or a graph, and with which settings.

Measured is what is served: the library's own search over segments as it keeps them, by the
processor's time, so that other work on the machine matters little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from merestone.evaluation.index.measures import (
    FEWEST_ROWS,
    WORTHWHILE_MS,
    FilteredMeasure,
    Growth,
    IndexExamination,
    IndexMeasure,
    Times,
    reaches,
)
from merestone.evaluation.index.vectors import Examined, read_examined, segments_of
from merestone.library import Library
from merestone.storage import ann_search, dense
from merestone.storage.ann import Graph, marks_of
from merestone.storage.ann_search import Cover
from merestone.storage.dense import Numbers
from merestone.types import Scored, SettingsError, Vectors

LINKS = (8, 16, 32)
WIDTHS = (64, 128, 256, 512)
SHARES = (0.5, 0.1, 0.01)
"""Of the rows, that a filter lets through."""
ROWS = 100_000
QUERIES = 200
TARGET = 0.98

_SMALLER = 4
"""The other size that growth is measured at is one in so many rows."""
_MOST_ROWS = 1_000_000_000
# The clock of a process ticks 64 times a second on Windows.
_clock = time.perf_counter if os.name == "nt" else time.process_time

Note = Callable[[str], None]
Search = Callable[[Vectors], list[Scored]]


def examine_index(
    library: Library,
    *,
    target: float = TARGET,
    queries: int = QUERIES,
    rows: int = ROWS,
    as_owner: bool = False,
    note: Note = lambda _: None,
) -> IndexExamination:
    """Compare the exact scan with graphs of several settings on the vectors of ``library``.

    Chosen is what takes least of a query among those that find ``target`` of the nearest 10 and
    of the nearest 50; a graph only if it saves 5 ms. Of a library of more than ``rows`` chunks so
    many are looked at, drawn at random. ``note`` is told how far it is.
    """
    library.require_owner(as_owner=as_owner)
    if not 0 < target <= 1 or queries < 1 or rows < 1:
        raise SettingsError(
            "invalid-target",
            f"An index cannot be examined with target {target}, {queries} queries, {rows} rows.",
            "Give a target above 0 and at most 1, and at least one query and one row.",
        )
    Graph.empty(LINKS[0], 1)  # raises before the work, where the package is missing
    examined = read_examined(library, rows, queries, as_owner)
    candidates = library.settings.retrieval.candidates
    return compare_indexes(
        examined, candidates, target=target, links=LINKS, widths=WIDTHS, note=note
    )


def compare_indexes(
    examined: Examined,
    candidates: int,
    *,
    target: float = TARGET,
    links: Sequence[int] = LINKS,
    widths: Sequence[int] = WIDTHS,
    note: Note = lambda _: None,
) -> IndexExamination:
    """As :func:`examine_index`, on vectors that are given."""
    trial = Trial(examined, candidates)
    note(f"exact scan of {len(examined.vectors):,} vectors")
    measures = [trial.exact()]
    covers: dict[int, Cover] = {}
    for each in links:
        note(f"graph of {each} links")
        covers[each], seconds = trial.build(each)
        # A search that wants more rows keeps as many in sight.
        kept = sorted({max(width, trial.wanted) for width in widths})
        measures += [trial.by_graph(covers[each], width, seconds) for width in kept]
    good = [each for each in measures[1:] if reaches(each, target)]
    best = min(good or measures[1:], key=lambda each: (each.times.median, each.bytes))
    saved = measures[0].times.median - best.times.median
    chosen = best if good and saved >= WORTHWHILE_MS else measures[0]
    growth = None
    if len(examined.vectors) >= FEWEST_ROWS:
        note("smaller size, for how both grow")
        growth = _growth(examined, candidates, measures[0], best)
    return IndexExamination(
        rows=len(examined.vectors),
        stored=examined.stored,
        dimension=examined.vectors.shape[1],
        queries=len(examined.queries),
        queries_from=examined.queries_from,
        candidates=candidates,
        target=target,
        measures=tuple(measures),
        chosen=chosen,
        growth=growth,
        equal_from=_size_of(growth, 0.0) if growth else None,
        pays_from=_size_of(growth, WORTHWHILE_MS) if growth else None,
    )


@dataclass(frozen=True, slots=True)
class _Filter:
    share: float
    documents: Numbers


class Trial:
    """Vectors and queries, and the exact answers to these."""

    def __init__(self, examined: Examined, candidates: int) -> None:
        self._queries = examined.queries
        self._limit = min(candidates, len(examined.vectors))
        self._segments = segments_of(examined.vectors, examined.documents)
        self._dimension = examined.vectors.shape[1]
        self._filters = _filters(examined.documents)
        self.wanted = ann_search.proposals(self._limit, 1.0)
        self._best: dict[float, list[list[Scored]]] = {}

    def exact(self) -> IndexMeasure:
        """The scan; its answers are what others are held against."""
        times, self._best[1.0] = self._ask(self._scan(None))
        filtered = []
        for each in self._filters:
            taken, self._best[each.share] = self._ask(self._scan(each.documents))
            filtered.append(FilteredMeasure(each.share, taken, 1.0, 1.0, False))
        return IndexMeasure("exact", 0, 0, times, 1.0, 1.0, 0, 0.0, tuple(filtered))

    def scan_times(self) -> Times:
        """Of the scan of all rows."""
        return self._ask(self._scan(None))[0]

    def build(self, links: int) -> tuple[Cover, float]:
        """A graph of all rows, and the seconds that it took."""
        begun = _clock()
        graph = Graph.empty(links, self._dimension)
        for part in self._segments:
            graph.add(part.chunks, marks_of(part.scales, part.bounds), part.codes)
        taken = _clock() - begun
        return ann_search.cover(graph, self._segments, self._dimension), taken

    def by_graph(self, cover: Cover, width: int, seconds: float) -> IndexMeasure:
        """A graph searched with this width; filtered as the library would."""
        times, found = self._ask(self._graph(cover, width))
        filtered = []
        for each in self._filters:
            taken, within = self._ask(self._served(cover, width, each.documents))
            wanted = ann_search.proposals(self._limit, cover.share(each.documents))
            filtered.append(
                FilteredMeasure(
                    each.share,
                    taken,
                    self._recall(within, each.share, 10),
                    self._recall(within, each.share, 50),
                    ann_search.pays(cover, wanted),
                )
            )
        return IndexMeasure(
            "hnsw",
            cover.graph.links,
            width,
            times,
            self._recall(found, 1.0, 10),
            self._recall(found, 1.0, 50),
            cover.graph.size,
            seconds,
            tuple(filtered),
        )

    def graph_times(self, cover: Cover, width: int) -> Times:
        """Of searches of all rows."""
        return self._ask(self._graph(cover, width))[0]

    def _scan(self, permitted: Numbers | None) -> Search:
        return lambda query: dense.search(self._segments, query, self._limit, permitted, set)

    def _graph(self, cover: Cover, width: int) -> Search:
        return lambda query: ann_search.search_by(
            cover, query, self._limit, None, set, width, self.wanted
        )

    def _served(self, cover: Cover, width: int, permitted: Numbers) -> Search:
        return lambda query: ann_search.search(cover, query, self._limit, permitted, set, width)

    def _ask(self, search: Search) -> tuple[Times, list[list[Scored]]]:
        search(self._queries[0])
        taken: list[float] = []
        found: list[list[Scored]] = []
        for query in self._queries:
            begun = _clock()
            found.append(search(query))
            taken.append((_clock() - begun) * 1000)
        median, p90, p99 = np.percentile(taken, [50, 90, 99]).tolist()
        return Times(median, p90, p99), found

    def _recall(self, found: Sequence[Sequence[Scored]], share: float, count: int) -> float:
        """Mean share of the best ``count`` that were found; one as good as the last counts."""
        shares = []
        for hits, best in zip(found, self._best[share], strict=True):
            wanted = best[:count]
            if wanted:
                held = sum(hit.score >= wanted[-1].score for hit in hits[:count])
                shares.append(min(held, len(wanted)) / len(wanted))
        return float(np.mean(shares)) if shares else 1.0


def _filters(documents: Numbers) -> list[_Filter]:
    """Whole documents drawn at random until about each share of the rows passes."""
    known, counts = np.unique(documents, return_counts=True)
    order = np.random.default_rng(2).permutation(len(known))
    passing: NDArray[np.int64] = np.cumsum(counts[order])
    found: dict[float, _Filter] = {}
    for share in SHARES:
        taken = int(np.searchsorted(passing, share * len(documents))) + 1
        real = float(passing[min(taken, len(known)) - 1]) / len(documents)
        if real < 1:
            found.setdefault(real, _Filter(real, known[order[:taken]]))
    return list(found.values())


def _growth(
    examined: Examined, candidates: int, exact: IndexMeasure, graph: IndexMeasure
) -> Growth:
    """What a query takes at two sizes, as lines."""
    rows = len(examined.vectors)
    fewer = max(1, rows // _SMALLER)
    kept = np.sort(np.random.default_rng(3).permutation(rows)[:fewer])
    smaller = Examined(
        examined.vectors[kept], examined.documents[kept], examined.queries, "", examined.stored
    )
    trial = Trial(smaller, candidates)
    scan = trial.scan_times().median
    cover, _ = trial.build(graph.links)
    hops = trial.graph_times(cover, graph.width).median
    each = max(0.0, (exact.times.median - scan) / max(1, rows - fewer))
    factor = max(0.0, (graph.times.median - hops) / log(max(2, rows) / max(1, fewer)))
    return Growth(
        rows=(fewer, rows),
        scan=(exact.times.median - each * rows, each),
        graph=(graph.times.median - factor * log(rows), factor),
    )


def _size_of(growth: Growth, saved: float) -> int | None:
    """The smallest number of rows at which a graph saves so many milliseconds."""

    def saves(rows: int) -> bool:
        scan = growth.scan[0] + growth.scan[1] * rows
        return scan - (growth.graph[0] + growth.graph[1] * log(rows)) >= saved

    high = 1
    while not saves(high):
        high *= 2
        if high > _MOST_ROWS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if saves(middle) else (middle, high)
    return high
