"""The search over vectors equals a scan of all float16 rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage.building import DIMENSION, numbers_by_id, put, vector, writing

from merestone.storage import dense, dense_upkeep
from merestone.storage.dense import Segment, quantise, search
from merestone.storage.engine import SQLiteStore
from merestone.storage.schema import TABLES
from merestone.types import OWNER, Comparison, Delete, NoneOf, Scored, StoreError, Vectors


def unit_rows(count: int, dimension: int, seed: int) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def segment(number: int, chunks: np.ndarray, rows: Vectors) -> Segment:
    exact = rows.astype(np.float16)
    codes, scales, bounds = quantise(exact)
    return Segment(
        number=number,
        chunks=chunks.astype(np.int64),
        documents=(chunks % 7).astype(np.int64),
        scales=scales,
        bounds=bounds,
        codes=codes,
        vectors=exact,
    )


def all_live(numbers: Iterable[int]) -> set[int]:
    return set(numbers)


def brute_force(segments: list[Segment], query: Vectors, numbers: set[int]) -> list[Scored]:
    """Every row in float16, best first, equal scores by number."""
    found = [
        Scored(int(chunk), float((row.astype(np.float32) * query).sum(dtype=np.float64)))
        for part in segments
        for chunk, row in zip(part.chunks, part.vectors, strict=True)
        if int(chunk) in numbers
    ]
    return sorted(found, key=lambda hit: (-hit.score, hit.number))


@pytest.mark.parametrize("limit", [1, 10, 150, 5000])
@pytest.mark.parametrize("dimension", [2, 32, 384])
def test_the_best_are_those_of_a_full_scan(limit: int, dimension: int) -> None:
    rows = unit_rows(3000, dimension, 1)
    numbers = np.arange(3000)
    segments = [segment(1, numbers[:1000], rows[:1000]), segment(2, numbers[1000:], rows[1000:])]
    for query in unit_rows(4, dimension, 2):
        expected = brute_force(segments, query, set(range(3000)))[:limit]
        assert search(segments, query, limit, None, all_live) == expected


def test_it_stays_exact_where_codes_cannot_tell_rows_apart() -> None:
    base = unit_rows(1, 64, 3)[0]
    noise = np.random.default_rng(4).standard_normal((4000, 64)).astype(np.float32)
    rows = base + noise * np.float32(2e-4)
    segments = [segment(1, np.arange(4000), rows)]
    assert (
        search(segments, base, 10, None, all_live)
        == brute_force(segments, base, set(range(4000)))[:10]
    )


def test_equal_rows_are_given_by_number() -> None:
    rows = np.repeat(unit_rows(1, 16, 5), 2000, axis=0)
    segments = [segment(1, np.arange(0, 4000, 2), rows), segment(2, np.arange(1, 4000, 2), rows)]
    hits = search(segments, rows[0], 7, None, all_live)
    assert [hit.number for hit in hits] == [0, 1, 2, 3, 4, 5, 6]


def test_dead_rows_are_passed_over_until_enough_live_ones_are_found() -> None:
    rows = unit_rows(3000, 32, 6)
    segments = [segment(1, np.arange(3000), rows)]
    query = unit_rows(1, 32, 7)[0]
    order = [hit.number for hit in brute_force(segments, query, set(range(3000)))]
    alive = set(order[2500:])
    hits = search(segments, query, 20, None, lambda numbers: alive.intersection(numbers))
    assert hits == brute_force(segments, query, alive)[:20]
    assert search(segments, query, 20, None, lambda numbers: set()) == []


def test_only_permitted_documents_are_ranked() -> None:
    rows = unit_rows(2000, 32, 8)
    segments = [segment(1, np.arange(2000), rows)]
    query = unit_rows(1, 32, 9)[0]
    hits = search(segments, query, 50, np.array([3, 5]), all_live)
    permitted = {number for number in range(2000) if number % 7 in (3, 5)}
    assert hits == brute_force(segments, query, permitted)[:50]
    assert search(segments, query, 50, np.empty(0, dtype=np.int64), all_live) == []


def test_nothing_is_found_in_nothing() -> None:
    query = unit_rows(1, 8, 1)[0]
    assert search([], query, 5, None, all_live) == []
    empty = segment(1, np.empty(0, dtype=np.int64), np.empty((0, 8), dtype=np.float32))
    assert search([empty], query, 5, None, all_live) == []
    one = segment(1, np.array([4]), unit_rows(1, 8, 2))
    assert search([one], query, 0, None, all_live) == []
    zeros = np.zeros(8, dtype=np.float32)
    assert search([one], zeros, 1, None, all_live) == [Scored(4, 0.0)]


@given(
    st.lists(st.lists(st.floats(-2, 2, width=32), min_size=5, max_size=5), min_size=2, max_size=9)
)
def test_codes_never_hide_more_than_they_say(numbers: list[list[float]]) -> None:
    rows = np.array(numbers, dtype=np.float32).astype(np.float16)
    codes, scales, bounds = quantise(rows)
    kept = codes.astype(np.float64) * scales[:, None].astype(np.float64)
    lost = np.linalg.norm(rows.astype(np.float64) - kept, axis=1)
    assert np.allclose(bounds[:, 0], lost, atol=1e-6)
    assert np.allclose(bounds[:, 1], np.linalg.norm(kept, axis=1), atol=1e-5)
    assert np.abs(codes).max() <= 127


def library(store: SQLiteStore, batches: int, size: int = 5) -> None:
    with writing(store) as writer:
        for batch in range(batches):
            writer.apply([put(f"{batch}", [f"passage {batch} {n}" for n in range(size)])])


def expected_hits(store: SQLiteStore, query: Vectors) -> list[Scored]:
    """A scan over what the snapshot says is stored."""
    with store.snapshot(OWNER) as snapshot:
        rows = snapshot.vectors([number for number, _, _ in snapshot.numbers()])
    hits = [Scored(n, float((row * query).sum(dtype=np.float64))) for n, row in rows.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.number))


def test_vectors_come_back_as_float16(store: SQLiteStore) -> None:
    change = put("a", ["one", "two"])
    with writing(store) as writer:
        writer.apply([change])
    numbers = numbers_by_id(store)
    with store.snapshot(OWNER) as snapshot:
        stored = snapshot.vectors(list(numbers.values()))
        by_input = snapshot.vectors_of_inputs([row.input_hash for row in change.rows] + ["?"])
    for row in change.rows:
        assert row.vector is not None
        kept = row.vector.astype(np.float16).astype(np.float32)
        assert np.array_equal(stored[numbers[row.chunk.id]], kept)
        assert stored[numbers[row.chunk.id]].dtype == np.float32
        assert np.array_equal(by_input[row.input_hash], kept)
    assert len(by_input) == 2


def test_scores_of_given_chunks_are_those_of_the_search(store: SQLiteStore) -> None:
    library(store, 3)
    query = vector("query")
    with store.snapshot(OWNER) as snapshot:
        hits = snapshot.dense(query, 99)
        assert hits == expected_hits(store, query)
        assert snapshot.dense_scores(query, [hit.number for hit in hits]) == dict(hits)
        assert snapshot.dense_scores(query, [hits[3].number, 999]) == dict(hits[3:4])
        assert snapshot.dense_scores(query, []) == {}


def test_a_filter_comes_before_the_ranking(store: SQLiteStore) -> None:
    library(store, 12)
    query = vector("query")
    with store.snapshot(OWNER) as snapshot:
        documents = {n: chunk.document for n, chunk in snapshot.by_number(range(99)).items()}
        allowed = [
            hit for hit in expected_hits(store, query) if documents[hit.number] in ("3", "8")
        ]
        assert len(allowed) == 10
        where = Comparison("document", "in", ["3", "8"])
        assert snapshot.dense(query, 4, where) == allowed[:4]
        assert snapshot.dense(query, 99, where) == allowed
        assert len(snapshot.dense(query, 99, NoneOf(where))) == 50


def segments_of(store: SQLiteStore) -> int:
    with store.snapshot(OWNER) as snapshot:
        return len(dense.segment_numbers(snapshot._connection, snapshot.generation.number))


def test_merging_changes_no_answer(store: SQLiteStore) -> None:
    library(store, 30)
    with writing(store) as writer:
        writer.apply([Delete(str(n)) for n in range(5)])
    query = vector("query")
    before, many = expected_hits(store, query), segments_of(store)
    with store.snapshot(OWNER) as old:
        with writing(store) as writer:
            writer.maintain()
        with store.snapshot(OWNER) as new:
            assert new.library_version == old.library_version
            assert old.dense(query, 999) == before
            assert new.dense(query, 999) == before
            assert old.dense(query, 10) == before[:10]
            assert new.check() == []
    assert many == 30
    assert segments_of(store) < 8


def test_a_merge_never_takes_more_rows_than_a_segment_holds(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "MOST_BYTES", 2 * DIMENSION * 10)
    library(store, 30)
    groups: list[int] = []
    merge = dense_upkeep.merge

    def merge_and_count(connection: Any, generation: int, group: Any, live: Any) -> None:
        groups.append(sum(len(dense.read_segment(connection, n).chunks) for n in group))
        merge(connection, generation, group, live)

    monkeypatch.setattr(dense_upkeep, "merge", merge_and_count)
    with writing(store) as writer:
        writer.maintain()
    assert len(groups) > 1
    assert max(groups) <= 10
    with store.snapshot(OWNER) as snapshot:
        assert len(snapshot.dense(vector("query"), 999)) == snapshot.chunk_count()
        assert snapshot.check() == []


@given(
    st.lists(st.lists(st.integers(1, 60), max_size=8), min_size=1, max_size=4),
    st.sets(st.integers(1, 60)),
)
@settings(deadline=None)
def test_a_merge_puts_live_rows_in_order_of_chunks_as_they_were(
    parts: list[list[int]], dead: set[int]
) -> None:
    numbers = list(dict.fromkeys(number for part in parts for number in part))
    lengths = [len(part) for part in parts]
    rows = unit_rows(60, DIMENSION, 1).astype(np.float16)
    connection = apsw.Connection(":memory:")
    for statement in TABLES:
        if "TABLE dense" in statement:
            connection.execute(statement)
    for length in lengths:
        taken, numbers = numbers[:length], numbers[length:]
        if taken:
            dense.add(connection, 7, taken, [9 * n for n in taken], rows[[n - 1 for n in taken]])
    group = dense.segment_numbers(connection, 7)
    before = [dense.read_segment(connection, number) for number in group]
    expected = sorted(int(n) for part in before for n in part.chunks if n not in dead)
    if group:
        dense_upkeep.merge(connection, 7, group, lambda asked: set(asked) - dead)
    after = [dense.read_segment(connection, n) for n in dense.segment_numbers(connection, 7)]
    assert len(after) == bool(expected)
    for segment in after:
        codes, scales, bounds = quantise(rows[segment.chunks - 1])
        assert segment.chunks.tolist() == expected
        assert segment.documents.tolist() == [9 * number for number in expected]
        assert np.array_equal(segment.vectors, rows[segment.chunks - 1])
        assert np.array_equal(segment.codes, codes)
        assert np.array_equal(segment.scales, scales)
        assert np.array_equal(segment.bounds, bounds)


def test_merging_drops_dead_rows(store: SQLiteStore) -> None:
    library(store, 2, size=20)
    with writing(store) as writer:
        writer.apply([put("0", [f"passage 0 {n}" for n in range(6)])])
        writer.maintain()
    with store.snapshot(OWNER) as snapshot:
        numbers = dense.segment_numbers(snapshot._connection, snapshot.generation.number)
        stored = [dense.read_segment(snapshot._connection, number) for number in numbers]
    assert sum(len(part.chunks) for part in stored) == 26


def test_merging_ends_where_a_row_is_kept_twice(store: SQLiteStore) -> None:
    library(store, 1)
    with writing(store) as writer:
        row = next(writer._connection.execute("SELECT * FROM dense"))
        again = f"INSERT INTO dense VALUES (NULL{', ?' * (len(row) - 1)})"
        writer._connection.execute(again, row[1:])
        writer.maintain()
    assert segments_of(store) == 1


def test_cleaning_keeps_segments_within_their_size(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "MOST_BYTES", 2 * DIMENSION * 10)
    library(store, 9, size=5)
    with writing(store) as writer:
        writer.apply([put(str(n), [f"passage {n} 0"]) for n in range(9)])
        writer.maintain()
    query = vector("query")
    with store.snapshot(OWNER) as snapshot:
        numbers = dense.segment_numbers(snapshot._connection, snapshot.generation.number)
        sizes = [len(dense.read_segment(snapshot._connection, number).chunks) for number in numbers]
        assert sum(sizes) == 9
        assert max(sizes) <= 10
        assert snapshot.dense(query, 99) == expected_hits(store, query)
        assert snapshot.check() == []


def test_merging_an_emptied_library_leaves_no_segment(store: SQLiteStore) -> None:
    library(store, 5)
    with writing(store) as writer:
        writer.apply([Delete(str(n)) for n in range(5)])
        writer.maintain()
    assert segments_of(store) == 0


def test_a_large_batch_becomes_several_segments(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "MOST_BYTES", 2 * DIMENSION * 8)
    library(store, 5, size=20)
    assert segments_of(store) == 15
    query = vector("query")
    with writing(store) as writer:
        writer.maintain()
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.dense(query, 30) == expected_hits(store, query)[:30]
        assert snapshot.check() == []


def test_memory_holds_only_what_the_newest_state_refers_to(store: SQLiteStore) -> None:
    library(store, 8)
    with store.snapshot(OWNER) as snapshot:
        snapshot.dense(vector("query"), 1)
    cache = store._cache
    assert cache is not None
    assert len(cache._segments[1]) == 8
    with store.snapshot(OWNER) as old:
        with writing(store) as writer:
            writer.maintain()
            writer.apply([put("new", ["words"])])
        with store.snapshot(OWNER) as new:
            new.dense(vector("query"), 1)
        held = dict(cache._segments[1])
        assert len(held) == segments_of(store) < 8
        assert len(old.dense(vector("query"), 99)) == 40
        assert cache._segments[1] == held
    store.close()
    assert cache is not store._cache


@pytest.mark.parametrize(
    "query",
    [vector("x")[:5], np.full(DIMENSION, np.nan, dtype=np.float32), vector("x")[None, :, None]],
)
def test_a_query_vector_that_does_not_fit_is_refused(store: SQLiteStore, query: Vectors) -> None:
    library(store, 1)
    with store.snapshot(OWNER) as snapshot:
        for ask in (lambda: snapshot.dense(query, 1), lambda: snapshot.dense_scores(query, [1])):
            with pytest.raises(StoreError) as error:
                ask()
            assert error.value.code == "bad-vector"
