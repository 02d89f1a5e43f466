"""Keeping a graph near to the library, and in the memory of those who read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import apsw
import numpy as np
from numpy.typing import NDArray

from merestone.storage import ann_file
from merestone.storage.ann import Graph, marks_of
from merestone.storage.ann_paths import discard_graphs, graph_path
from merestone.storage.ann_search import Cover, cover
from merestone.storage.dense import Floats, Numbers, Segment
from merestone.storage.rows import value_of
from merestone.types import GraphSettings

LEAST_ROWS = 10_000
"""Of fewer rows no graph is made: they are scanned in less time than it takes to search one."""
_LEAST_LACKING = 2000
_LACKING_SHARE = 20
"""The graph is extended when it lacks more than one row in so many: until then they are scanned."""
_DEAD_SHARE = 4
"""It is built anew when more than one of its rows in so many is gone."""


class GraphCache:
    """The graph that a process has read last, and what it covers of the newest state."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stamp: tuple[object, ...] = ()
        self._graph: Graph | None = None
        self._cover: Cover | None = None

    def cover(
        self, state: Path, generation: int, segments: Sequence[Segment], dimension: int
    ) -> Cover | None:
        """The graph of a generation over the segments of a state; ``None`` if there is none."""
        path = graph_path(state, generation)
        with self._lock:
            stamp = _stamp(path)
            if stamp != self._stamp:
                self._graph = ann_file.read(path, dimension) if stamp else None
                self._stamp, self._cover = stamp, None
            if self._graph is None:
                return None
            if self._cover is None or not _are_same(self._cover.segments, segments):
                self._cover = cover(self._graph, segments, dimension)
            return self._cover


def _stamp(path: Path) -> tuple[object, ...]:
    """What changes when the file is written; empty if there is none."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (str(path), found.st_mtime_ns, found.st_size, found.st_ino)


def _are_same(one: Sequence[Segment], other: Sequence[Segment]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def refresh(
    connection: apsw.Connection,
    state: Path,
    generation: int,
    dimension: int,
    settings: GraphSettings | None,
) -> None:
    """Make, extend or delete the graph of what ``connection`` reads, as far as worth while."""
    path = graph_path(state, generation)
    stored = _stored_rows(connection, generation)
    total = sum(len(numbers) for _, numbers, _ in stored)
    if settings is None or total < LEAST_ROWS:
        discard_graphs(state)
        return
    discard_graphs(state, but=path)
    graph = ann_file.read(path, dimension)
    if graph is None or graph.links != settings.links:
        graph = Graph.empty(settings.links, dimension)
    lacking = [~graph.holds(numbers, marks) for _, numbers, marks in stored]
    count = sum(int(mask.sum()) for mask in lacking)
    gone = len(graph) - (total - count)
    is_old = gone * _DEAD_SHARE > len(graph) or _has_others(graph, stored, lacking)
    if is_old:
        graph = Graph.empty(settings.links, dimension)
        lacking = [np.ones(len(numbers), dtype=bool) for _, numbers, _ in stored]
    elif count <= max(_LEAST_LACKING, total // _LACKING_SHARE) and len(graph):
        return
    _add(connection, graph, stored, lacking)
    ann_file.write(graph, path)


_Stored = tuple[int, Numbers, Floats]
"""Number of a segment, with the numbers and marks of its rows."""


def _stored_rows(connection: apsw.Connection, generation: int) -> list[_Stored]:
    query = (
        "SELECT number, chunks, scales, bounds FROM main.dense WHERE generation = ? ORDER BY number"
    )
    found: list[_Stored] = []
    for number, chunks, scales, bounds in connection.execute(query, (generation,)):
        marks = marks_of(
            np.frombuffer(scales, dtype="<f4"), np.frombuffer(bounds, dtype="<f4").reshape(-1, 2)
        )
        found.append((number, np.frombuffer(chunks, dtype="<i8"), marks))
    return found


def _has_others(
    graph: Graph, stored: Sequence[_Stored], lacking: Sequence[NDArray[np.bool_]]
) -> bool:
    """True if the graph has a row of another history: a number that stands for another vector."""
    return any(
        bool(np.isin(numbers[mask], graph.numbers).any())
        for (_, numbers, _), mask in zip(stored, lacking, strict=True)
    )


def _add(
    connection: apsw.Connection,
    graph: Graph,
    stored: Sequence[_Stored],
    lacking: Sequence[NDArray[np.bool_]],
) -> None:
    """Add the rows that are lacking, a segment at a time."""
    for (segment, numbers, marks), mask in zip(stored, lacking, strict=True):
        rows = np.flatnonzero(mask)
        if not len(rows):
            continue
        # A number that is stored twice is added once.
        _, first = np.unique(numbers[rows], return_index=True)
        rows = rows[first]
        rows = rows[~np.isin(numbers[rows], graph.numbers)]
        data = value_of(connection, "SELECT codes FROM main.dense WHERE number = ?", (segment,))
        codes = np.frombuffer(data, dtype=np.int8).reshape(-1, graph.dimension)
        graph.add(numbers[rows], marks[rows], codes[rows])
