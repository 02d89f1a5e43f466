"""The lexical index in memory: BM25 as FTS5 gives it, to the last bit, at a part of the cost.

FTS5 runs a statement for each chunk that holds a term of the question, to look up its length. Here
lengths are read once for a state of the library, and what a term adds to the scores when it is
first asked about; then a question costs some sums of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from threading import Lock
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from merestone.storage.codec import damaged
from merestone.storage.generations import add_instances, instances_table, lexical_table
from merestone.storage.lexical import bm25, is_token, match
from merestone.storage.rows import value_of
from merestone.storage.scope import temporary_tables
from merestone.types import Scored

# Of the bm25() of FTS5, whose order of operations is kept too: see "fts5_aux.c".
_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6

_MOST_POSTINGS = 3_000_000
"""Pairs of term and chunk that are remembered, 12 bytes each."""
_AVERAGES = 1
"""Row of the table of data that holds the number of rows and of all their terms."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Chunks that hold any of the terms, by ascending number."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]

    def best(self, count: int) -> list[Scored]:
        """The best ``count``; equal ones in the order of their numbers."""
        numbers, scores = self.numbers, self.scores
        others = len(scores) - count
        if others > 0:
            held = np.flatnonzero(scores >= np.partition(scores, others)[others])
            numbers, scores = numbers[held], scores[held]
        order = np.argsort(-scores, kind="stable")[:count]
        return list(map(Scored, numbers[order].tolist(), scores[order].tolist()))

    def among(self, numbers: Sequence[int]) -> Matches:
        """Those of these numbers."""
        held = np.isin(self.numbers, np.asarray(numbers, dtype=np.int64))
        return Matches(self.numbers[held], self.scores[held])


class _Gains(NamedTuple):
    """What a term adds to the scores of the chunks that hold it."""

    rows: NDArray[np.int32]
    """Their places among all chunks, ascending."""
    scores: NDArray[np.float64]


class Postings:
    """The lexical index of one state of a library, as far as it was read.

    May be used from several threads, each with a connection to that state.
    """

    def __init__(self, connection: apsw.Connection, generation: int) -> None:
        self._generation = generation
        table = lexical_table(generation)
        # As two texts: a row of Python for each chunk takes several times as long.
        ids, sizes = next(
            connection.execute(
                "SELECT group_concat(id), group_concat(hex(sz), '') "
                f"FROM (SELECT id, sz FROM {table}_docsize ORDER BY id)"
            )
        )
        self._numbers = _integers(ids)
        lengths = _varints(bytes.fromhex(sizes or ""))
        query = f"SELECT block FROM {table}_data WHERE id = ?"
        averages = _varints(value_of(connection, query, (_AVERAGES,)))
        # One number of terms for each column. A library that was once of schema 1 has two.
        self._columns = max(1, len(averages) - 1)
        if len(lengths) != self._columns * len(self._numbers):
            raise damaged("the lengths in the lexical index")
        lengths = lengths.reshape(-1, self._columns).sum(axis=1)
        self._total = int(averages[:1].sum())
        mean = float(averages[1:].sum()) / float(self._total) if self._total else 0.0
        self._norms = _K1 * (1 - _B + _B * lengths / mean) if mean else np.ones(len(lengths))
        self._held: dict[str, _Gains] = {}
        self._size = 0
        self._lock = Lock()
        self._last: tuple[tuple[str, ...], NDArray[np.float64]] | None = None

    def matches(self, connection: apsw.Connection, terms: Sequence[str]) -> Matches:
        """All chunks that hold any of ``terms``."""
        scores = self._scores(connection, terms)
        rows = np.flatnonzero(scores)
        return Matches(self._numbers[rows], scores[rows])

    def scores(
        self, connection: apsw.Connection, terms: Sequence[str], numbers: Sequence[int]
    ) -> dict[int, float]:
        """Of those of ``numbers`` that hold any of ``terms``."""
        scores = self._scores(connection, terms)
        wanted = np.asarray(numbers, dtype=np.int64)
        rows, is_held = self._rows(wanted)
        found = zip(wanted[is_held].tolist(), scores[rows].tolist(), strict=True)
        return {number: score for number, score in found if score}

    def _rows(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Places of those of ``numbers`` that are in the index, and which these are."""
        rows = np.searchsorted(self._numbers, numbers)
        is_held = rows < len(self._numbers)
        is_held[is_held] = self._numbers[rows[is_held]] == numbers[is_held]
        return rows[is_held], is_held

    def _scores(self, connection: apsw.Connection, terms: Sequence[str]) -> NDArray[np.float64]:
        """Of every chunk; 0 for one without any of the terms."""
        last, asked = self._last, tuple(terms)
        if last is not None and last[0] == asked:
            return last[1]
        found = np.zeros(len(self._numbers))
        # One after the other, as FTS5 sums them.
        for term in terms:
            gains = self._gains(connection, term)
            found[gains.rows] += gains.scores
        self._last = asked, found
        return found

    def _gains(self, connection: apsw.Connection, term: str) -> _Gains:
        with self._lock:
            known = self._held.pop(term, None)
            if known is not None:
                self._held[term] = known  # the last to go
                return known
        read = self._read if is_token(term) else self._read_by_fts5
        found = read(connection, term)
        with self._lock:
            if term not in self._held:
                self._held[term] = found
                self._size += len(found.rows)
            while self._size > _MOST_POSTINGS and len(self._held) > 1:
                self._size -= len(self._held.pop(next(iter(self._held))).rows)
        return found

    def _read(self, connection: apsw.Connection, term: str) -> _Gains:
        table = instances_table(self._generation)
        if not connection.table_exists("temp", table):
            # The generation is younger than the connection. Gone again with the snapshot.
            with temporary_tables(connection):
                add_instances(connection, self._generation)
        query = f"SELECT group_concat(doc) FROM temp.{table} WHERE term = ?"
        if self._columns > 1:
            query += " AND col = 'terms'"
        places = _integers(value_of(connection, query, (term,)))
        firsts = np.flatnonzero(np.diff(places, prepend=-1))
        times = np.diff(firsts, append=len(places))
        rows, is_held = self._rows(places[firsts])
        times, holders = times[is_held], len(rows)
        idf = log((self._total - holders + 0.5) / (holders + 0.5)) if holders < self._total else 0.0
        scores = (idf if idf > 0 else _LEAST_IDF) * (
            (times * (_K1 + 1.0)) / (times + self._norms[rows])
        )
        return _Gains(rows.astype(np.int32), scores)

    def _read_by_fts5(self, connection: apsw.Connection, term: str) -> _Gains:
        """Of a phrase, or of a term that stands in the index in another form."""
        table = lexical_table(self._generation)
        found = connection.execute(
            f"SELECT rowid, {bm25(table)} FROM {table} WHERE {table} MATCH ? ORDER BY rowid",
            (match([term]),),
        ).fetchall()
        numbers = np.array([number for number, _ in found], dtype=np.int64)
        scores = np.array([score for _, score in found], dtype=np.float64)
        rows, is_held = self._rows(numbers)
        return _Gains(rows.astype(np.int32), scores[is_held])


def _integers(text: str | None) -> NDArray[np.int64]:
    """The numbers of a text in which commas part them."""
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, dtype=np.int64)


def _varints(data: bytes) -> NDArray[np.int64]:
    """Integers as SQLite writes them: seven bits a byte, the highest first; up to eight bytes."""
    read = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(read < 0x80)
    starts = np.concatenate([np.zeros(min(1, len(ends)), dtype=np.intp), ends[:-1] + 1])
    found: NDArray[np.int64] = (read[starts] & 0x7F).astype(np.int64)
    sizes = ends - starts
    for more in range(1, int(sizes.max(initial=0)) + 1):
        longer = np.flatnonzero(sizes >= more)
        found[longer] = (found[longer] << 7) | (read[starts[longer] + more] & 0x7F)
    return found
