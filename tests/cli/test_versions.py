"""Versions and whole libraries on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.test_commands import ALPHA, Shell
from cli.test_commands import shell as shell  # the fixture

from merestone import Library
from merestone.cli.main import run
from merestone.types import NotFoundError, SettingsError


def test_history_is_one_line_a_version(shell: Shell) -> None:
    shell("sync")
    (shell.folder / "a.md").write_text(ALPHA.replace("40", "50"))
    shell("sync", "--full-hash")
    (shell.folder / "a.md").rename(shell.folder / "alpha.md")
    shell("sync")
    code, out, _ = shell("history", "a.md")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()][2] == "removed"
    assert "1 chunk came, 1 went" in out.splitlines()[1]
    assert ", from a.md" in shell("history", "alpha.md")[1]
    answer = shell.json("history", "a.md")
    assert set(answer) == {"document", "versions"}
    for version in answer["versions"]:  # type: ignore[attr-defined]
        assert {"version", "library_version", "time", "added", "removed", "moved_from"} <= set(
            version
        )


def test_resolve_says_where_a_passage_is_now(shell: Shell, tmp_path: Path) -> None:
    shell("sync")
    hit = shell.json("search", "alpha pump")["hits"][0]  # type: ignore[index]
    (tmp_path / "citation.json").write_text(json.dumps(hit["citation"]))
    text = "A notice that stands above everything.\n\n" + ALPHA
    (shell.folder / "a.md").write_text(text)
    shell("sync", "--full-hash")
    start = text.index("40 bar")
    old = f"a.md#{ALPHA.index('40 bar')}-{ALPHA.index('40 bar') + 6}@{hit['version'][:10]}"
    assert shell.json("resolve", old) == {
        "ref": old,
        "outcome": "moved",
        "document": "a.md",
        "version": shell.json("show", "a.md")["version"],
        "start": start,
        "end": start + 6,
        "text": "40 bar",
    }
    code, out, _ = shell("resolve", str(tmp_path / "citation.json"))
    assert code == 0
    assert out.startswith("moved: a.md#40-")
    (shell.folder / "a.md").unlink()
    shell("sync")
    assert shell("resolve", old)[1] == "gone: last in a.md\n"


@pytest.mark.parametrize("verb", ["resolve", "history"])
def test_what_was_never_there_is_not_found(shell: Shell, verb: str) -> None:
    shell("sync")
    code, _, err = shell(verb, "nothing.md")
    assert code == 2
    assert "[reference-not-found]" in err


def test_a_library_is_exported_and_imported(shell: Shell, tmp_path: Path) -> None:
    shell("sync")
    code, out, _ = shell("export", "--library", "library.zip")
    assert code == 0
    assert "2 documents and 2 chunks" in out
    code, out, _ = shell("import", "library.zip", "there")
    assert code == 0
    assert "2 documents with 2 chunks" in out
    (tmp_path / "there" / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    there = Shell(tmp_path / "there", shell._capture)
    assert "40 bar" in there("search", "alpha pump")[1]
    code, _, err = shell("import", "library.zip", "there")
    assert code == 2
    assert "[library-exists]" in err
    assert set(shell.json("export", "--library", "again.zip")) >= {"format", "schema", "sha256"}


def test_an_archive_goes_neither_to_stdout_nor_over_a_document(shell: Shell) -> None:
    shell("sync")
    assert shell("export", "--library", "-")[0] == 2
    assert "[file-in-use]" in shell("export", "--library", "a.md")[2]
    assert "[file-in-use]" in shell("export", "--library", "merestone.toml")[2]
    assert (shell.folder / "a.md").read_text() == ALPHA
    assert "[file-unwritable]" in shell("export", "--library", "no/such/folder.zip")[2]


def test_a_name_is_a_document_before_it_is_a_file(tmp_path: Path, capsys: Any) -> None:
    """Whether a file is there is nobody's business who asks for a document."""
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    (tmp_path / "data.json").write_text('{"pump": "The alpha pump runs at 40 bar."}\n')
    (tmp_path / "a.md#0-3").write_text("Odd name, fine text.\n")
    for arguments in (["sync"], ["show", "data.json"], ["resolve", "data.json"]):
        assert run(["-C", str(tmp_path), *arguments]) in (0, 3)
    assert "40 bar" in capsys.readouterr().out
    with Library.open(tmp_path) as library:
        with pytest.raises(NotFoundError):
            library.show(str(tmp_path / "merestone.json"))
        with pytest.raises(SettingsError, match="no reference"):
            library.show(5)  # type: ignore[arg-type]
        citation = library.search("alpha pump", mode="lexical").hits[0].to_json()
        assert "40 bar" in library.show(citation)["text"]
        assert library.resolve(citation).outcome == "same"
