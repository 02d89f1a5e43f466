"""``doctor --index``: what is measured, what is chosen, and how it is told."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from merestone import Library, SettingsError
from merestone.cli.index_table import index_table
from merestone.cli.main import run
from merestone.evaluation.index import tuning as index_tuning
from merestone.evaluation.index.measures import (
    FilteredMeasure,
    Growth,
    IndexExamination,
    IndexMeasure,
    Times,
)
from merestone.evaluation.index.tuning import compare_indexes, examine_index
from merestone.evaluation.index.vectors import Examined, noisy
from merestone.storage import ann

pytestmark = pytest.mark.skipif(find_spec("usearch") is None, reason="needs usearch")

HASHING = {"model": "hashing"}


def examined(rows: int = 800, dimension: int = 16, queries: int = 10) -> Examined:
    """Vectors in clusters, a document each ten, and queries near to some of them."""
    drawn = np.random.default_rng(1)
    centres = drawn.standard_normal((rows // 40, dimension))
    found = centres[drawn.integers(len(centres), size=rows)]
    found += 0.5 * drawn.standard_normal((rows, dimension))
    unit = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16)
    documents = np.arange(rows, dtype=np.int64) // 10
    return Examined(unit, documents, noisy(unit[:queries], drawn), "noise", rows)


def test_every_setting_is_measured_against_the_scan() -> None:
    notes: list[str] = []
    found = compare_indexes(examined(), 50, links=(4, 8), widths=(30, 90), note=notes.append)
    assert [measure.name for measure in found.measures] == [
        "exact scan",
        "hnsw, 4 links, width 60",
        "hnsw, 4 links, width 90",
        "hnsw, 8 links, width 60",
        "hnsw, 8 links, width 90",
    ]
    assert found.exact.recall_10 == found.exact.recall_50 == 1
    for measure in found.measures[1:]:
        assert 0.8 <= measure.recall_50 <= 1
        assert measure.bytes > 800 * 16
        assert measure.build_seconds > 0
    assert [round(each.share, 2) for each in found.exact.filtered] == [0.5, 0.1, 0.01]
    assert found.growth is None
    assert len(notes) == 3


def test_sizes_are_told_only_of_vectors_enough() -> None:
    few = compare_indexes(examined(rows=1_999), 50, links=(4,), widths=(30,))
    assert (few.growth, few.equal_from, few.pays_from) == (None, None, None)
    assert "can't be told from 1,999 vectors" in few.findings[-2]
    assert not any("chunks on" in text for text in few.findings)
    enough = compare_indexes(examined(rows=2_000), 50, links=(4,), widths=(30,))
    assert enough.growth is not None
    assert enough.growth.rows == (500, 2_000)


def test_among_few_rows_all_are_scanned_and_found() -> None:
    found = compare_indexes(examined(), 50, links=(4,), widths=(64,))
    for each in found.measures[1].filtered:
        assert not each.asks_graph
        assert each.recall_10 == each.recall_50 == 1


def test_a_small_library_is_told_to_scan() -> None:
    found = compare_indexes(examined(), 50, links=(8,), widths=(128,))
    assert found.chosen is found.exact
    assert found.findings[0].startswith("The exact scan is right for you: ")
    assert "at 800 chunks" in found.findings[0]


TIMES = Times(10.0, 11.0, 12.0)
EXACT = IndexMeasure("exact", 0, 0, TIMES, 1, 1, 0, 0, (FilteredMeasure(0.1, TIMES, 1, 1, False),))


def graph(median: float, recall: float, width: int = 128) -> IndexMeasure:
    times = Times(median, median, median)
    filtered = (FilteredMeasure(0.1, times, 1, 1, True),)
    return IndexMeasure("hnsw", 16, width, times, 1.0, recall, 10_000_000, 20.0, filtered)


def examination(chosen: IndexMeasure, *graphs: IndexMeasure) -> IndexExamination:
    growth = Growth((25_000, 100_000), (2.0, 0.00008), (0.0, 0.1))
    return IndexExamination(
        100_000, 100_000, 384, 200, "questions", 100, 0.98, (EXACT, *graphs), chosen, growth, 9, 90
    )


def test_what_pays_is_told_with_what_it_costs() -> None:
    best = graph(1.0, 0.99)
    found = examination(best, best)
    told = " ".join(found.findings)
    assert "A graph pays" in told
    assert "1.0 ms of CPU a query instead of 10.0" in told
    assert 'index = "hnsw", hnsw_links = 16 and hnsw_width = 128' in told
    assert found.settings == {"index": "hnsw", "hnsw_links": 16, "hnsw_width": 128}


def test_a_graph_that_misses_the_target_is_not_advised() -> None:
    found = examination(EXACT, graph(1.0, 0.9))
    assert "no graph that was tried found 98% of the nearest" in found.findings[0]
    assert found.settings == {"index": "exact"}


def test_the_cheapest_that_reaches_the_target_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {64: (0.5, 0.9), 128: (1.0, 0.985), 256: (2.0, 0.999)}

    def by_graph(self: object, cover: ann.Graph, width: int, seconds: float) -> IndexMeasure:
        return graph(*costs[width], width=width)

    monkeypatch.setattr(index_tuning.Trial, "by_graph", by_graph)
    monkeypatch.setattr(index_tuning.Trial, "exact", lambda self: EXACT)
    found = compare_indexes(examined(), 10, links=(16,), widths=(64, 128, 256))
    assert found.chosen.width == 128
    found = compare_indexes(examined(), 10, links=(16,), widths=(64, 128, 256), target=0.99)
    assert found.chosen.width == 256
    found = compare_indexes(examined(), 10, links=(16,), widths=(64,))
    assert found.chosen is EXACT


def test_sizes_follow_from_how_both_grow() -> None:
    growth = Growth((1, 2), scan=(1.0, 0.0001), graph=(1.0, 0.0))
    assert index_tuning._size_of(growth, 5.0) == 50_000
    assert index_tuning._size_of(replace(growth, scan=(1.0, 0.0)), 5.0) is None
    assert index_tuning._size_of(replace(growth, scan=(9.0, 0.0)), 5.0) == 1


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    docs = folder / "docs"
    docs.mkdir()
    for n in range(30):
        (docs / f"{n}.md").write_text(f"# Number {n}\n\n" + f"Words of {n * 7} and {n}. " * 30)
    (folder / "merestone.toml").write_text(
        '[[sources]]\npath = "docs"\n[embedding]\nmodel = "hashing"\n'
        "[chunking]\nmax_tokens = 60\ntarget_tokens = 40\n"
    )
    with Library.open(folder) as library:
        library.sync()
    return folder


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """A library of its own for each test."""
    return Path(shutil.copytree(built, tmp_path / "root"))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One setting alone."""
    monkeypatch.setattr(index_tuning, "LINKS", (4,))
    monkeypatch.setattr(index_tuning, "WIDTHS", (64,))


def test_the_library_is_examined_by_held_out_vectors(root: Path, few: None) -> None:
    with Library.open(root) as library:
        found = examine_index(library, queries=5)
        chunks = library.status(as_owner=True).chunks
    assert (found.queries, found.queries_from) == (5, "noise")
    assert found.rows == chunks - 5
    assert found.stored == chunks
    assert any("held out" in text for text in found.findings)


def test_it_is_examined_by_its_questions_where_it_has_some(root: Path, few: None) -> None:
    lines = [{"id": str(n), "question": f"What of {n}?", "evidence": []} for n in range(7)]
    (root / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Library.open(root) as library:
        found = examine_index(library, rows=40)
    assert (found.queries, found.queries_from, found.rows) == (7, "questions", 40)


def test_the_command_prints_a_table_or_json(
    root: Path, few: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-C", str(root), "doctor", "--index", "--queries", "3"]) == 0
    told = capsys.readouterr()
    assert "exact scan" in told.out
    assert "hnsw, 4 links" in told.out
    assert "exact scan of" in told.err
    assert run(["-C", str(root), "doctor", "--index", "--queries", "3", "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert shape["chosen"] == {"index": "exact"}
    assert shape["measures"][0]["recall_50"] == 1
    assert set(shape["measures"][1]["times"]) == {"median", "p90", "p99"}
    assert shape["findings"]


def test_the_table_marks_what_was_chosen() -> None:
    best = graph(1.0, 0.99)
    lines = index_table(examination(best, best)).splitlines()
    assert next(line for line in lines if line.startswith(">")).split()[1] == "hnsw,"


def test_without_the_package_the_extra_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann._usearch.cache_clear()
    monkeypatch.setitem(sys.modules, "usearch", None)
    with Library.open(root) as library, pytest.raises(SettingsError) as error:
        examine_index(library)
    assert error.value.code == "extra-missing"


@pytest.mark.parametrize("wrong", [{"target": 0}, {"target": 1.5}, {"queries": 0}, {"rows": 0}])
def test_what_cannot_be_examined_is_refused(root: Path, wrong: dict[str, int]) -> None:
    with Library.open(root) as library, pytest.raises(SettingsError) as error:
        examine_index(library, **wrong)  # type: ignore[arg-type]
    assert error.value.code == "invalid-target"


def test_an_almost_empty_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One passage.")
    with Library.open(tmp_path, embedding=HASHING) as library:
        library.sync()
        with pytest.raises(SettingsError) as error:
            examine_index(library)
    assert error.value.code == "too-few-chunks"


def test_who_is_not_the_owner_learns_nothing_of_a_library_with_rules(root: Path) -> None:
    with (root / "merestone.toml").open("a") as file:
        file.write('[[access.rules]]\npaths = ["**"]\nallow = ["user:bob"]\n')
    with Library.open(root) as library:
        library.sync()
        with pytest.raises(SettingsError) as error:
            examine_index(library)
    assert error.value.code == "owner-only"
