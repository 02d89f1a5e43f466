"""Late chunking, and what a sync says of writing systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding.model_folders import WORDS, make_folder
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone import Library
from merestone.chunking import input_hash, render
from merestone.embedding.embedder import TokenEmbedder
from merestone.embedding.late import chunk_keys, chunk_vectors
from merestone.types import OWNER, SettingsError

MODES = ("late", "plain+late")
PLAIN_WORDS = [word for word in WORDS if word.isalpha()]
PARAGRAPHS = [
    "The river flows past the old mill. Cold fish swim there.",
    "People cross the bridge. It is a deep and wide river.",
    "What is the query? To boats, a passage of stone.",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads 40 tokens."""
    folder = tmp_path_factory.mktemp("model") / "bert"
    make_folder(folder, "bert")
    return folder


class Site:
    """A folder of documents over which libraries are opened again and again."""

    def __init__(self, root: Path, model: Path) -> None:
        self.root = root
        self._model = model
        self._opened: list[Library] = []

    def open(self, mode: str, **tables: dict[str, Any]) -> Library:
        embedding = {"model": str(self._model), "mode": mode, "threads": 1}
        chunking = {"max_tokens": 24, "min_tokens": 2}
        made = Library.open(self.root, embedding=embedding, chunking=chunking, **tables)
        self._opened.append(made)
        return made

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def close(self) -> None:
        for library in self._opened:
            library.close()


@pytest.fixture
def site(tmp_path: Path, model: Path) -> Iterator[Site]:
    made = Site(tmp_path, model)
    yield made
    made.close()


def keys_of(library: Library, mode: str) -> dict[str, str]:
    """Chunk id → what its vector depends on, made anew from the stored text."""
    found: dict[str, str] = {}
    with library.snapshot(as_owner=True) as snapshot:
        for record in snapshot.records():
            chunks = snapshot.chunks_of(record.id)
            spans = [(chunk.start, chunk.end) for chunk in chunks]
            inputs = [input_hash(chunk) for chunk in chunks]
            text = snapshot.text(record.id) or ""
            keys = chunk_keys(library.embedder, mode, text, spans, inputs)
            found.update({chunk.id: key for chunk, key in zip(chunks, keys, strict=True)})
    return found


def check_vectors(library: Library, mode: str) -> int:
    """Every stored vector is that of its chunk, read in the whole of its document."""
    checked = 0
    with library.snapshot(as_owner=True) as snapshot:
        numbers = {chunk: number for number, chunk, _ in snapshot.numbers()}
        vectors = snapshot.vectors(list(numbers.values()))
        for record in snapshot.records():
            chunks = snapshot.chunks_of(record.id)
            spans = [(chunk.start, chunk.end) for chunk in chunks]
            rendered = [render(chunk) for chunk in chunks]
            text = snapshot.text(record.id) or ""
            made = chunk_vectors(library.embedder, mode, text, spans, rendered)
            for chunk, vector in zip(chunks, made, strict=True):
                assert float(vectors[numbers[chunk.id]] @ vector) > 0.999
                checked += 1
    return checked


@pytest.mark.parametrize("mode", MODES)
def test_vectors_are_those_of_chunks_in_the_whole_of_their_document(site: Site, mode: str) -> None:
    site.write("a.txt", "\n\n".join(PARAGRAPHS * 3))
    site.write("b.txt", "\n\n".join(reversed(PARAGRAPHS)))
    library = site.open(mode)
    planned = library.plan()
    report = library.sync()
    keys = keys_of(library, mode)
    assert report.embedded == planned.embedded == len(set(keys.values()))
    assert check_vectors(library, mode) == len(keys) > 10
    with library.snapshot(as_owner=True) as snapshot:
        assert {chunk: value for _, chunk, value in snapshot.numbers()} == keys
    assert not library.verify(every_vector=True).findings
    assert library.sync().embedded == 0
    assert library.search("old mill", mode="dense").hits


@pytest.mark.parametrize("mode", MODES)
def test_only_what_an_edit_reaches_is_embedded_again(site: Site, mode: str) -> None:
    site.write("a.txt", "\n\n".join(PARAGRAPHS * 8))
    site.write("b.txt", "\n\n".join(PARAGRAPHS))
    library = site.open(mode)
    library.sync()
    before = set(keys_of(library, mode).values())
    site.write("a.txt", "\n\n".join([*PARAGRAPHS * 8, "Fish cross the cold mill."]))
    report = library.sync()
    after = set(keys_of(library, mode).values())
    assert 1 <= report.embedded == len(after - before) < len(after) / 2
    check_vectors(library, mode)
    # Back again: everything is in the cache.
    site.write("a.txt", "\n\n".join(PARAGRAPHS * 8))
    assert library.sync().embedded == 0
    assert set(keys_of(library, mode).values()) == before
    assert not library.verify(every_vector=True).findings


texts = st.lists(st.lists(st.sampled_from(PLAIN_WORDS), min_size=1, max_size=30), max_size=6).map(
    lambda parts: "\n\n".join(" ".join(words) + "." for words in parts)
)


@settings(max_examples=8)
@given(
    rounds=st.lists(
        st.dictionaries(st.sampled_from(["a.txt", "b.txt", "c.txt"]), texts, min_size=1),
        min_size=1,
        max_size=3,
    ),
    mode=st.sampled_from(MODES),
)
def test_as_many_are_embedded_as_there_are_windows_that_are_new(
    model: Path,
    tmp_path_factory: pytest.TempPathFactory,
    rounds: list[dict[str, str]],
    mode: str,
) -> None:
    site = Site(tmp_path_factory.mktemp("site"), model)
    known: set[str] = set()
    try:
        library = site.open(mode)
        for files in rounds:
            for path in site.root.glob("*.txt"):
                path.unlink()
            for name, text in files.items():
                site.write(name, text)
            report = library.sync(allow_deletions=True)
            keys = set(keys_of(library, mode).values())
            assert report.embedded == len(keys - known)
            known |= keys
            check_vectors(library, mode)
        assert not library.verify(every_vector=True).findings
    finally:
        site.close()


def test_an_interrupted_sync_loses_one_slice_at_most(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [f"{PARAGRAPHS[n % 3]} {PLAIN_WORDS[n % 23]}." for n in range(138)]
    site.write("a.txt", "\n\n".join(sentences))
    library = site.open("late")
    planned = library.plan().embedded
    assert planned > 32
    asked: list[int] = []
    embed = TokenEmbedder.embed_spans

    def interrupted(self: TokenEmbedder, text: str, spans: Sequence[tuple[int, int]]) -> np.ndarray:
        asked.append(len(spans))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return embed(self, text, spans)

    monkeypatch.setattr(TokenEmbedder, "embed_spans", interrupted)
    with pytest.raises(KeyboardInterrupt):
        library.sync()
    monkeypatch.setattr(TokenEmbedder, "embed_spans", embed)
    report = library.sync()
    assert max(asked) <= 32
    assert report.embedded == planned - asked[0]
    assert report.cached == asked[0]
    check_vectors(library, "late")


def test_another_mode_is_built_beside_the_one_that_answers(site: Site) -> None:
    for number, text in enumerate(PARAGRAPHS):
        site.write(f"{number}.txt", text)
    site.open("plain").sync()
    library = site.open("late")
    assert library.search("old mill", mode="dense").hits
    assert {finding.code for finding in library.verify().findings} >= {"embedder-changed"}
    report = library.sync()
    assert report.embedded == len(set(keys_of(library, "late").values()))
    check_vectors(library, "late")
    assert not library.verify(every_vector=True).findings


def test_an_embedder_without_token_vectors_is_refused_before_anything_is_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text(PARAGRAPHS[0])
    with (
        Library.open(tmp_path, embedding={"model": "hashing", "mode": "late"}) as library,
        pytest.raises(SettingsError) as caught,
    ):
        library.sync()
    assert caught.value.code == "late-needs-token-vectors"


def test_vectors_of_units_are_refused_instead_of_left_out(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        Library.open(tmp_path, embedding={"units": True})
    assert caught.value.code == "units-not-kept"


def test_a_sync_says_which_letters_the_model_was_not_trained_for(site: Site) -> None:
    library = Library.open(
        site.root,
        embedding={"model": str(site._model), "scripts": ["latin"], "threads": 1},
        chunking={"max_tokens": 24},
    )
    with library:
        site.write("a.txt", PARAGRAPHS[0])
        assert not library.sync().notes
        site.write("b.txt", "Река течёт мимо старой мельницы. " * 4)
        for report in (library.plan(), library.sync()):
            (note,) = report.notes
            assert "Cyrillic" in note
            assert "multilingual" in note
        assert not library.sync().notes
        with library._store.snapshot(OWNER) as snapshot:
            (entry,) = snapshot.journal("sync")
        assert entry.detail["notes"]
