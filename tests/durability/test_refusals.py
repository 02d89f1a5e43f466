"""Full disks, failing disks, limits and rights: the cause is named, nothing is lost, and when it
is mended the next sync goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from durability import documents
from durability.building import Built
from durability.libraries import contents, open_library, whole
from durability.processes import Forker

from merestone import Library
from merestone.storage import faults

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and mounts")
NOBODY = 65534

LIBRARY = [
    # (call, file, error); SQLite says of some calls only that they were refused.
    ("write", "library.db", "ENOSPC", {"disk-full"}),
    ("write", "library.db", "EIO", {"store-unreachable"}),
    ("write", "library.db-wal", "ENOSPC", {"disk-full"}),
    ("write", "library.db-wal", "EIO", {"store-unreachable"}),
    ("write", "library.db-shm", "ENOSPC", {"store-unreachable"}),
    ("truncate", "library.db", "EIO", {"store-unreachable"}),
    ("truncate", "library.db-shm", "EIO", {"store-unreachable"}),
    ("open", "library.db", "EIO", {"store-unreachable"}),
    ("open", "library.db-wal", "ENOSPC", {"store-unreachable"}),
    ("open", "library.db-wal", "EACCES", {"store-not-writable"}),
    ("open", "library.db-shm", "ENOSPC", {"store-unreachable"}),
    ("delete", "library.db-wal", "EIO", {""}),
    ("sync", "library.db", "EIO", {"store-unreachable"}),
    ("sync", "library.db-wal", "EIO", {"store-unreachable"}),
    ("open file", "writer.json", "ENOSPC", {"disk-full"}),
    ("open file", "writer.json", "EIO", {"store-unreachable"}),
    ("open file", "writer.lock", "ENOSPC", {"disk-full"}),
    ("open file", "writer.lock", "EACCES", {"store-not-writable"}),
]
CREATION = [
    ("write", "library.db.new", "ENOSPC", {"disk-full"}),
    ("write", "library.db.new", "EIO", {"store-unreachable"}),
    ("write", "library.db.new-journal", "ENOSPC", {"disk-full"}),
    ("open", "library.db.new", "EIO", {"store-unreachable"}),
    ("delete", "library.db.new-journal", "EIO", {"store-unreachable"}),
    ("sync", "library.db.new", "EIO", {"store-unreachable"}),
    ("rename", "library.db", "ENOSPC", {"disk-full"}),
    ("rename", "library.db", "EIO", {"store-unreachable"}),
    ("rename", "library.db", "EACCES", {"store-not-writable"}),
    ("flush", "library.db.new", "EIO", {"store-unreachable"}),
    ("flush", ".merestone", "EIO", {"store-unreachable"}),
    ("mkdir", ".merestone", "ENOSPC", {"disk-full"}),
    ("mkdir", ".merestone", "EIO", {"store-unreachable"}),
    ("mkdir", ".merestone", "EACCES", {"store-not-writable"}),
    ("open file", ".gitignore", "ENOSPC", {"disk-full"}),
]
CACHE = [
    ("write", "embeddings.db", "ENOSPC"),
    ("write", "embeddings.db-wal", "ENOSPC"),
    ("write", "embeddings.db-wal", "EIO"),
    ("write", "embeddings.db-shm", "ENOSPC"),
    ("truncate", "embeddings.db", "EIO"),
    ("truncate", "embeddings.db-shm", "EIO"),
    ("open", "embeddings.db", "EIO"),
    ("open", "embeddings.db", "ENOSPC"),
    ("open", "embeddings.db-wal", "EACCES"),
    ("open", "embeddings.db-shm", "ENOSPC"),
    ("delete", "embeddings.db-wal", "EIO"),
    ("sync", "embeddings.db-wal", "EIO"),
]
CASES = [
    *(("changed", *case, 1) for case in LIBRARY),
    *(("unbuilt", *case, 1) for case in CREATION),
    *((base, *case, {""}, 1) for base in ("unbuilt", "changed") for case in CACHE),
    # Refused in the middle of the work, after some batches were stored.
    ("changed", "write", "library.db-wal", "ENOSPC", {"disk-full"}, 60),
    ("unbuilt", "write", "library.db-wal", "ENOSPC", {"disk-full"}, 150),
    ("unbuilt", "write", "library.db-wal", "EIO", {"store-unreachable"}, 301),
    ("unbuilt", "sync", "library.db-wal", "EIO", {"store-unreachable"}, 3),
    ("unbuilt", "write", "embeddings.db-wal", "ENOSPC", {""}, 20),
]
QUICK = {
    ("changed", "write", "library.db-wal", "ENOSPC", 60),
    ("unbuilt", "write", "library.db.new", "ENOSPC", 1),
    ("unbuilt", "mkdir", ".merestone", "ENOSPC", 1),
    ("changed", "sync", "library.db-wal", "EIO", 1),
    ("unbuilt", "write", "embeddings.db-wal", "ENOSPC", 1),
    ("changed", "open file", "writer.json", "ENOSPC", 1),
}


CI_ROOM = [
    pytest.param(left, marks=pytest.mark.ci)
    for left in (0, 4096, 60_000, 350_000, 500_000, 700_000)
]
CI_SIZES = [pytest.param(size, marks=pytest.mark.ci) for size in (0, 8192, 400_000)]


@dataclass(frozen=True)
class Trial:
    """Syncs of one folder."""

    root: Path
    forker: Forker
    built: Built

    def sync(self, **limits: Any) -> dict[str, Any]:
        """What a sync under ``limits`` told."""
        return self._told("try_sync", limits)

    def search(self, **limits: Any) -> dict[str, Any]:
        """What a search told."""
        return self._told("try_search", limits)

    def _told(self, job: str, limits: dict[str, Any]) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as elsewhere:
            answer = Path(elsewhere) / "answer"
            assert not self.forker.run(job, root=str(self.root), answer=str(answer), **limits)
            return json.loads(answer.read_text())  # type: ignore[no-any-return]

    def is_whole(self) -> bool:
        """True if what is there now is sound; where nothing was stored yet, nothing is."""
        if not (self.root / ".merestone" / "library.db").exists():
            return True
        with open_library(self.root) as library, whole(library) as snapshot:
            return snapshot.check() == []

    def goes_on(self) -> bool:
        """True if a sync without limits finishes the work."""
        assert self.sync()["code"] == ""
        with open_library(self.root) as library:
            return contents(library, self.built.words) == self.built.right(self.root)


def trial(folder: Path, forker: Forker, built: Built, base: str = "changed") -> Trial:
    root = folder / "root"
    shutil.copytree(getattr(built, base), root)
    return Trial(root, forker, built)


@linux
@pytest.mark.parametrize(
    ("base", "call", "name", "error", "codes", "after"),
    [
        pytest.param(*case, marks=[] if (*case[:4], case[5]) in QUICK else pytest.mark.ci)
        for case in CASES
    ],
)
def test_a_refused_call_costs_nothing_that_was_stored(
    base: str,
    call: str,
    name: str,
    error: str,
    codes: set[str],
    after: int,
    built: Built,
    forker: Forker,
    tmp_path: Path,
) -> None:
    tried = trial(tmp_path, forker, built, base)
    told = tried.sync(call=call, name=name, error=error, after=after, once=call == "sync")
    assert told["met"]
    assert told["code"] in codes
    if told["code"]:
        assert str(tried.root) in told["message"]
    assert tried.is_whole()
    assert tried.goes_on()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of twelve megabytes."""
    with tempfile.TemporaryDirectory() as name:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=12m", "none", name],
            capture_output=True,
            check=False,
        )
        if mounted.returncode:
            pytest.skip("this process may not mount a file system")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


@linux
@pytest.mark.parametrize("left", [200_000, *CI_ROOM])
def test_a_full_disk_is_named_and_goes_on_with_room(
    left: int, built: Built, forker: Forker, small_disk: Path
) -> None:
    tried = trial(small_disk, forker, built, "unbuilt")
    filler = small_disk / "filler"
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    filler.write_bytes(bytes(free - left))
    told = tried.sync()
    assert told["code"] == "disk-full"
    filler.unlink()
    assert tried.is_whole()
    assert tried.goes_on()


@linux
def test_a_disk_that_is_mounted_read_only_is_named_and_still_searched(
    built: Built, forker: Forker, small_disk: Path
) -> None:
    subprocess.run(["mount", "-o", "remount,size=32m", str(small_disk)], check=True)
    shutil.copytree(built.changed, small_disk / "root")
    tried = Trial(small_disk / "root", forker, built)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert tried.sync()["code"] == "store-not-writable"
    with open_library(tried.root) as library:
        assert library.search("anchor").hits
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert tried.goes_on()


@pytest.mark.parametrize("size", [100_000, *CI_SIZES])
def test_a_limit_on_the_size_of_files_is_named(
    size: int, built: Built, forker: Forker, tmp_path: Path
) -> None:
    tried = trial(tmp_path, forker, built, "unbuilt")
    told = tried.sync(file_size=size)
    assert told["code"] in {"file-size-limit", "store-unreachable"}
    assert str(size) in told["message"] or "File too large" in told["message"]
    assert tried.is_whole()
    assert tried.goes_on()


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder that everyone may enter; tests run as root lend it to another user."""
    if os.geteuid():
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def give(path: Path, user: int, folders: int, files: int) -> None:
    """Set owner and rights of ``path`` and all in it."""
    for each in (path, *path.rglob("*")):
        os.chown(each, user, user)
        each.chmod(folders if each.is_dir() else files)


def test_a_read_only_folder_is_named_and_still_searched(
    built: Built, forker: Forker, unprivileged: Path
) -> None:
    tried = trial(unprivileged, forker, built)
    give(tried.root, 0, 0o755, 0o644)
    told = tried.sync(user=NOBODY)
    assert told["code"] == "store-not-writable"
    assert tried.search(user=NOBODY)["hits"] > 0
    give(tried.root, NOBODY, 0o755, 0o644)
    assert tried.sync(user=NOBODY)["code"] == ""
    with open_library(tried.root) as library:
        assert contents(library, built.words) == built.after_change


def test_a_folder_without_the_right_to_make_a_library_is_named(
    built: Built, forker: Forker, unprivileged: Path
) -> None:
    tried = trial(unprivileged, forker, built, "unbuilt")
    give(tried.root, 0, 0o755, 0o644)
    told = tried.sync(user=NOBODY)
    assert told["code"] == "store-not-writable"
    assert "Permission denied" in told["message"]
    assert tried.search(user=NOBODY)["code"] == "no-library"


def test_a_log_that_cannot_be_read_into_the_library_is_named(
    built: Built, forker: Forker, unprivileged: Path
) -> None:
    tried = trial(unprivileged, forker, built)
    assert forker.run("sync", root=str(tried.root), fault="after-commit:2") < 0
    give(tried.root, 0, 0o755, 0o644)
    told = tried.search(user=NOBODY)
    assert told["code"] == "unwritable-with-log"
    assert tried.goes_on()


def with_source(root: Path) -> Library:
    """A library beside its documents, so that they can vanish without it."""
    (root / "merestone.toml").write_text('[[sources]]\npath = "docs"\n')
    return open_library(root)


def test_a_document_that_vanishes_during_a_sync_is_named_and_then_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    documents.make(tmp_path / "docs")
    gone = tmp_path / "docs" / documents.name(5)

    def reach(point: str) -> None:
        if point == "before-read":
            gone.unlink(missing_ok=True)

    with with_source(tmp_path) as library:
        with monkeypatch.context() as patched:
            patched.setattr(faults, "reach", reach)
            report = library.sync()
        (problem,) = report.problems
        assert problem.code == "file-unreadable"
        assert "No such file" in problem.message
        assert report.documents["added"] == documents.DOCUMENTS - 1
        again = library.sync()
        assert not again.problems
        assert again.embedded == 0


def test_a_source_that_vanishes_during_a_sync_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, away = tmp_path / "docs", tmp_path / "away"
    docs.mkdir()
    documents.make(docs)
    with with_source(tmp_path) as library:
        library.sync()
        before = contents(library, ["anchor"])
        documents.change(docs)

        def reach(point: str) -> None:
            if point == "before-read" and docs.exists():
                docs.rename(away)

        with monkeypatch.context() as patched:
            patched.setattr(faults, "reach", reach)
            report = library.sync(full_hash=True)
        assert {problem.code for problem in report.problems} == {"file-unreadable"}
        kept = contents(library, ["anchor"])
        assert kept["faults"] == []
        renamed = {record.id for record in before["records"]} - set(kept["chunks"])
        assert renamed <= {documents.name(number) for number in range(13, 22)}
        away.rename(docs)
        library.sync(allow_deletions=True)
        after = contents(library, ["anchor"])
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    shutil.copytree(docs, fresh / "docs")
    with with_source(fresh) as library:
        library.sync()
        assert contents(library, ["anchor"]) == after
