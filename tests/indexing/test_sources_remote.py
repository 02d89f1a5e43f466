"""Object stores and archives, by way of fsspec."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from indexing.conftest import open_library

from merestone import Library, MerestoneError, SettingsError
from merestone.indexing.sources.remote import _stamp, _written, hide

fsspec = pytest.importorskip("fsspec")

ALPHA = "# Alpha\n\nThe alpha pump runs at 40 bar.\n"
BETA = "# Beta\n\nThe beta pump runs at 55 bar.\n"


@pytest.fixture
def memory() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def library_of(folder: Path, source: str) -> Library:
    (folder / "merestone.toml").write_text(f"[[sources]]\n{source}\n")
    return open_library(folder)


def documents(library: Library) -> set[str]:
    with library.snapshot(as_owner=True) as snapshot:
        return {record.id for record in snapshot.records() if record.version}


def test_files_of_a_store_are_kept_true(tmp_path: Path, memory: Any) -> None:
    memory.pipe_file("/wiki/a.md", ALPHA.encode())
    memory.pipe_file("/wiki/deep/er/b.md", BETA.encode())
    memory.pipe_file("/wiki/.hidden/c.md", b"hidden")
    memory.pipe_file("/wiki/deep/out/d.md", b"left out")
    memory.pipe_file("/other/e.md", b"elsewhere")
    with library_of(tmp_path, 'url = "memory://wiki"\nexclude = ["deep/out/"]') as library:
        assert library.sync().documents["added"] == 2
        assert documents(library) == {"a.md", "deep/er/b.md"}
        assert library.sync().documents["unchanged"] == 2
        memory.pipe_file("/wiki/a.md", ALPHA.replace("40", "41").encode())
        memory.mv("/wiki/deep/er/b.md", "/wiki/b.md")
        report = library.sync()
        assert {(c.document, c.change, c.moved_from) for c in report.changes} == {
            ("a.md", "changed", None),
            ("b.md", "moved", "deep/er/b.md"),
        }
        assert report.embedded == 1
        memory.rm("/wiki/b.md")
        assert library.sync().documents["removed"] == 1
        with library.snapshot(as_owner=True) as snapshot:
            record = snapshot.record("a.md")
            assert record is not None
            assert record.uri == "memory:///wiki/a.md"


def test_a_store_that_is_not_there_or_fails_loses_nothing(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe_file("/wiki/a.md", ALPHA.encode())
    memory.pipe_file("/wiki/sub/b.md", BETA.encode())
    source = 'url = "memory://wiki"\noptions = { token = "hunter2" }'
    with library_of(tmp_path, source) as library:
        library.sync()
        real = type(memory).ls

        def fail(system: Any, path: str, detail: bool = True, **rest: Any) -> Any:
            if path.endswith("sub"):
                raise PermissionError("token hunter2 may not list this")
            return real(system, path, detail=detail, **rest)

        with monkeypatch.context() as patch:
            patch.setattr(type(memory), "ls", fail)
            with pytest.raises(MerestoneError) as caught:
                library.sync()
        assert caught.value.code == "source-unreachable"
        assert "hunter2" not in str(caught.value)
        assert "hunter2" not in repr(library.settings)
        memory.rm("/wiki", recursive=True)
        with pytest.raises(MerestoneError) as caught:
            library.sync()
        assert caught.value.code == "path-not-found"
        assert documents(library) == {"a.md", "sub/b.md"}


def test_an_archive_and_a_folder_by_url_are_sources(tmp_path: Path) -> None:
    archive = tmp_path / "wiki.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.md", ALPHA)
        file.writestr("sub/b.md", BETA)
    with library_of(tmp_path, f'url = "zip://::file://{archive}"') as library:
        assert library.sync().documents["added"] == 2
        assert documents(library) == {"a.md", "sub/b.md"}
        assert library.sync().documents["unchanged"] == 2
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "c.md").write_text(BETA)
    (folder / "loop").symlink_to(folder)
    with library_of(tmp_path, f'url = "file://{folder}"') as library:
        library.sync(allow_deletions=True)
        assert documents(library) == {"c.md"}
        assert not library.verify(as_owner=True).findings


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('url = "nosuch://x"', "invalid-setting"),
        ('url = "sftp://me:hunter2@host/x"', "invalid-setting"),
        ('url = "gs://bucket/x"', "extra-missing"),
    ],
)
def test_what_cannot_be_opened_here_says_what_is_missing(
    tmp_path: Path, source: str, code: str
) -> None:
    if code == "extra-missing" and "gcsfs" in fsspec.available_protocols():
        pytest.skip("gcsfs is installed")
    with pytest.raises(SettingsError) as caught, library_of(tmp_path, source) as library:
        library.sync()
    assert caught.value.code == code
    assert "hunter2" not in str(caught.value)


def test_what_changes_with_the_contents_is_the_stamp() -> None:
    assert _stamp({"ETag": '"abc"', "size": 3, "LastModified": "x"}) == 'etag="abc", size=3'
    assert _stamp({"md5Hash": "x==", "size": 3}) == "md5hash=x==, size=3"
    assert _stamp({"size": 3, "created": 1.0}) == ""
    assert _written({"mtime": 2.5}) == 2_500_000_000
    assert _written({"created": 2.5}) == 0


def test_values_of_options_are_hidden() -> None:
    assert (
        hide("key abc of xyz", {"secret": "abc", "client": {"id": "xyz"}, "n": 1}) == "key … of …"
    )
