"""Backups that are put back, and folders that are copied or moved: the answers are right at once,
and a sync embeds only what is lacking."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from durability import documents
from durability.building import Built
from durability.libraries import contents, given, open_library, whole
from durability.processes import Forker


def synced(root: Path, forker: Forker, **job: object) -> list[str]:
    """What the embedder is given by a sync that ends well."""
    log = root.parent / "log"
    log.unlink(missing_ok=True)
    assert forker.run("sync", root=str(root), log=str(log), **job) == 0
    return given(log)


def test_an_older_library_put_back_is_brought_up_to_date(
    built: Built, forker: Forker, tmp_path: Path
) -> None:
    root, backup = tmp_path / "root", tmp_path / "backup.db"
    shutil.copytree(built.changed, root)
    state = root / ".merestone"
    shutil.copy(state / "library.db", backup)
    synced(root, forker)
    shutil.copy(backup, state / "library.db")
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_build
    assert synced(root, forker) == []  # the cache still has them
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_change


def test_an_older_library_put_back_without_a_cache_embeds_what_it_lacks(
    built: Built, forker: Forker, tmp_path: Path
) -> None:
    root, backup = tmp_path / "root", tmp_path / "backup.db"
    shutil.copytree(built.changed, root)
    state = root / ".merestone"
    shutil.copy(state / "library.db", backup)
    synced(root, forker)
    shutil.copy(backup, state / "library.db")
    (state / "embeddings.db").unlink()
    embedded = synced(root, forker)
    assert built.embedded_by_change <= set(embedded)
    assert set(embedded) <= built.embedded_by_change
    assert len(embedded) == len(set(embedded))
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_change


def killed(root: Path, forker: Forker, fault: str) -> None:
    """A sync that leaves its log behind."""
    assert forker.run("sync", root=str(root), fault=fault) < 0
    assert (root / ".merestone" / "library.db-wal").stat().st_size > 0


def test_a_library_restored_without_its_log_is_an_older_one(
    built: Built, forker: Forker, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    shutil.copytree(built.changed, root)
    killed(root, forker, "after-commit:3")
    for suffix in ("-wal", "-shm"):
        (root / ".merestone" / f"library.db{suffix}").unlink()
    with open_library(root) as library, whole(library) as snapshot:
        assert snapshot.check() == []
    assert set(synced(root, forker)) <= built.embedded_by_change
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_change


@pytest.mark.parametrize(
    "kept", [0.5, *(pytest.param(kept, marks=pytest.mark.ci) for kept in (0.1, 0.9))]
)
def test_a_library_restored_with_a_part_of_its_log_is_an_older_one(
    kept: float, built: Built, forker: Forker, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    shutil.copytree(built.changed, root)
    killed(root, forker, "after-commit:3")
    log = root / ".merestone" / "library.db-wal"
    data = log.read_bytes()
    log.write_bytes(data[: int(len(data) * kept)])
    (root / ".merestone" / "library.db-shm").unlink()
    with open_library(root) as library, whole(library) as snapshot:
        assert snapshot.check() == []
    synced(root, forker)
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_change


def test_an_older_library_beside_a_newer_log_does_not_take_it(
    built: Built, forker: Forker, tmp_path: Path
) -> None:
    """Only the file was put back, over one whose log was still beside it."""
    root, backup = tmp_path / "root", tmp_path / "backup.db"
    shutil.copytree(built.unbuilt, root)
    killed(root, forker, "after-checkpoint")
    shutil.copy(built.built / ".merestone" / "library.db", backup)
    shutil.copy(backup, root / ".merestone" / "library.db")
    with open_library(root) as library, whole(library) as snapshot:
        assert snapshot.check() == []
    synced(root, forker)
    with open_library(root) as library:
        assert contents(library, built.words) == built.after_build


@pytest.mark.parametrize("move", [True, False], ids=["moved", "copied"])
def test_a_moved_or_copied_folder_answers_at_once_and_embeds_nothing(
    move: bool, built: Built, forker: Forker, tmp_path: Path
) -> None:
    root, new = tmp_path / "root", tmp_path / "elsewhere" / "new"
    shutil.copytree(built.built, root)
    new.parent.mkdir()
    if move:
        root.rename(new)
    else:
        shutil.copytree(root, new)
    with open_library(new) as library:
        assert contents(library, built.words) == built.after_build
        hits = library.search("anchor basin").hits
        with open_library(built.built) as original:
            assert [hit.chunk.id for hit in hits] == [
                hit.chunk.id for hit in original.search("anchor basin").hits
            ]
    assert synced(new, forker) == []
    with open_library(new) as library:
        # Only the addresses of the documents are others now.
        version = library.status().library_version
        with whole(library) as snapshot:
            assert all(record.uri.startswith(new.as_uri()) for record in snapshot.records())
        examination = library.verify()
        assert examination.findings == ()
        assert examination.checked["not_rebuilt"] == 0
    assert synced(new, forker) == []
    with open_library(new) as library:
        assert library.status().library_version == version


def test_a_copied_folder_is_told_apart_from_its_origin(
    built: Built, forker: Forker, tmp_path: Path
) -> None:
    """A change in the one is a change in the one only."""
    one, other = tmp_path / "one", tmp_path / "other"
    shutil.copytree(built.built, one)
    shutil.copytree(one, other)
    documents.change(other)
    assert set(synced(other, forker)) == built.embedded_by_change
    assert synced(one, forker) == []
    with open_library(one) as library:
        assert contents(library, built.words) == built.after_build
    with open_library(other) as library:
        assert contents(library, built.words) == built.after_change
        assert library.verify().checked["not_rebuilt"] == 0
