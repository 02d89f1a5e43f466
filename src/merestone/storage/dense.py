"""Vectors in immutable segments, and the exact search over them.

A row is kept twice: as int8 codes with a scale, which a scan reads, and as float16, which decides.
With each row goes what its codes lose, so the scan gives an upper bound of every exact score and
the search can stop when no row that was passed over could still be among the best. It therefore
equals a scan of the float16 rows, at about the cost of scanning the codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, TypeAlias

import apsw
import numpy as np
from numpy.typing import NDArray

from merestone.storage.codec import damaged
from merestone.storage.generations import numbers as generation_numbers
from merestone.storage.rows import Row
from merestone.storage.simd import simsimd
from merestone.types import Scored, StoreError, Vectors

Numbers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
Live: TypeAlias = Callable[[Iterable[int]], set[int]]
"""Says which of some chunk numbers still stand for a chunk."""

_LARGEST_CODE = 127
_LEAST_RESCORED = 400
# Share of the product of two norms that float32 arithmetic may be off by, many times over.
_ROUNDING = 1e-5
_QUANTISED = 4096
MOST_BYTES = 1 << 24
"""Of the float16 rows of one segment: a merge holds them in memory. SQLite would take a little
under 2^30."""

_COLUMNS = "number, rows, dimension, chunks, documents, scales, bounds, codes, vectors"
INSERT = (
    "INSERT INTO main.dense (generation, rows, dimension, chunks, documents, scales, bounds, "
    "codes, vectors) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows that were stored together, by ascending chunk number."""

    number: int
    chunks: Numbers
    documents: Numbers
    scales: Floats
    """``codes * scales`` is about the vector."""
    bounds: Floats
    """Shape ``(rows, 2)``: norm of what ``codes * scales`` lacks of the vector, and its own."""
    codes: NDArray[np.int8]
    vectors: NDArray[np.float16]

    def positions(self, numbers: Numbers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where in ``numbers`` those stand that this segment has, and their rows here."""
        rows = np.searchsorted(self.chunks, numbers)
        inside = np.flatnonzero(rows < len(self.chunks))
        held = inside[self.chunks[rows[inside]] == numbers[inside]]
        return held, rows[held]


def check_vectors(vectors: Vectors, dimension: int, what: str) -> None:
    """Raise :class:`StoreError` unless the last axis is ``dimension`` and float16 can hold all."""
    if vectors.shape[-1:] != (dimension,):
        raise StoreError(
            "bad-vector",
            f"{what} has shape {vectors.shape}; the library's embedder gives {dimension} numbers.",
            "Use the embedder that the library was built with.",
        )
    # Written so that NaN fails too.
    if not bool((np.abs(vectors) <= np.finfo(np.float16).max).all()):
        raise StoreError(
            "bad-vector",
            f"{what} holds a number that is not finite or far outside a unit vector.",
            "Look at the embedder: its answer cannot be used.",
        )


def add(
    connection: apsw.Connection,
    generation: int,
    chunks: Sequence[int],
    documents: Sequence[int],
    vectors: NDArray[np.float16],
) -> None:
    """Store rows as one new segment, or as several if one would be too large."""
    rows = np.asarray(vectors, dtype="<f2")
    codes, scales, bounds = quantise(rows)
    numbers = np.asarray(chunks, dtype="<i8"), np.asarray(documents, dtype="<i8")
    stated = scales.astype("<f4"), bounds.astype("<f4")
    _insert(connection, generation, _Rows(*numbers, *stated, codes, rows))


class _Rows(NamedTuple):
    """What a segment holds, column by column, in any order."""

    chunks: Numbers
    documents: Numbers
    scales: Floats
    bounds: Floats
    codes: NDArray[np.int8]
    vectors: NDArray[np.float16]


def _insert(connection: apsw.Connection, generation: int, rows: _Rows) -> None:
    order = np.argsort(rows.chunks, kind="stable")
    dimension = rows.vectors.shape[1]
    per_segment = most_rows(dimension)
    for first in range(0, len(order), per_segment):
        part = order[first : first + per_segment]
        columns = (column[part].tobytes() for column in rows)
        connection.execute(INSERT, (generation, len(part), dimension, *columns))


def most_rows(dimension: int) -> int:
    """Rows that one segment may hold."""
    return max(1, MOST_BYTES // (2 * dimension))


def quantise(vectors: NDArray[np.floating]) -> tuple[NDArray[np.int8], Floats, Floats]:
    """int8 codes, a scale a row, and the norms of what is lost and of what is kept."""
    if len(vectors) > _QUANTISED:
        # In parts: what is needed in between is several times as large as the result.
        parts = range(0, len(vectors), _QUANTISED)
        made = [quantise(vectors[first : first + _QUANTISED]) for first in parts]
        codes, scales, bounds = (np.concatenate(column) for column in zip(*made, strict=True))
        return codes, scales, bounds
    exact = vectors.astype(np.float32)
    scales = np.abs(exact).max(axis=1, initial=0) / np.float32(_LARGEST_CODE)
    divisors = np.where(scales > 0, scales, np.float32(1))
    limit = _LARGEST_CODE
    codes = np.clip(np.rint(exact / divisors[:, None]), -limit, limit).astype(np.int8)
    kept = codes.astype(np.float32) * scales[:, None]
    bounds = np.stack([np.linalg.norm(exact - kept, axis=1), np.linalg.norm(kept, axis=1)], axis=1)
    return codes, scales, bounds.astype(np.float32)


def read_segment(connection: apsw.Connection, number: int) -> Segment:
    """The segment with this number, as its table row holds it."""
    query = f"SELECT {_COLUMNS} FROM main.dense WHERE number = ?"
    row: Row = next(connection.execute(query, (number,)))
    rows, dimension = row[1], row[2]
    try:
        segment = Segment(
            number=number,
            chunks=np.frombuffer(row[3], dtype="<i8"),
            documents=np.frombuffer(row[4], dtype="<i8"),
            scales=np.frombuffer(row[5], dtype="<f4"),
            bounds=np.frombuffer(row[6], dtype="<f4").reshape(rows, 2),
            codes=np.frombuffer(row[7], dtype=np.int8).reshape(rows, dimension),
            vectors=np.frombuffer(row[8], dtype="<f2").reshape(rows, dimension),
        )
    except (ValueError, TypeError) as error:
        raise damaged(f"vector segment {number}") from error
    if any(len(column) != rows for column in (segment.chunks, segment.documents, segment.scales)):
        raise damaged(f"vector segment {number}")
    return segment


def segment_numbers(connection: apsw.Connection, generation: int) -> list[int]:
    """Numbers of the segments of a generation, oldest first."""
    query = "SELECT number FROM main.dense WHERE generation = ? ORDER BY number"
    return [number for (number,) in connection.execute(query, (generation,))]


class SegmentCache:
    """Segments that a process has read, for all snapshots of one library.

    A segment never changes and its number is never used again within a library, so that the
    number is enough to know it by. Kept is, for each generation, what the newest state that was
    asked for refers to.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._identity = ""
        self._version = -1
        self._segments: dict[int, dict[int, Segment]] = {}

    def load(
        self, connection: apsw.Connection, identity: str, version: int, generation: int
    ) -> tuple[Segment, ...]:
        """The segments of the state that ``connection`` reads."""
        wanted = segment_numbers(connection, generation)
        with self._lock:
            if identity != self._identity:
                self._identity, self._version, self._segments = identity, -1, {}
            known = self._segments.get(generation, {})
            found = {
                number: known.get(number) or read_segment(connection, number) for number in wanted
            }
            if version >= self._version:
                held = set(generation_numbers(connection))
                self._segments = {
                    number: segments
                    for number, segments in self._segments.items()
                    if number in held
                }
                self._version, self._segments[generation] = version, found
        return tuple(found.values())


def search(
    segments: Sequence[Segment],
    vector: Vectors,
    limit: int,
    permitted: Numbers | None,
    live: Live,
) -> list[Scored]:
    """Best ``limit`` live chunks by dot product, of the documents in ``permitted``.

    Equal scores are in order of chunk number.
    """
    query = np.asarray(vector, dtype=np.float32)
    table = _scan(segments, query, permitted)
    if limit <= 0 or not len(table.bounds):
        return []
    taken = max(4 * limit, _LEAST_RESCORED)
    while True:
        candidates, best_passed_over = _best(table.bounds, taken)
        ranked = _ranked(segments, table, candidates, query, live, limit)
        if best_passed_over is None:
            return ranked
        if len(ranked) == limit and ranked[-1].score > best_passed_over:
            return ranked
        taken *= 4


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of all segments that may be given, end to end."""

    bounds: Floats
    """No exact score is above."""
    ends: NDArray[np.intp]
    """Where each segment's rows end."""
    rows: Sequence[NDArray[np.intp] | None]
    """Which of each segment's rows they are; ``None``: all."""

    def in_segments(self, places: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Indexes of segments, and which of their rows stand at ``places``."""
        owners = np.searchsorted(self.ends, places, side="right")
        for index in np.unique(owners).tolist():
            own = places[owners == index] - (self.ends[index - 1] if index else 0)
            rows = self.rows[index]
            yield index, own if rows is None else rows[own]


def _scan(segments: Sequence[Segment], query: Floats, permitted: Numbers | None) -> _Table:
    code, scale, (lost, _) = (part[0] for part in quantise(query[None, :]))
    norm = np.linalg.norm(query)
    bounds: list[Floats] = []
    rows: list[NDArray[np.intp] | None] = []
    for segment in segments:
        upper = np.asarray(
            simsimd.cdist(segment.codes, code[None, :], "dot", out_dtype="float32")
            if len(segment.chunks)
            else np.empty(0, dtype=np.float32)
        ).reshape(-1)
        upper = upper * (segment.scales * scale)
        # |q·x - q'·x'| ≤ |q||x - x'| + |q - q'||x'|, with ' for what the codes stand for.
        lacking, kept_norm = segment.bounds[:, 0], segment.bounds[:, 1]
        upper += norm * (lacking + _ROUNDING * kept_norm) + lost * kept_norm
        kept = None
        if permitted is not None:
            kept = np.flatnonzero(np.isin(segment.documents, permitted))
            upper = upper[kept]
        bounds.append(upper.astype(np.float32, copy=False))
        rows.append(kept)
    ends = np.cumsum([len(each) for each in bounds], dtype=np.intp)
    return _Table(np.concatenate([np.empty(0, dtype=np.float32), *bounds]), ends, rows)


def _best(bounds: Floats, count: int) -> tuple[NDArray[np.intp], float | None]:
    """Places of the ``count`` largest, and the largest of the others if there are others."""
    if count >= len(bounds):
        return np.arange(len(bounds)), None
    order = np.argpartition(-bounds, count)
    return order[:count], float(bounds[order[count]])


def _ranked(
    segments: Sequence[Segment],
    table: _Table,
    candidates: NDArray[np.intp],
    query: Floats,
    live: Live,
    limit: int,
) -> list[Scored]:
    """The best ``limit`` of the candidates that live."""
    parts = list(table.in_segments(candidates))
    numbers = np.concatenate([segments[index].chunks[rows] for index, rows in parts])
    scores = np.concatenate([_products(segments[index], rows, query) for index, rows in parts])
    order = np.lexsort((numbers, -scores))
    ranked = list(map(Scored, numbers[order].tolist(), scores[order].tolist()))
    found: list[Scored] = []
    # Most live, so that few more than are wanted have to be looked up.
    for first in range(0, len(ranked), limit):
        part = ranked[first : first + limit]
        alive = live([each.number for each in part])
        found += [each for each in part if each.number in alive]
        if len(found) >= limit:
            break
    return found[:limit]


def exact_scores(segment: Segment, rows: NDArray[np.intp], query: Floats) -> list[float]:
    """Dot products with float16 rows; the same for a row whatever others are asked for."""
    found: list[float] = _products(segment, rows, query).tolist()
    return found


def _products(segment: Segment, rows: NDArray[np.intp], query: Floats) -> NDArray[np.float64]:
    products = segment.vectors[rows].astype(np.float32) * query
    sums: NDArray[np.float64] = products.sum(axis=1, dtype=np.float64)
    return sums


def scores(
    segments: Sequence[Segment], vector: Vectors, numbers: Sequence[int]
) -> dict[int, float]:
    """Exact scores of given chunks."""
    query = np.asarray(vector, dtype=np.float32)
    wanted = np.asarray(numbers, dtype=np.int64)
    found: dict[int, float] = {}
    for segment in segments:
        held, rows = segment.positions(wanted)
        found.update(zip(wanted[held].tolist(), exact_scores(segment, rows, query), strict=True))
    return found


def vectors(segments: Sequence[Segment], numbers: Sequence[int]) -> dict[int, Vectors]:
    """The float16 rows of given chunks, as float32."""
    wanted = np.asarray(numbers, dtype=np.int64)
    found: dict[int, Vectors] = {}
    for segment in segments:
        held, rows = segment.positions(wanted)
        found.update(
            zip(wanted[held].tolist(), segment.vectors[rows].astype(np.float32), strict=True)
        )
    return found


def stored_rows(
    connection: apsw.Connection, generation: int, numbers: Sequence[int]
) -> dict[int, Vectors]:
    """As :func:`vectors`, of the few segments that hold them, without reading any whole."""
    wanted = np.asarray(numbers, dtype=np.int64)
    found: dict[int, Vectors] = {}
    query = "SELECT number, dimension, chunks FROM main.dense WHERE generation = ? ORDER BY number"
    segments: list[Row] = connection.execute(query, (generation,)).fetchall()
    for number, dimension, chunks in segments:
        held = np.frombuffer(chunks, dtype="<i8")
        places = np.searchsorted(held, wanted)
        inside = np.flatnonzero(places < len(held))
        inside = inside[held[places[inside]] == wanted[inside]]
        if not len(inside):
            continue
        size = 2 * dimension
        with connection.blob_open("main", "dense", "vectors", number, False) as blob:
            for chunk, place in zip(wanted[inside].tolist(), places[inside].tolist(), strict=True):
                blob.seek(place * size)
                found[chunk] = np.frombuffer(blob.read(size), dtype="<f2").astype(np.float32)
    return found
