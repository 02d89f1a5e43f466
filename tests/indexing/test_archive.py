"""A whole library as one file."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from indexing.conftest import Folder

from merestone import Library, SettingsError, StoreError

PUMP = "# Pump\n\nClose the valve before the pump is opened.\n"
PARTS = dict[str, bytes]


def fill(folder: Folder) -> None:
    for number in range(5):
        folder.write(f"part-{number}.md", f"{PUMP}\nThe pump {number} runs at {number}0 bar.\n")
    folder.library.sync()


def take_in(archive: Path, target: Path) -> Library:
    return Library.import_library(archive, target, embedding={"model": "hashing"})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """A folder with a library that no test changes."""
    folder = Folder(tmp_path_factory.mktemp("home"))
    fill(folder)
    yield folder
    folder.library.close()


@pytest.fixture(scope="module")
def exported(home: Folder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("out") / "library.zip"
    home.library.export_library(path)
    return path


@pytest.fixture
def archive(exported: Path, tmp_path: Path) -> Path:
    """A copy of the archive of ``home``."""
    return Path(shutil.copy2(exported, tmp_path / "library.zip"))


def rewrite(archive: Path, change: Callable[[PARTS], None]) -> None:
    """Change the parts of an archive by name."""
    with zipfile.ZipFile(archive) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    change(parts)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in parts.items():
            opened.writestr(name, data)


def with_manifest(parts: PARTS, **values: object) -> None:
    """Make the manifest fit the library's file, but for ``values``."""
    data = parts["library.db"]
    fitting = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), **values}
    parts["manifest.json"] = json.dumps({**json.loads(parts["manifest.json"]), **fitting}).encode()


def refused(archive: Path, target: Path) -> str:
    """The code by which an archive is refused; nothing is left of it anywhere."""
    before = {path for path in target.parent.rglob("*") if target not in path.parents}
    with pytest.raises(StoreError) as caught:
        take_in(archive, target)
    after = {path for path in target.parent.rglob("*") if target not in path.parents}
    assert after - before <= {target}
    assert {path.name for path in target.rglob("*")} <= {".merestone", ".gitignore", "writer.lock"}
    return caught.value.code


def test_a_library_answers_at_once_where_it_was_brought(
    home: Folder, archive: Path, tmp_path: Path
) -> None:
    wanted = home.library.search("pump 3", k=3)
    with take_in(archive, tmp_path / "there") as library:
        found = library.search("pump 3", k=3)
        assert [hit.chunk.id for hit in found.hits] == [hit.chunk.id for hit in wanted.hits]
        assert [hit.score for hit in found.hits] == [hit.score for hit in wanted.hits]
        assert library.history("part-3.md") == home.library.history("part-3.md")
        with library.snapshot() as snapshot:
            assert snapshot.check() == []


def test_the_next_sync_embeds_only_what_is_new(home: Folder, archive: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    there = Folder(tmp_path / "there")
    for path in home.path.glob("*.md"):
        there.write(path.name, path.read_bytes())
    there.write("new.md", "What is new is embedded, and nothing else.\n")
    there.library.close()
    with take_in(archive, there.path) as library:
        report = library.sync()
        assert report.embedded == 1
        assert report.documents["added"] == 1
        assert report.documents["unchanged"] == 5
        assert library.verify(every_vector=True).findings == ()


def test_documents_are_at_home_in_the_new_folder(archive: Path, tmp_path: Path) -> None:
    with take_in(archive, tmp_path / "there") as library, library.snapshot() as snapshot:
        root = (tmp_path / "there").as_uri()
        assert all(record.uri == f"{root}/{record.id}" for record in snapshot.records())


def test_the_manifest_says_what_is_in_the_archive(home: Folder, archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        manifest = json.loads(opened.read("manifest.json"))
        data = opened.read("library.db")
    status = home.library.status()
    assert manifest["sha256"] == hashlib.sha256(data).hexdigest()
    assert (manifest["format"], manifest["bytes"]) == (1, len(data))
    assert (manifest["documents"], manifest["chunks"]) == (5, status.chunks)
    assert manifest["schema"] == status.schema
    assert manifest["library_version"] == status.library_version
    assert manifest["embedder"]["fingerprint"] == status.embedder["fingerprint"]


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_its_owner_may_read_an_archive(archive: Path) -> None:
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_an_export_leaves_nothing_beside_it_and_takes_the_place_of_an_older_one(
    folder: Folder, tmp_path: Path
) -> None:
    target = tmp_path / "out" / "library.zip"
    target.parent.mkdir()
    folder.write("part.md", PUMP)
    folder.library.sync()
    folder.library.export_library(target)
    before = target.read_bytes()
    folder.write("more.md", "More of it.\n")
    folder.library.sync()
    folder.library.export_library(target)
    assert target.read_bytes() != before
    assert list(target.parent.iterdir()) == [target]


def test_a_writer_may_be_at_work_during_an_export(folder: Folder, tmp_path: Path) -> None:
    fill(folder)
    state = tmp_path / ".merestone" / "library.db"
    writer = apsw.Connection(str(state))
    writer.execute("BEGIN IMMEDIATE; UPDATE document SET title = 'half'")
    target = tmp_path / "library.zip"
    folder.library.export_library(target)
    writer.close()
    with take_in(target, tmp_path / "there") as library, library.snapshot() as snapshot:
        assert {record.title for record in snapshot.records()} == {"Pump"}


def test_no_library_is_written_over(home: Folder, archive: Path) -> None:
    before = (home.path / ".merestone" / "library.db").read_bytes()
    with pytest.raises(StoreError) as caught:
        take_in(archive, home.path)
    assert caught.value.code == "library-exists"
    assert (home.path / ".merestone" / "library.db").read_bytes() == before


def test_stored_access_goes_along_and_needs_the_owner(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\n'
        '[[access.rules]]\npaths = ["hr.md"]\nallow = ["user:ann"]\n'
    )
    (home / "hr.md").write_text(PUMP)
    target = tmp_path / "library.zip"
    with Library.open(home) as library:
        library.sync()
        with pytest.raises(SettingsError) as caught:
            library.export_library(target)
        assert caught.value.code == "owner-only"
        assert not target.exists()
        library.export_library(target, as_owner=True)
    with take_in(target, tmp_path / "there") as library:
        assert library.search("valve", principals=["user:bob"]).hits == ()
        assert library.search("valve", principals=["user:ann"]).hits != ()


@pytest.mark.parametrize(
    "name", ["../evil.db", "/etc/evil", "a/../../evil", "C:\\evil", "other.txt", "library.db/x"]
)
def test_what_does_not_belong_in_an_archive_is_refused(
    archive: Path, tmp_path: Path, name: str
) -> None:
    rewrite(archive, lambda parts: parts.update({name: b"evil"}))
    assert refused(archive, tmp_path / "there") == "not-an-archive"


def test_links_double_members_and_missing_ones_are_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        manifest, data = opened.read("manifest.json"), opened.read("library.db")
    link = zipfile.ZipInfo("library.db")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    made = tmp_path / "made.zip"
    for members in (
        [("manifest.json", manifest), (link, b"/etc/passwd")],
        [("manifest.json", manifest), ("library.db", data), ("library.db", data)],
        [("manifest.json", manifest)],
        [("library.db", data)],
        [],
    ):
        with zipfile.ZipFile(made, "w") as opened, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for member, content in members:
                opened.writestr(member, content)
        assert refused(made, tmp_path / "there") == "not-an-archive"


def test_a_file_that_would_swell_is_refused(archive: Path, tmp_path: Path) -> None:
    def swell(parts: PARTS) -> None:
        parts["library.db"] = bytes(65 << 20)
        with_manifest(parts)

    rewrite(archive, swell)
    assert archive.stat().st_size < 1 << 20
    assert refused(archive, tmp_path / "there") == "not-an-archive"


def test_more_than_there_is_room_for_is_refused(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: _Full())
    assert refused(archive, tmp_path / "there") == "disk-full"


class _Full:
    free = 10


@pytest.mark.parametrize("at", [100, 5000, -2000, -30])
def test_a_damaged_archive_is_refused(archive: Path, tmp_path: Path, at: int) -> None:
    data = bytearray(archive.read_bytes())
    data[at] ^= 0xFF
    archive.write_bytes(bytes(data))
    assert refused(archive, tmp_path / "there") in ("archive-damaged", "not-an-archive")


@pytest.mark.parametrize("keep", [0, 1, 1000, -1])
def test_an_archive_that_was_cut_short_is_refused(archive: Path, tmp_path: Path, keep: int) -> None:
    archive.write_bytes(archive.read_bytes()[:keep])
    assert refused(archive, tmp_path / "there") == "archive-damaged"


def test_another_hash_size_or_format_is_refused(archive: Path, tmp_path: Path) -> None:
    for values, code in (
        ({"sha256": "0" * 64}, "archive-damaged"),
        ({"bytes": 12}, "archive-damaged"),
        ({"format": 2}, "archive-too-new"),
        ({"surplus": 1}, "not-an-archive"),
        ({"roots": [1]}, "not-an-archive"),
        ({"bytes": "many"}, "not-an-archive"),
    ):
        rewrite(archive, lambda parts, values=values: with_manifest(parts, **values))
        assert refused(archive, tmp_path / "there") == code
        rewrite(archive, lambda parts: parts.update(_without(parts, "surplus")))


def _without(parts: PARTS, key: str) -> PARTS:
    value = json.loads(parts["manifest.json"])
    value.pop(key, None)
    value["roots"] = {}
    value["format"] = 1
    return {"manifest.json": json.dumps(value).encode()}


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON document BEGIN DELETE FROM chunk; END", "not-a-library"),
        ("CREATE VIEW v AS SELECT * FROM document", "not-a-library"),
        ("CREATE VIRTUAL TABLE v USING rtree(a, b, c)", "not-a-library"),
        ("PRAGMA application_id = 1", "not-a-library"),
        ("PRAGMA user_version = 99", "schema-too-new"),
    ],
)
def test_a_file_that_is_no_library_or_brings_statements_along_is_refused(
    archive: Path, tmp_path: Path, statement: str, code: str
) -> None:
    def spoil(parts: PARTS) -> None:
        copy = tmp_path / "copy.db"
        copy.write_bytes(parts["library.db"])
        connection = apsw.Connection(str(copy))
        connection.execute(statement).fetchall()
        connection.close()
        parts["library.db"] = copy.read_bytes()
        with_manifest(parts)

    rewrite(archive, spoil)
    assert refused(archive, tmp_path / "there") == code


def test_what_is_no_archive_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no archive")
    assert refused(tmp_path / "text.zip", tmp_path / "there") == "archive-damaged"
    assert refused(tmp_path / "nothing.zip", tmp_path / "there") == "archive-unreadable"
    with pytest.raises(StoreError):
        Library.import_library(tmp_path / "nothing.zip", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_two_copies_are_two_libraries(archive: Path, home: Folder, tmp_path: Path) -> None:
    with take_in(archive, tmp_path / "there") as library:
        library.remove(["part-0.md"])
        assert library.status().chunks < home.library.status().chunks
    assert home.library.status().documents == {"ok": 5}


@pytest.mark.parametrize("model", ["openai:any", "/srv/model", "any.onnx", 5])
def test_an_archive_cannot_say_to_whom_questions_are_sent(
    archive: Path, tmp_path: Path, model: object
) -> None:
    settings = {"model": model, "url": "http://203.0.113.1/v1", "api_key_env": "HOME"}

    def change(parts: PARTS) -> None:
        file = tmp_path / "changed.db"
        file.write_bytes(parts["library.db"])
        with contextlib.closing(apsw.Connection(str(file))) as connection:
            connection.execute("UPDATE generation SET settings = ?", (json.dumps(settings),))
        parts["library.db"] = file.read_bytes()
        with_manifest(parts)

    rewrite(archive, change)
    with (
        take_in(archive, tmp_path / "there") as library,
        library.snapshot(as_owner=True) as snapshot,
    ):
        assert snapshot.generation.embedder.settings == {}


def test_an_installed_embedder_is_opened_without_a_configuration(
    archive: Path, tmp_path: Path
) -> None:
    with Library.import_library(archive, tmp_path / "there") as library:
        assert library.embedder.name == "minilm"
        assert library.search("valve").hits
