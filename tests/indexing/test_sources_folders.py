"""Folders: links, names, ignore files, what is left out, and ids on every system."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing.conftest import Folder, open_library

from merestone import MerestoneError, SettingsError, SourceError
from merestone.indexing.sources import list_source, path_identifier, portable_name
from merestone.types import Look, Scope, SourceSettings

ALPHA = "# Alpha\n\nThe alpha pump runs at 40 bar.\n"
BETA = "# Beta\n\nThe beta pump runs at 55 bar.\n"

ROOT = os.name == "posix" and os.geteuid() == 0


def ids(folder: Path, **settings: object) -> list[str]:
    listing = list_source(SourceSettings(path=str(folder), **settings))  # type: ignore[arg-type]
    assert not listing.problems
    return [listed.id for listed in listing.documents]


# Links


def test_a_broken_link_is_told_of_once(folder: Folder) -> None:
    folder.write("a.md", ALPHA)
    (folder.path / "gone.md").symlink_to("nowhere.md")
    (folder.path / "loop.md").symlink_to("loop.md")
    first = folder.library.sync()
    assert {(p.document, p.code) for p in first.problems} == {
        ("gone.md", "broken-link"),
        ("loop.md", "broken-link"),
    }
    assert first.retry
    second = folder.library.sync()
    assert not second.retry
    assert not second.problems
    assert second.library_version == first.library_version
    assert len(folder.library.status().problems) == 2
    folder.write("nowhere.md", BETA)
    assert folder.library.sync().documents["added"] == 2
    (folder.path / "loop.md").unlink()
    assert set(folder.contents()) == {"a.md", "gone.md", "nowhere.md"}
    folder.library.sync()
    assert [p.document for p in folder.library.status().problems] == []


def test_a_link_that_breaks_keeps_what_it_led_to_until_it_is_removed(folder: Folder) -> None:
    folder.write(".away/a.md", ALPHA)
    (folder.path / "a.md").symlink_to(".away/a.md")
    folder.library.sync()
    (folder.path / ".away/a.md").unlink()
    assert folder.library.sync().retry
    assert set(folder.contents()) == {"a.md"}
    assert not folder.library.sync().retry
    (folder.path / "a.md").unlink()
    assert folder.library.sync().documents["removed"] == 1


def test_folders_behind_links_are_not_entered(folder: Folder) -> None:
    folder.write("sub/a.md", ALPHA)
    (folder.path / "sub/loop").symlink_to(folder.path)
    (folder.path / "again").symlink_to("sub")
    assert ids(folder.path) == ["sub/a.md"]


@pytest.mark.skipif(ROOT or os.name != "posix", reason="root reads everything")
def test_an_unreadable_folder_removes_nothing(folder: Folder) -> None:
    folder.write("sub/a.md", ALPHA)
    folder.write("b.md", BETA)
    folder.library.sync()
    (folder.path / "sub").chmod(0)
    try:
        report = folder.library.sync()
    finally:
        (folder.path / "sub").chmod(0o755)
    assert [p.document for p in report.problems] == ["sub"]
    assert set(folder.contents()) == {"sub/a.md", "b.md"}


def test_a_folder_that_cannot_be_listed_removes_nothing(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("sub/deep/a.md", ALPHA)
    folder.write("b.md", BETA)
    folder.library.sync()
    real = os.scandir

    def fail(path: Path) -> object:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", fail)
    report = folder.library.sync()
    assert [(p.document, p.code) for p in report.problems] == [("sub", "file-unreadable")]
    assert report.documents["removed"] == 0
    part = folder.library.sync([folder.path / "sub/deep"])
    assert [p.document for p in part.problems] == ["sub"]


# Names


@pytest.mark.skipif(sys.platform != "linux", reason="the file system takes them for one")
def test_names_that_differ_by_normalisation_or_case_are_two_documents(folder: Folder) -> None:
    names = [unicodedata.normalize(form, "Zürich.md") for form in ("NFC", "NFD")] + ["zürich.md"]
    for number, name in enumerate(names):
        folder.write(name, f"Words of file {number}.\n")
    folder.library.sync()
    assert set(folder.contents()) == set(names)
    assert not folder.library.sync(full_hash=True).changes


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_a_file_whose_name_is_no_text_is_verified_too(folder: Folder) -> None:
    with open(os.path.join(os.fsencode(folder.path), b"bad\xff #%3F.md"), "wb") as file:
        file.write(ALPHA.encode())
    folder.library.sync()
    assert folder.library.verify(as_owner=True).checked["rebuilt"] == 1


def field_case(bench_data: Path, number: str) -> dict[str, object]:
    lines = (bench_data / "field_cases" / "cases.jsonl").read_text("utf-8").splitlines()
    (case,) = (c for c in map(json.loads, lines) if c["id"].startswith(f"field-{number}-"))
    return case  # type: ignore[no-any-return]


def test_one_key_a_file_on_every_path_style(bench_data: Path) -> None:
    """Field case 04: a scan, a watcher and a caller spell one file in four ways."""
    case = field_case(bench_data, "04")
    given: dict[str, object] = case["input"]  # type: ignore[assignment]
    roots = {
        "windows": PureWindowsPath(str(given["root_windows"])),
        "posix": PurePosixPath("/kb"),
    }
    found: dict[str, set[str | None]] = {"windows": set(), "posix": set()}
    for event in given["events"]:  # type: ignore[attr-defined]
        found[event["platform"]].add(path_identifier(event["path"], roots[event["platform"]]))
    expected: dict[str, dict[str, object]] = case["expected"]  # type: ignore[assignment]
    assert found["windows"] == set(expected["windows_after_4"]["documents"])  # type: ignore[call-overload]
    assert len(found["posix"]) == expected["posix_after_6"]["distinct_documents"]
    assert path_identifier("..\\..\\secret.md", roots["windows"]) is None
    assert path_identifier("../../secret.md", roots["posix"]) is None


@pytest.mark.parametrize(
    ("path", "identifier"),
    [
        ("C:\\KB\\docs\\a.md", "docs/a.md"),
        ("c:/kb/docs/a.md", "docs/a.md"),
        ("\\\\?\\C:\\kb\\docs\\a.md", "docs/a.md"),
        ("docs\\.\\sub\\..\\a.md", "docs/a.md"),
        ("C:\\kb", ""),
        (".", ""),
        ("C:\\kbx\\a.md", None),
        ("D:\\kb\\a.md", None),
        ("D:a.md", None),
        ("\\\\host\\share\\kb\\a.md", None),
        ("\\a.md", None),
        ("..\\kb2\\a.md", None),
    ],
)
def test_windows_paths_have_ids_with_slashes(path: str, identifier: str | None) -> None:
    assert path_identifier(path, PureWindowsPath("C:\\kb")) == identifier


def test_a_share_is_a_root_too() -> None:
    root = PureWindowsPath("\\\\host\\share\\kb")
    assert path_identifier("\\\\HOST\\share\\kb\\a\\b.md", root) == "a/b.md"
    assert path_identifier("\\\\?\\UNC\\host\\share\\kb\\a.md", root) == "a.md"
    assert path_identifier("\\\\host\\other\\a.md", root) is None


_PARTS = st.lists(
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1).filter(
        lambda part: part not in (".", "..")
    ),
    min_size=1,
    max_size=4,
)


@given(_PARTS)
def test_an_id_names_its_file_again(parts: list[str]) -> None:
    path = "/".join(parts)
    assert path_identifier(path, PurePosixPath("/kb")) == portable_name(path)
    assert path_identifier(f"/kb/{path}", PurePosixPath("/kb")) == portable_name(path)
    assert path_identifier(f"/kb/x/../{path}", PurePosixPath("/kb")) == portable_name(path)
    assert path_identifier(f"/other/{path}", PurePosixPath("/kb")) is None


def test_a_path_outside_of_the_sources_is_refused(folder: Folder) -> None:
    folder.write("docs/a.md", ALPHA)
    folder.library.sync()
    for path in ("../../secret.md", "/etc/hostname", "docs/../../x.md"):
        with pytest.raises(SourceError) as caught:
            folder.library.sync([path])
        assert caught.value.code == "path-not-found"


def test_a_backslash_is_a_character_of_a_name(folder: Folder) -> None:
    if os.name != "posix":
        pytest.skip("a separator on this system")
    folder.write("docs/a\\b.md", ALPHA)
    folder.write("docs/a/b.md", BETA)
    folder.library.sync()
    assert set(folder.contents()) == {"docs/a\\b.md", "docs/a/b.md"}
    (folder.path / "docs/a\\b.md").unlink()
    assert folder.library.sync(["docs/a\\b.md"]).documents["removed"] == 1


# What is left out


def test_what_export_wrote_is_no_document(folder: Folder) -> None:
    folder.write('odd "name".md', ALPHA)
    folder.write("faq.jsonl", '{"id": "1", "document": "x", "text": "Words that stay."}\n')
    folder.library.sync()
    with (folder.path / "chunks.jsonl").open("w") as file:
        assert folder.library.export(file) == 2
    report = folder.library.sync()
    assert not report.changes
    assert set(folder.contents()) == {'odd "name".md', "faq.jsonl"}


def test_a_scan_of_a_part_looks_at_that_part(folder: Folder) -> None:
    for name in ("a/b/c.md", "a/b/d.md", "a/e.md", "f.md"):
        folder.write(name, ALPHA)
    source = SourceSettings(path=str(folder.path), name="n")
    for prefix, expected in (
        ("n:a/b", ["n:a/b/c.md", "n:a/b/d.md"]),
        ("n:a/e.md", ["n:a/e.md"]),
        ("n:", ["n:a/b/c.md", "n:a/b/d.md", "n:a/e.md", "n:f.md"]),
    ):
        listing = list_source(source, Look(Scope((prefix,))))
        assert [listed.id for listed in listing.documents] == expected


GIT_FILES: dict[str, str] = {
    ".gitignore": "*.log\n/build/\n!keep.log\ndeep/**/x.md\n  \n# c\n\\#odd.md\nend.md \r\n",
    "docs/.gitignore": "*.tmp\n!*.log\n/only.md\n",
    "a.log": "",
    "keep.log": "",
    "build/out.md": "",
    "sub/build/out.md": "",
    "deep/1/2/x.md": "",
    "#odd.md": "",
    "end.md": "",
    "docs/a.log": "",
    "docs/b.tmp": "",
    "docs/only.md": "",
    "docs/in/only.md": "",
    "private.md": "",
}


def test_gits_ignore_files_are_honoured_where_wanted_as_git_does(tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    for name, text in GIT_FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    environment = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    run: Callable[..., bytes] = lambda *words: subprocess.check_output(  # noqa: E731
        [git, *words], cwd=tmp_path, env=environment
    )
    run("init", "-q")
    (tmp_path / ".git/info/exclude").write_text("private.md\n")
    listed = run("ls-files", "-o", "-z", "--exclude-standard").decode().split("\0")
    expected = sorted(name for name in listed if name and not Path(name).name.startswith("."))
    assert ids(tmp_path, gitignore=True) == expected
    inside = [name.removeprefix("docs/") for name in expected if name.startswith("docs/")]
    assert ids(tmp_path / "docs", gitignore=True) == inside
    assert len(ids(tmp_path)) == len(GIT_FILES) - 2


def test_the_librarys_own_ignore_files_have_the_last_word(folder: Folder) -> None:
    folder.write("sub/.gitignore", "*.md\n")
    folder.write(".merestoneignore", "!kept.md\n")
    folder.write("sub/kept.md", ALPHA)
    folder.write("sub/left.md", BETA)
    assert ids(folder.path, gitignore=True) == ["sub/kept.md"]


# Sources in a configuration


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('path = "."\nurl = "memory://x"', "path and url"),
        ('url = "memory://x"\ngitignore = true', "gitignore"),
        ('sqlite = "x.db"\nkey = "id"', "query"),
        ('jsonl = "x.jsonl"', "key"),
        ('path = "."\nquery = "SELECT 1"', "query"),
        ('path = "."\nname = "a:b"', "colon"),
        ('sitemap = "memory://x"', "no address"),
        ('sql = "postgresql://me:hunter2@host/db"\nquery = "SELECT 1"\nkey = "id"', "password"),
        ('plugin = "no-such-source"', "no-such-source"),
        ('pth = "."', "pth"),
    ],
)
def test_a_source_that_cannot_be_is_refused_in_words(
    tmp_path: Path, source: str, words: str
) -> None:
    (tmp_path / "merestone.toml").write_text(f"[[sources]]\n{source}\n")
    with pytest.raises(SettingsError, match=words) as caught, open_library(tmp_path) as library:
        library.sync()
    assert "hunter2" not in str(caught.value)


def test_a_plugin_that_fails_is_one_sources_failure(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from merestone.indexing.sources.folders import FolderSource

    folder.write("a.md", ALPHA)
    folder.library.sync()

    def fail(*_: object) -> None:
        raise ZeroDivisionError("a fault of the plugin, and a secret")

    monkeypatch.setattr(FolderSource, "scan", fail)
    with pytest.raises(MerestoneError) as caught:
        folder.library.sync()
    assert caught.value.code == "source-failed"
    assert "secret" not in str(caught.value)
    assert set(folder.contents()) == {"a.md"}


def test_a_document_that_its_source_refuses_is_told_of_once_and_what_passes_each_time(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from merestone.indexing.sources.folders import FolderSource

    def refuse(*_: object) -> None:
        raise SourceError("no-such-form", "The form is unknown.", "Convert it.")

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    folder.write("a.md", ALPHA)
    with monkeypatch.context() as patched:
        patched.setattr(FolderSource, "read", refuse)
        assert folder.library.sync().documents["failed"] == 1
        assert folder.library.sync().failed_before == 1
        patched.setattr(FolderSource, "read", fail)
        assert folder.library.sync().documents["failed"] == 1
        assert folder.library.sync().documents["failed"] == 1
    assert folder.library.sync().documents["added"] == 1
    assert set(folder.contents()) == {"a.md"}


@pytest.mark.skipif(os.name != "posix", reason="times so late cannot be set there")
def test_a_time_that_64_bits_cannot_hold_is_a_late_time(folder: Folder) -> None:
    late = 2**63 // 10**9 + 10_000
    folder.write("a.md", ALPHA)
    folder.write("b.md", BETA)
    path = folder.path / "b.md"
    os.utime(path, (late, late))
    if path.stat().st_mtime_ns < 2**63:
        pytest.skip("this file system holds no time so late")
    assert folder.library.sync().documents["added"] == 2
    assert folder.library.sync().documents["unchanged"] == 2
    path.write_text(ALPHA, "utf-8")
    os.utime(path, (late, late))
    assert folder.library.sync().documents["changed"] == 1


def test_files_that_are_all_empty_now_are_gone(folder: Folder) -> None:
    for number in range(6):
        folder.write(f"{number}.md", f"{ALPHA} {number}")
    folder.library.sync()
    for number in range(5):
        folder.write(f"{number}.md", "")
    refusal = folder.library.plan().refusal
    assert refusal is not None
    assert "5 of 6 documents are gone from the sources, 5 of them as empty files" in refusal.message
    with pytest.raises(SourceError) as caught:
        folder.library.sync()
    assert caught.value.code == "large-deletion"
    assert len(folder.contents()) == 6
    assert folder.library.sync(allow_deletions=True).documents["changed"] == 5


def test_a_lower_limit_holds_for_files_that_did_not_change_too(
    folder: Folder, tmp_path: Path
) -> None:
    folder.write("a.md", ALPHA)
    past = 1_600_000_000
    os.utime(folder.path / "a.md", (past, past))
    folder.library.sync()
    with open_library(folder.path, extraction={"max_document_bytes": 20}) as library:
        report = library.sync()
        assert [problem.code for problem in report.problems] == ["document-too-large"]
        assert library.sync().failed_before == 1
        assert "alpha pump" in str(library.show("a.md")["text"])
    assert folder.library.sync().documents["failed"] == 0
    assert folder.library.sync().documents["unchanged"] == 1


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(ALPHA, "utf-8")
    (tmp_path / "merestone.toml").write_text('[[sources]]\npath = "a.md"\n', "utf-8")
    with open_library(tmp_path) as library, pytest.raises(SourceError, match="is a file, and no"):
        library.sync()
