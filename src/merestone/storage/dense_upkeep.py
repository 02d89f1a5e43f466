"""Keeping the segments of vectors few, and free of dead rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from merestone.storage.codec import damaged
from merestone.storage.dense import INSERT, Live, Numbers, most_rows, segment_numbers
from merestone.storage.rows import value_of

_TIER_SEGMENTS = 4
"""So many segments of about one size are merged; each row is rewritten once a tier."""
_DEAD_SHARE = 4
"""Segments are cleaned when more than one row in so many is dead."""


def dead_groups(connection: apsw.Connection, generation: int, dimension: int) -> list[list[int]]:
    """Numbers of all segments, if enough of their rows are dead that all are to be rewritten.

    A group is of one segment, or of several that fit in one.
    """
    sizes = _sizes(connection, generation)
    stored = sum(sizes.values())
    query = "SELECT COUNT(*) FROM chunk WHERE generation = ?"
    alive: int = value_of(connection, query, (generation,))
    if (stored - alive) * _DEAD_SHARE <= stored:
        return []
    return _fitting(sizes.items(), dimension)


def tier_groups(connection: apsw.Connection, generation: int, dimension: int) -> list[list[int]]:
    """Numbers of segments that are worth being written as one.

    A tier holds segments of ``4^t`` to ``4^(t+1)`` rows. Those near the largest size stay. A group
    fits in one segment, however many there are: a first build leaves all of its own in one tier.
    """
    tiers: dict[int, list[tuple[int, int]]] = {}
    for number, rows in _sizes(connection, generation).items():
        if rows * 2 > most_rows(dimension):
            continue
        tiers.setdefault(max(0, rows.bit_length() - 1) // 2, []).append((number, rows))
    full = [tier for tier in tiers.values() if len(tier) >= _TIER_SEGMENTS]
    # What is left over of a tier waits for more of its size.
    return [group for tier in full for group in _fitting(tier, dimension) if len(group) > 1]


def _fitting(segments: Iterable[tuple[int, int]], dimension: int) -> list[list[int]]:
    """Numbers of segments, given with their rows, in groups that fit in one, in their order."""
    groups: list[list[int]] = []
    room = 0
    for number, rows in segments:
        if rows > room:
            groups.append([])
            room = most_rows(dimension)
        groups[-1].append(number)
        room -= rows
    return groups


def with_dead_rows(connection: apsw.Connection, generation: int, live: Live) -> list[int]:
    """Numbers of the segments that hold a row of a chunk that is gone."""
    found = []
    for number in segment_numbers(connection, generation):
        query = "SELECT chunks FROM main.dense WHERE number = ?"
        chunks = np.frombuffer(value_of(connection, query, (number,)), dtype="<i8").tolist()
        if len(live(chunks)) < len(chunks):
            found.append(number)
    return found


def _sizes(connection: apsw.Connection, generation: int) -> dict[int, int]:
    """Segment number → rows, oldest first."""
    query = "SELECT number, rows FROM main.dense WHERE generation = ? ORDER BY number"
    return dict(connection.execute(query, (generation,)))


def merge(connection: apsw.Connection, generation: int, group: Sequence[int], live: Live) -> None:
    """Write the live rows of ``group``, which fit in one segment, as a new one, and delete the old
    ones.

    Column after column, so that memory holds one of the new segment and one of an old one.
    """
    kept: list[NDArray[np.intp]] = []
    alive: list[Numbers] = []
    for number in group:
        chunks = _column(connection, number, "chunks").view("<i8").ravel()
        kept.append(np.flatnonzero(np.isin(chunks, np.array(sorted(live(chunks.tolist()))))))
        alive.append(chunks[kept[-1]])
    places = np.argsort(np.argsort(np.concatenate(alive), kind="stable"))
    if len(places):
        parts = np.split(places, np.cumsum([len(rows) for rows in kept])[:-1])
        _write(connection, generation, group, kept, parts)
    connection.executemany(
        "DELETE FROM main.dense WHERE number = ?", [(number,) for number in group]
    )


def _write(
    connection: apsw.Connection,
    generation: int,
    group: Sequence[int],
    kept: Sequence[NDArray[np.intp]],
    places: Sequence[NDArray[np.intp]],
) -> None:
    """Write a segment that has row ``kept[i][j]`` of ``group[i]`` at ``places[i][j]``. A row's
    codes depend on nothing but the row, so they are taken along."""
    rows = sum(map(len, places))
    dimension: int = value_of(
        connection, "SELECT dimension FROM main.dense WHERE number = ?", (group[0],)
    )
    widths = {
        "chunks": 8,
        "documents": 8,
        "scales": 4,
        "bounds": 8,
        "codes": dimension,
        "vectors": 2 * dimension,
    }
    empty = (apsw.zeroblob(rows * width) for width in widths.values())
    connection.execute(INSERT, (generation, rows, dimension, *empty))
    written = connection.last_insert_rowid()
    for name, width in widths.items():
        column = np.empty((rows, width), np.uint8)
        for number, chosen, there in zip(group, kept, places, strict=True):
            if len(chosen):
                column[there] = _column(connection, number, name, width)[chosen]
        with connection.blob_open("main", "dense", name, written, True) as blob:
            blob.write(column)


def _column(
    connection: apsw.Connection, number: int, name: str, width: int = 8
) -> NDArray[np.uint8]:
    """A column of a segment as rows of so many bytes."""
    query = f"SELECT rows, {name} FROM main.dense WHERE number = ?"
    rows, column = next(connection.execute(query, (number,)))
    try:
        return np.frombuffer(column, np.uint8).reshape(rows, width)
    except (ValueError, TypeError) as error:
        raise damaged(f"vector segment {number}") from error
