"""Scratch libraries hold what the live one holds, cut by other settings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from merestone import Library, SettingsError, StoreError, compare, tune
from merestone.chunking import render
from merestone.evaluation.experiments.configurations import Configuration, grid, one_at_a_time
from merestone.evaluation.experiments.scratch import fingerprint_of_tables, open_experiments
from merestone.evaluation.runs.recording import effective_settings
from merestone.indexing.scratch import EXPERIMENTS_FOLDER, drop_scratch, scratch_state
from merestone.types import Vectors

SMALL = Configuration("small", {"chunking": {"max_tokens": 40}})
FIXED = Configuration("fixed", {"chunking": {"strategy": "fixed", "max_tokens": 60}})


class CountingEmbedder:
    """Remembers what it was given to embed; all else it hands on."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self.texts: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        vectors: Vectors = self._embedder.embed_passages(texts)
        return vectors


def sentence(number: int) -> str:
    return f"Rule {number} of the yard says that {number + 7} stones are counted each evening."


def write(folder: Path, name: str, first: int, paragraphs: int = 3) -> None:
    parts = [f"# Chapter {first}"]
    for at in range(first, first + paragraphs):
        parts += [f"## Part {at}", " ".join(sentence(at * 10 + n) for n in range(6))]
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(parts) + "\n", "utf-8")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    for number, name in enumerate(("a.md", "guide/b.md", "c.md")):
        write(tmp_path, name, number * 100)
    (tmp_path / "scan.txt").write_bytes(b"")
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        library.sync()
        yield library


def state(library: Library) -> dict[str, tuple[str, str | None, str]]:
    with library.snapshot() as snapshot:
        return {
            record.id: (record.version, snapshot.text(record.id), str(record.status))
            for record in snapshot.records()
        }


def cuts(library: Library) -> dict[str, list[tuple[str, int, int]]]:
    with library.snapshot() as snapshot:
        return {
            name: [(chunk.id, chunk.start, chunk.end) for chunk in snapshot.chunks_of(name)]
            for name in snapshot.document_ids()
        }


def test_a_scratch_library_equals_a_fresh_one_of_the_same_settings(
    library: Library, tmp_path_factory: pytest.TempPathFactory
) -> None:
    twin = tmp_path_factory.mktemp("twin")
    for name in ("a.md", "guide/b.md", "c.md"):
        (twin / name).parent.mkdir(exist_ok=True)
        (twin / name).write_bytes((Path(library.settings.root) / name).read_bytes())
    (twin / "scan.txt").write_bytes(b"")
    with (
        Library.open(twin, embedding={"model": "hashing"}, chunking={"max_tokens": 40}) as fresh,
        open_experiments(library) as experiments,
        experiments.trial(SMALL) as trial,
    ):
        fresh.sync()
        assert trial.is_scratch
        assert state(trial.library) == state(library)
        assert cuts(trial.library) == cuts(fresh)
        assert cuts(trial.library) != cuts(library)
        for query in ("stones counted each evening", "Rule 104"):
            hits, others = trial.library.search(query).hits, fresh.search(query).hits
            assert [hit.chunk.id for hit in hits] == [hit.chunk.id for hit in others]
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in others])
        assert not trial.library.verify(every_vector=True, as_owner=True).findings
        told = fingerprint_of_tables(effective_settings(trial.library.settings))
        assert Path(trial.library.settings.state).name == told


def test_documents_are_those_of_the_state_and_not_of_the_sources(library: Library) -> None:
    before = state(library)
    root = Path(library.settings.root)
    (root / "a.md").unlink()
    write(root, "d.md", 900)
    with open_experiments(library) as experiments, experiments.trial(SMALL) as trial:
        assert state(trial.library) == before


def test_retrieval_alone_is_tried_on_the_live_library(library: Library) -> None:
    lexical = Configuration("words", {"retrieval": {"dense_weight": 0.0, "focus": False}})
    with open_experiments(library) as experiments, experiments.trial(lexical) as trial:
        assert not trial.is_scratch
        assert trial.library.settings.state == library.settings.state
        assert trial.library.settings.retrieval.dense_weight == 0.0
        assert cuts(trial.library) == cuts(library)
    assert not (Path(library.settings.state) / EXPERIMENTS_FOLDER).exists()
    assert library.settings.retrieval.dense_weight != 0.0


def test_a_scratch_library_is_kept_and_brought_up_to_date(library: Library) -> None:
    root = Path(library.settings.root)
    with open_experiments(library) as experiments, experiments.trial(SMALL) as trial:
        assert trial.embedded > 0
        version = trial.library.status().library_version
    with open_experiments(library) as experiments, experiments.trial(SMALL) as trial:
        assert trial.embedded == 0
        assert trial.library.status().library_version == version
    write(root, "d.md", 900)
    (root / "a.md").unlink()
    library.sync()
    with open_experiments(library) as experiments, experiments.trial(SMALL) as trial:
        assert state(trial.library) == state(library)
        new = [chunk for name, chunk in cuts(trial.library).items() if name == "d.md"]
        assert trial.embedded == len(new[0])


def test_each_input_is_embedded_once_over_all_configurations(library: Library) -> None:
    counting = CountingEmbedder(library.embedder)
    library.__dict__["embedder"] = counting
    sizes = [24, 32, 40, 48, 64, 80, 96, 128, 160, 192]
    configurations = grid(
        [("chunking.max_tokens", sizes), ("chunking.strategy", ["auto", "fixed", "sentences"])]
    )
    assert len(configurations) == 30
    with library.snapshot() as snapshot:
        held = {render(c) for name in snapshot.document_ids() for c in snapshot.chunks_of(name)}
    inputs: set[str] = set()
    embedded = 0
    with open_experiments(library) as experiments:
        for configuration in configurations:
            with experiments.trial(configuration) as trial:
                embedded += trial.embedded
                with trial.library.snapshot() as snapshot:
                    for name in snapshot.document_ids():
                        inputs.update(render(chunk) for chunk in snapshot.chunks_of(name))
    assert len(inputs - held) > 150
    assert embedded == len(inputs - held)
    given = [text for text in counting.texts if "boundary stone" not in text]
    assert sorted(given) == sorted(inputs - held)


def test_vectors_that_only_the_rows_hold_are_not_embedded_again(library: Library) -> None:
    (Path(library.settings.state) / "embeddings.db").unlink()
    with (
        Library.open(library.settings.root, embedding={"model": "hashing"}) as other,
        open_experiments(other) as experiments,
        experiments.trial(Configuration("same cuts", {"chunking": {"min_tokens": 15}})) as trial,
    ):
        assert cuts(trial.library) == cuts(library)
        assert trial.embedded == 0


def test_other_extraction_reads_the_sources_again(library: Library) -> None:
    library.remove(["c.md"])
    extraction = Configuration("latin", {"extraction": {"default_encoding": "latin-1"}})
    with open_experiments(library) as experiments, experiments.trial(extraction) as trial:
        assert trial.is_scratch
        assert state(trial.library) == state(library)


def test_a_live_library_of_other_settings_is_told_of(library: Library) -> None:
    with Library.open(
        library.settings.root, embedding={"model": "hashing"}, chunking={"max_tokens": 50}
    ) as other:
        as_it_is = Configuration("as it is")
        with open_experiments(other) as experiments, experiments.trial(as_it_is) as trial:
            assert "cut by other settings" in trial.notes[0]
    with open_experiments(library) as experiments, experiments.trial(as_it_is) as trial:
        assert trial.notes == ()


def test_what_cannot_be_is_refused_before_anything_is_made(library: Library) -> None:
    with open_experiments(library) as experiments:
        for tables, code in (
            ({"chunking": {"max_token": 40}}, "unknown-setting"),
            ({"chunking": {"max_tokens": 100_000}}, "max-tokens-too-large"),
            ({"retrieval": {"dense_weight": 2.0}}, "invalid-setting"),
        ):
            with pytest.raises(SettingsError) as caught:
                experiments.check(Configuration("wrong", tables))
            assert caught.value.code == code
    assert not (Path(library.settings.state) / EXPERIMENTS_FOLDER).exists()


def test_a_library_that_was_never_synced_is_refused(tmp_path: Path) -> None:
    with (
        Library.open(tmp_path, embedding={"model": "hashing"}) as library,
        pytest.raises(StoreError, match="no library"),
        open_experiments(library),
    ):
        pass


def test_only_the_owner_copies_documents_that_are_not_for_all(tmp_path: Path) -> None:
    write(tmp_path, "a.md", 1)
    write(tmp_path, "hr/b.md", 100)
    rules = [
        {"paths": ["**"], "allow": ["public"]},
        {"paths": ["hr/**"], "allow": ["user:bob"]},
    ]
    access = {"rules": rules}
    with Library.open(tmp_path, embedding={"model": "hashing"}, access=access) as library:
        library.sync()
        with pytest.raises(SettingsError) as caught, open_experiments(library):
            pass
        assert caught.value.code == "owner-only"
        with open_experiments(library, as_owner=True) as experiments:
            with experiments.trial(SMALL) as trial:
                with trial.library.snapshot() as snapshot:
                    assert snapshot.document_ids() == ["a.md"]
                with trial.library.snapshot(principals=["user:bob"]) as snapshot:
                    assert snapshot.document_ids() == ["a.md", "hr/b.md"]
                folder = Path(trial.library.settings.state)
            assert folder.stat().st_mode & 0o077 == 0
            assert folder.parent.stat().st_mode & 0o077 == 0


def test_tidying_drops_what_was_long_not_used_and_purging_all(library: Library) -> None:
    with open_experiments(library) as experiments:
        for configuration in (SMALL, FIXED):
            with experiments.trial(configuration):
                pass
    state_folder = Path(library.settings.state)
    broken_off = scratch_state(state_folder, "0" * 32)
    assert library.gc()["before"]["experiments"] > 0
    assert not broken_off.exists()
    kept = sorted((state_folder / EXPERIMENTS_FOLDER).iterdir())
    assert len(kept) == 2
    (kept[0] / "used").write_text("2020-01-01", "utf-8")
    assert drop_scratch(state_folder, everything=False, today=date(2020, 1, 31)) == 0
    assert drop_scratch(state_folder, everything=False, today=date(2020, 2, 1)) == 1
    library.gc(purge=True)
    assert list((state_folder / EXPERIMENTS_FOLDER).iterdir()) == []


def test_a_value_of_none_takes_back_what_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\n[chunking]\nmax_tokens = 100\ntarget_tokens = 90\n'
        "[retrieval]\ndense_weight = 0.9\n",
        "utf-8",
    )
    with Library.open(tmp_path) as library:
        varied = library.varied(
            {
                "chunking": {"max_tokens": 50, "target_tokens": None},
                "retrieval": {"dense_weight": None},
            }
        )
        assert (varied.chunking.max_tokens, varied.chunking.target_tokens) == (50, 40)
        assert varied.retrieval.dense_weight == 0.5
        assert library.settings.chunking.target_tokens == 90


def test_settings_vary_one_at_a_time_or_in_a_grid() -> None:
    choices: list[tuple[str, list[object]]] = [
        ("chunking.max_tokens", [128, 256]),
        ("retrieval.focus", [True, False]),
    ]
    assert [each.words for each in one_at_a_time(choices)] == [
        "chunking.max_tokens=128",
        "chunking.max_tokens=256",
        "retrieval.focus=true",
        "retrieval.focus=false",
    ]
    combined = grid(choices)
    assert len({each.fingerprint for each in combined}) == 4
    assert combined[1].tables == {"chunking": {"max_tokens": 128}, "retrieval": {"focus": False}}


@pytest.mark.parametrize("verb", [compare, tune])
def test_missing_statistics_are_told_before_the_work(
    verb: Callable[..., object], library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    asked: list[object] = []
    given = [[Configuration("now"), SMALL], []] if verb is compare else [[]]
    with pytest.raises(SettingsError, match="scipy") as raised:
        verb(library, *given, progress=asked.append)
    assert raised.value.code == "extra-missing"
    assert asked == []
