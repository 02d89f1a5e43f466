"""An approximate index gives what the exact scan gives, or nearly; never what is not there."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage.building import DIMENSION, numbers_by_id, put, vector
from storage.test_dense import all_live, segment, unit_rows

from merestone.storage import ann, ann_file, ann_search, ann_upkeep, dense
from merestone.storage.ann import Graph, marks_of
from merestone.storage.ann_paths import graph_files, graph_path
from merestone.storage.ann_search import cover, search
from merestone.storage.dense import Segment
from merestone.storage.engine import SQLiteStore
from merestone.types import (
    OWNER,
    Comparison,
    Delete,
    EmbedderIdentity,
    GraphSettings,
    NoneOf,
    Scored,
    SettingsError,
    Vectors,
)

pytestmark = pytest.mark.skipif(find_spec("usearch") is None, reason="needs usearch")

WIDTH = 64


def graph_of(segments: list[Segment], links: int = 16) -> Graph:
    graph = Graph.empty(links, segments[0].codes.shape[1])
    for part in segments:
        graph.add(part.chunks, marks_of(part.scales, part.bounds), part.codes, threads=1)
    return graph


def clustered_rows(count: int, dimension: int, seed: int) -> Vectors:
    drawn = np.random.default_rng(seed)
    centres = unit_rows(max(1, count // 50), dimension, seed)
    rows = centres[drawn.integers(len(centres), size=count)]
    rows = rows + 0.6 / np.sqrt(dimension) * drawn.standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def two_segments(rows: Vectors) -> list[Segment]:
    middle, numbers = len(rows) // 3, np.arange(len(rows))
    return [
        segment(1, numbers[:middle], rows[:middle]),
        segment(2, numbers[middle:], rows[middle:]),
    ]


def test_nearly_all_of_the_best_are_found_with_their_exact_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ann_search, "_ROWS_A_PROPOSAL", 10)
    segments = two_segments(clustered_rows(3000, 64, 1))
    covered = cover(graph_of(segments), segments, 64)
    assert ann_search.pays(covered, ann_search.proposals(50, 1.0))
    found = 0
    for query in clustered_rows(30, 64, 1):
        exact = dense.search(segments, query, 50, None, all_live)
        hits = search(covered, query, 50, None, all_live, WIDTH)
        every = dict(dense.search(segments, query, 3000, None, all_live))
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.number))
        assert all(every[hit.number] == hit.score for hit in hits)
        found += len(set(hits) & set(exact))
    assert found >= 0.97 * 30 * 50


@pytest.mark.parametrize("limit", [1, 10, 200])
def test_as_many_come_back_as_there_are(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann_search, "_ROWS_A_PROPOSAL", 1)
    segments = two_segments(clustered_rows(1000, 32, 2))
    covered = cover(graph_of(segments), segments, 32)
    query = unit_rows(1, 32, 3)[0]
    alive = set(range(0, 1000, 9))
    hits = search(covered, query, limit, None, alive.intersection, WIDTH)
    assert len(hits) == min(limit, len(alive))
    assert {hit.number for hit in hits} <= alive
    permitted = np.array([2])
    hits = search(covered, query, limit, permitted, alive.intersection, WIDTH)
    assert hits == dense.search(segments, query, limit, permitted, alive.intersection)
    assert search(covered, query, limit, np.empty(0, np.int64), all_live, WIDTH) == []


def test_where_a_filter_leaves_few_every_row_is_scanned() -> None:
    segments = two_segments(clustered_rows(1400, 32, 4))
    covered = cover(graph_of(segments, links=4), segments, 32)
    assert ann_search.proposals(10, covered.share(None)) == 12
    assert ann_search.pays(covered, 12)
    assert ann_search.proposals(10, covered.share(np.array([0, 1]))) == 42
    assert not ann_search.pays(covered, 42)
    assert ann_search.proposals(10, covered.share(np.array([99]))) == 0
    query = unit_rows(1, 32, 5)[0]
    permitted = np.array([3])
    exact = dense.search(segments, query, 10, permitted, all_live)
    assert search(covered, query, 10, permitted, all_live, WIDTH) == exact


def test_rows_that_the_graph_lacks_are_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann_search, "_ROWS_A_PROPOSAL", 1)
    segments = two_segments(clustered_rows(900, 32, 6))
    covered = cover(graph_of(segments[:1]), segments, 32)
    assert len(covered.rest.chunks) == 600
    for query in segments[1].vectors[:5].astype(np.float32):
        best = search(covered, query, 3, None, all_live, WIDTH)[0]
        assert best == dense.search(segments, query, 1, None, all_live)[0]


def test_a_graph_of_another_history_proposes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann_search, "_ROWS_A_PROPOSAL", 1)
    segments = two_segments(clustered_rows(600, 32, 7))
    others = two_segments(clustered_rows(600, 32, 8))
    covered = cover(graph_of(others), segments, 32)
    assert not len(covered.numbers)
    query = unit_rows(1, 32, 9)[0]
    exact = dense.search(segments, query, 10, None, all_live)
    assert search(covered, query, 10, None, all_live, WIDTH) == exact


@settings(max_examples=40)
@given(
    known=st.sets(st.integers(0, 59), max_size=60),
    alive=st.sets(st.integers(0, 59)),
    allowed=st.none() | st.sets(st.integers(0, 6)),
    limit=st.integers(1, 70),
)
def test_any_graph_over_any_state_gives_only_what_may_be_given(
    known: set[int], alive: set[int], allowed: set[int] | None, limit: int
) -> None:
    rows = unit_rows(60, 8, 10)
    segments = two_segments(rows)
    in_graph = np.array(sorted(known), dtype=np.int64)
    graph = graph_of([segment(1, in_graph, rows[in_graph])], links=4)
    permitted = None if allowed is None else np.array(sorted(allowed), dtype=np.int64)
    covered = cover(graph, segments, 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ann_search, "_ROWS_A_PROPOSAL", 1)
        hits = search(covered, rows[0], limit, permitted, alive.intersection, 8)
    exact = dense.search(segments, rows[0], 60, permitted, alive.intersection)
    assert len(hits) == min(limit, len(exact))
    assert set(hits) <= set(exact)


def test_a_vector_of_zeros_is_near_to_all_alike() -> None:
    segments = two_segments(clustered_rows(1000, 16, 11))
    covered = cover(graph_of(segments, links=4), segments, 16)
    zeros = np.zeros(16, dtype=np.float32)
    hits = search(covered, zeros, 3, None, all_live, WIDTH)
    assert hits == [Scored(0, 0.0), Scored(1, 0.0), Scored(2, 0.0)]


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    segments = two_segments(clustered_rows(700, 16, 12))
    graph, path = graph_of(segments), tmp_path / "graph"
    ann_file.write(graph, path)
    read = ann_file.read(path, 16)
    assert read is not None
    assert np.array_equal(read.numbers, graph.numbers)
    assert np.array_equal(read.marks, graph.marks)
    code = segments[0].codes[5]
    assert np.array_equal(read.nearest(code, 20, WIDTH), graph.nearest(code, 20, WIDTH))
    assert ann_file.read(path, 17) is None
    assert ann_file.read(tmp_path / "none", 16) is None


@given(place=st.floats(0, 1), cut=st.booleans())
@settings(max_examples=30)
def test_a_damaged_file_is_as_none(
    tmp_path_factory: pytest.TempPathFactory, place: float, cut: bool
) -> None:
    path = tmp_path_factory.mktemp("graph") / "graph"
    ann_file.write(graph_of(two_segments(clustered_rows(60, 8, 13)), links=4), path)
    data = bytearray(path.read_bytes())
    at = min(len(data) - 1, int(place * len(data)))
    if cut:
        del data[at:]
    else:
        data[at] ^= 1
    path.write_bytes(data)
    assert ann_file.read(path, 8) is None


def test_a_graph_that_another_version_made_is_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graph"
    monkeypatch.setattr(ann_file, "engine", lambda: "usearch 1.0")
    ann_file.write(graph_of(two_segments(clustered_rows(60, 8, 13)), links=4), path)
    monkeypatch.undo()
    assert ann_file.read(path, 8) is None


def test_a_graph_that_cannot_be_kept_is_told_and_costs_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ann_file.write(graph_of(two_segments(clustered_rows(60, 8, 13))), tmp_path / "no" / "graph")
    assert "cannot be kept" in caplog.text


@pytest.fixture
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are made of few rows, and asked for any number."""
    monkeypatch.setattr(ann_upkeep, "LEAST_ROWS", 50)
    monkeypatch.setattr(ann_upkeep, "_LEAST_LACKING", 5)
    monkeypatch.setattr(ann_search, "_ROWS_A_PROPOSAL", 1)


class Kept:
    """A library with a graph, and the same library without one."""

    def __init__(self, state: Path, links: int = 8) -> None:
        self.state = state
        self.store = SQLiteStore(state, GraphSettings(links, 16))
        self.plain = SQLiteStore(state)

    def write(self, *changes: object, purge: bool = False, plain: bool = False) -> None:
        store = self.plain if plain else self.store
        with store.writer(EmbedderIdentity("e1", "test", DIMENSION)) as writer:
            writer.apply(changes)  # type: ignore[arg-type]
            if purge:
                writer.purge()
            writer.refresh_index()

    @property
    def graph(self) -> Graph | None:
        return ann_file.read(graph_path(self.state, 1), DIMENSION)

    def agree(self, limit: int = 10, **asked: object) -> list[Scored]:
        """What both find for a few questions; as many, and no worse than a few places."""
        every: list[Scored] = []
        for text in ("one", "two", "three"):
            with self.store.snapshot(OWNER) as mine, self.plain.snapshot(OWNER) as other:
                hits = mine.dense(vector(text), limit, **asked)  # type: ignore[arg-type]
                exact = other.dense(vector(text), limit, **asked)  # type: ignore[arg-type]
            assert len(hits) == len(exact)
            assert len(set(hits) & set(exact)) >= 0.8 * len(exact)
            every += hits
        return every


@pytest.fixture
def kept(state: Path, small_graphs: None) -> Kept:
    made = Kept(state)
    made.write(*(put(str(n), [f"passage {n} {m}" for m in range(10)]) for n in range(12)))
    return made


def test_a_sync_makes_a_graph_and_readers_use_it(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kept.graph is not None
    assert len(kept.graph) == 120
    kept.agree()
    asked: list[int] = []
    nearest = Graph.nearest
    monkeypatch.setattr(Graph, "nearest", lambda *given: asked.append(1) or nearest(*given))
    kept.agree()
    assert len(asked) == 3


def test_filters_and_gone_rows_hold_with_a_graph(kept: Kept) -> None:
    kept.write(Delete("3"), put("4", ["passage 4 1", "something else"]))
    where = Comparison("document", "in", ["1", "2", "3", "4"])
    alive = set(numbers_by_id(kept.store).values())
    assert {hit.number for hit in kept.agree(999)} == alive
    assert len(kept.agree(5, where=where)) == 15
    assert len(kept.agree(999, where=where)) == 3 * 22
    assert len(kept.agree(30, where=NoneOf(where))) == 90


def test_the_graph_is_extended_only_when_it_lacks_much(kept: Kept) -> None:
    path = graph_path(kept.state, 1)
    before = path.read_bytes()
    kept.write(put("new", ["one", "two", "three"]))
    assert path.read_bytes() == before
    with kept.store.snapshot(OWNER) as snapshot:
        assert snapshot.dense(vector("\none"), 1)[0].score > 0.99
    kept.write(put("more", [f"words {n}" for n in range(20)]))
    assert kept.graph is not None
    assert len(kept.graph) == 143
    kept.agree()


def test_the_graph_is_made_anew_when_much_of_it_is_gone(kept: Kept) -> None:
    with kept.store.writer(EmbedderIdentity("e1", "test", DIMENSION)) as writer:
        writer.apply([Delete(str(n)) for n in range(5)])
        writer.maintain()
        writer.refresh_index()
    assert kept.graph is not None
    assert len(kept.graph) == 70
    kept.agree()


def test_other_links_make_another_graph(kept: Kept) -> None:
    Kept(kept.state, links=4).write()
    assert kept.graph is not None
    assert kept.graph.links == 4


def test_losing_or_breaking_the_graph_changes_no_answer(kept: Kept) -> None:
    path = graph_path(kept.state, 1)
    path.write_bytes(path.read_bytes()[:-5])
    with kept.store.snapshot(OWNER) as mine, kept.plain.snapshot(OWNER) as other:
        assert mine.dense(vector("one"), 20) == other.dense(vector("one"), 20)
    path.unlink()
    with kept.store.snapshot(OWNER) as mine, kept.plain.snapshot(OWNER) as other:
        assert mine.dense(vector("one"), 20) == other.dense(vector("one"), 20)
    kept.write()
    assert kept.graph is not None


def test_a_purge_leaves_nothing_of_what_was_deleted_in_the_graph(kept: Kept) -> None:
    gone = {n for n, chunk in _chunks(kept).items() if chunk == "3"}
    kept.write(Delete("3"), purge=True)
    assert kept.graph is not None
    assert gone
    assert not gone & set(kept.graph.numbers.tolist())


def _chunks(kept: Kept) -> dict[int, str]:
    with kept.plain.snapshot(OWNER) as snapshot:
        return {n: chunk.document for n, chunk in snapshot.by_number(range(999)).items()}


def test_without_the_setting_no_graph_is_left(kept: Kept) -> None:
    assert graph_files(kept.state)
    kept.write(plain=True)
    assert not graph_files(kept.state)


def test_few_rows_have_no_graph(state: Path) -> None:
    made = Kept(state)
    made.write(put("a", ["one", "two"]))
    assert not graph_files(state)
    made.agree(5)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ann._usearch.cache_clear()
    monkeypatch.setitem(sys.modules, "usearch", None)
    with pytest.raises(SettingsError) as error:
        Graph.empty(8, 8)
    assert error.value.code == "extra-missing"
    assert "merestone[ann]" in error.value.remedy


def test_the_exact_scan_works_in_a_process_that_loaded_usearch_first() -> None:
    program = (
        "import usearch.index\n"
        "import numpy as np\n"
        "from merestone.storage import dense\n"
        "rows = np.eye(8, dtype=np.float16)\n"
        "codes, scales, bounds = dense.quantise(rows)\n"
        "part = dense.Segment(1, np.arange(8), np.arange(8), scales, bounds, codes, rows)\n"
        "print(dense.search([part], rows[3].astype(np.float32), 1, None, set)[0].number)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "3", done.stderr


def test_a_model_can_be_loaded_after_a_graph() -> None:
    program = "from merestone.storage import ann; ann.engine(); import onnxruntime; print('alive')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "alive", done.stderr
