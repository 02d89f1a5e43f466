"""Another embedder builds a new generation while the old one answers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from indexing.conftest import Folder, open_library

from merestone import Library
from merestone.embedding.hashing import HashingEmbedder
from merestone.indexing.vectors import CANARY
from merestone.types import (
    OWNER,
    EmbedderError,
    EmbeddingSettings,
    MerestoneError,
    Progress,
    SourceError,
    Vectors,
)

OTHER = {"model": "hashing", "on_overlong": "window"}
"""By its fingerprint another embedder."""


class Spy:
    """An embedder that counts what it is given, and may fail or turn its vectors."""

    def __init__(self, library: Library, refuse: str = "\0", turned: bool = False) -> None:
        self._inner = HashingEmbedder(EmbeddingSettings())
        self._refuse, self._turned = refuse, turned
        self.texts: list[str] = []
        library.__dict__["embedder"] = self

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if any(self._refuse in text for text in texts):
            raise EmbedderError("refused", "The endpoint timed out.", "Try again.")
        self.texts += [text for text in texts if text != CANARY]
        vectors = self._inner.embed_passages(texts)
        return np.roll(vectors, 1, axis=1) if self._turned else vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        vectors = self._inner.embed_queries(texts)
        return np.roll(vectors, 1, axis=1) if self._turned else vectors


@pytest.fixture
def filled(folder: Folder) -> Folder:
    for number in range(40):
        folder.write(f"{number:02}.md", f"# Part {number}\n\nThe words of number {number}.\n")
    folder.library.sync()
    return folder


def reopened(folder: Folder) -> Library:
    """The same library, configured for another embedder."""
    folder.library.close()
    folder.library = open_library(folder.path, embedding=OTHER)
    return folder.library


def whole(library: Library) -> dict[str, object]:
    """All that readers see, without numbers and versions of the library."""
    with library.snapshot() as snapshot:
        ids = {number: chunk for number, chunk, _ in snapshot.numbers()}
        assert snapshot.check() == []
        return {
            "fingerprint": snapshot.generation.embedder.fingerprint,
            "inputs": {record.id: snapshot.inputs(record.id) for record in snapshot.records()},
            "vectors": {ids[n]: row.tobytes() for n, row in snapshot.vectors(list(ids)).items()},
            "words": [(ids[n], round(s, 6)) for n, s in snapshot.lexical(["words"], 99)],
        }


def test_the_new_generation_equals_a_fresh_build(filled: Folder, tmp_path: Path) -> None:
    library = reopened(filled)
    plan = library.plan()
    report = library.sync()
    assert (plan.embedded, plan.documents) == (report.embedded, report.documents)
    assert report.embedded == 40
    assert report.documents == {
        "added": 0, "changed": 40, "moved": 0, "access": 0, "removed": 0, "unchanged": 0,
        "failed": 0,
    }  # fmt: skip
    again = library.sync()
    assert (again.embedded, again.library_version) == (0, report.library_version)
    built = whole(library)
    shutil.rmtree(tmp_path / ".merestone")
    with open_library(tmp_path, embedding=OTHER) as fresh:
        fresh.sync()
        assert whole(fresh) == built


def test_the_old_one_answers_until_the_new_one_is_whole(filled: Folder) -> None:
    before = whole(filled.library)
    filled.write("01.md", "# Part 1\n\nOther words now.\n")
    library = reopened(filled)

    def interrupt(progress: Progress) -> None:
        if progress.stage == "read" and progress.done >= 32:
            assert whole(library) == before
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.sync(progress=interrupt)
    assert whole(library) == before
    assert library.search("words of number 7", mode="dense").hits
    with library._store.snapshot(OWNER) as snapshot:
        assert snapshot.building() is not None
    report = library.sync()
    assert 0 < report.embedded < 40
    assert report.documents["changed"] == 8
    assert "Other words" in library.search("Other words now", mode="lexical").hits[0].chunk.text
    with library._store.snapshot(OWNER) as snapshot:
        assert snapshot.building() is None
    assert whole(library)["fingerprint"] != before["fingerprint"]


def test_going_back_gives_up_what_is_in_the_making(filled: Folder) -> None:
    before = whole(filled.library)
    library = reopened(filled)

    def interrupt(progress: Progress) -> None:
        if progress.stage == "read" and progress.done >= 32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.sync(progress=interrupt)
    library.close()
    filled.library = open_library(filled.path)
    report = filled.library.sync()
    assert report.embedded == 0
    assert whole(filled.library) == before
    with filled.library._store.snapshot(OWNER) as snapshot:
        assert snapshot.building() is None


def test_the_status_says_that_a_rebuild_is_due_and_how_far_it_is(filled: Folder) -> None:
    assert filled.library.status().notes == ()
    library = reopened(filled)
    (note,) = library.status().notes
    assert "the next `merestone sync` builds everything anew" in note
    plan = library.plan()
    assert {change.reason for change in plan.changes} == {"embedder"}
    # The passages are those that readers have: only their vectors are new.
    assert (plan.chunks.added, plan.chunks.kept, plan.embedded) == (0, 40, 40)

    def interrupt(progress: Progress) -> None:
        if progress.stage == "read" and progress.done >= 32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.sync(progress=interrupt)
    (note,) = library.status().notes
    assert "32 of 40 documents are built" in note
    library.sync()
    assert library.status().notes == ()


def test_edits_removals_and_renames_come_with_the_change(filled: Folder) -> None:
    library = reopened(filled)
    filled.write("new.md", "# New\n\nQuite new words.\n")
    (filled.path / "03.md").unlink()
    (filled.path / "04.md").rename(filled.path / "renamed.md")
    report = library.sync()
    documents = report.documents
    assert (documents["added"], documents["moved"], documents["removed"]) == (1, 1, 1)
    assert report.embedded == 40
    with library.snapshot() as snapshot:
        names = [record.id for record in snapshot.records()]
        assert "03.md" not in names
        assert "04.md" not in names
        record = snapshot.record("renamed.md")
        assert record is not None
        assert record.moved_from == "04.md"
        assert snapshot.history("03.md")[-1].version == ""
        # What stayed the same is no news to readers.
        assert len(snapshot.history("05.md")) == 1


def test_a_document_that_cannot_be_read_is_taken_over_as_it_was(filled: Folder) -> None:
    filled.write("07.md", b"\x89PNG\r\n\x1a\n" + bytes(200))
    library = reopened(filled)
    library.sync()
    assert "number 7" in library.search("words of number 7", mode="lexical").hits[0].chunk.text
    assert whole(library)["fingerprint"] == library.embedder.fingerprint


def test_what_the_embedder_refuses_holds_the_change_back(filled: Folder) -> None:
    before = whole(filled.library)
    library = reopened(filled)
    spy = Spy(library, refuse="number 9")
    spy._inner = HashingEmbedder(EmbeddingSettings(on_overlong="window"))
    report = library.sync()
    assert report.retry
    assert "09.md" in report.notes[0]
    assert whole(library) == before
    for number in range(10, 40):
        (filled.path / f"{number}.md").unlink()
    with pytest.raises(SourceError, match="30 of 40"):
        library.sync()
    assert whole(library) == before
    library.sync(allow_deletions=True)
    with library.snapshot() as snapshot:
        assert len([record for record in snapshot.records() if record.version]) == 9
        assert snapshot.check() == []


def test_an_embedder_that_changed_under_its_name_is_noticed(filled: Folder) -> None:
    library = filled.library
    fingerprint = library.embedder.fingerprint
    spy = Spy(library, turned=True)
    assert library.sync().embedded == 0
    assert spy.texts == []
    filled.write("new.md", "# New\n\nQuite new words.\n")
    report = library.sync()
    assert report.embedded == 41
    with library.snapshot() as snapshot:
        identity = snapshot.generation.embedder
        assert identity.base == fingerprint != identity.fingerprint
        assert snapshot.check() == []
    for number in (5, 17):
        best = library.search(f"The words of number {number}.", mode="dense").hits[0]
        assert best.chunk.document == f"{number:02}.md"
    assert library.sync().embedded == 0
    filled.write("newer.md", "# Newer\n\nEven newer words.\n")
    assert library.sync().embedded == 1


def test_an_old_embedder_that_is_gone_is_told(filled: Folder) -> None:
    filled.library.close()
    with open_library(filled.path, embedding={"model": "minilm"}) as library:
        with library._store.snapshot(OWNER) as snapshot:
            identity = snapshot.generation.embedder
        assert library._embedder_of(identity).name == "hashing"
        library._earlier.clear()
        for settings in ({"model": "no-such-model"}, {"unknown": 1}, {"model": "minilm"}):
            broken = type(identity)("other", "x", 3, settings)
            with pytest.raises(MerestoneError) as caught:
                library._embedder_of(broken)
            assert caught.value.code == "embedder-changed"
