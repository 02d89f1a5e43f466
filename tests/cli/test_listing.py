"""What there is: documents, runs; and the command by another name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from merestone import Budget, Library, Questions, SettingsError, field
from merestone.cli.main import run
from merestone.cli.verdicts import told_verdict
from merestone.evaluation.questions import Evidence, Question
from merestone.retrieval.relevance import shown_relevance


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\n[evaluation]\nbudgets = [50]\n'
        '[[access.rules]]\npaths = ["**"]\nallow = ["public"]\n'
        '[[access.rules]]\npaths = ["hr/**"]\nallow = ["user:bob"]\n'
    )
    (tmp_path / "hr").mkdir()
    (tmp_path / "a.md").write_text("---\nyear: 2024\n---\n\n# Pumps\n\nThe pump is blue.\n")
    (tmp_path / "hr" / "b.md").write_text("---\nyear: 2025\n---\n\n# Pay\n\nThe pay is fair.\n")
    (tmp_path / "c.txt").write_bytes(b"")
    pump = Question("pump", "Is the pump blue?", (Evidence("a.md", quote="is blue"),))
    Questions([pump, Question("none", "Who?")]).save(tmp_path / "questions.jsonl")
    with Library.open(tmp_path) as library:
        library.sync()
    return tmp_path


def ask(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(["-C", str(folder), *arguments]) == code
    out = capsys.readouterr()
    return out.out if code == 0 else out.err


def test_documents_are_listed_for_who_may_read_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ask(folder, capsys, "status", "--documents")
    assert told.splitlines() == ["a.md  (text/markdown)  Pumps", "c.txt  (text/plain, empty)"]
    assert "hr/b.md" in ask(folder, capsys, "status", "--documents", "--as", "user:bob")
    arguments = ("status", "--documents", "--where", "year >= 2024", "--json")
    (only,) = json.loads(ask(folder, capsys, *arguments))
    assert (only["document"], only["title"], only["metadata"]) == ("a.md", "Pumps", {"year": 2024})
    assert len(json.loads(ask(folder, capsys, *arguments, "--as-owner"))) == 2
    assert "none that matches" in ask(folder, capsys, "status", "--documents", "--where", "year=1")
    ask(folder, capsys, "status", "--where", "year = 1", code=2)
    with Library.open(folder) as library:
        found = library.documents(as_owner=True, where=field("year") > 2024)
    assert [record.id for record in found] == ["hr/b.md"]


def test_runs_are_listed_for_who_may_see_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No run is kept" in ask(folder, capsys, "report", "--list")
    ask(folder, capsys, "eval", "--name", "mine")
    ask(folder, capsys, "eval", "--name", "all", "--as-owner")
    shown = json.loads(ask(folder, capsys, "report", "--list", "--as-owner", "--json"))
    assert [each["name"] for each in shown] == ["all", "mine"]
    assert shown[1]["questions"] == 2
    public = ask(folder, capsys, "report", "--list")
    assert "mine" in public
    assert "all" not in public.split()
    ask(folder, capsys, "report", "--list", "last", code=2)


@pytest.mark.parametrize("target", ["questions.jsonl", "a.md", "merestone.toml"])
def test_an_export_writes_over_nothing_that_is_ours(
    target: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / target).read_bytes()
    for verb in (
        ["questions", "export", target, "--format", "jsonl"],
        ["eval", "--csv", target],
    ):
        assert "[file-in-use]" in ask(folder, capsys, *verb, code=2)
    assert (folder / target).read_bytes() == before


def test_a_named_file_of_questions_is_not_written_over_either(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "queries.jsonl").write_bytes((folder / "questions.jsonl").read_bytes())
    arguments = ["questions", "export", ".", "--format", "beir", "--file", "queries.jsonl"]
    assert "[file-in-use]" in ask(folder, capsys, *arguments, code=2)
    assert not (folder / "corpus.jsonl").exists()


def test_questions_without_judgement_are_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-C", str(folder), "questions", "export", "out", "--format", "trec"]) == 0
    assert "1 question that nothing answers has no line" in capsys.readouterr().err
    shape = json.loads(
        ask(folder, capsys, "questions", "export", "out", "--format", "beir", "--json")
    )
    assert shape["without_judgement"] == 1
    shape = json.loads(
        ask(folder, capsys, "questions", "export", "out.csv", "--format", "csv", "--json")
    )
    assert shape["without_judgement"] == 0


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "merestone", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("merestone, version ")


def test_text_says_where_it_is_not_sure(folder: Path) -> None:
    with Library.open(folder) as library:
        hits = library.search("Is the pump blue?").hits
    assert told_verdict("answered", hits) == told_verdict("nothing", hits) == []
    (line,) = told_verdict("unsure", hits)
    assert line.startswith("It is not sure that this answers the question: the best has")
    # What is below a threshold never looks as if it were not.
    assert [shown_relevance(each) for each in (0.1499, 0.15, 0.29, 1.0)] == [
        "0.14", "0.15", "0.29", "1.00",
    ]  # fmt: skip


def test_lists_of_problems_that_are_empty_say_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(folder, capsys, "status", "--failed") == "No document failed to be read.\n"
    assert ask(folder, capsys, "status", "--no-text").startswith("  empty: c.txt holds no text.")


@pytest.mark.parametrize(
    ("act", "code", "words"),
    [
        (lambda library: library.search(5), "query-not-text", "The query is 5"),
        (lambda library: library.context(None, budget=9), "query-not-text", "NoneType"),
        (lambda library: library.search("  "), "empty-query", "empty"),
        (lambda library: library.search("a", k=True), "invalid-k", "True"),
        (lambda library: library.context("a", budget=9, tokenizer=5), "invalid-tokenizer", "5"),
        (lambda library: Budget(100, tokenizer=5), "invalid-tokenizer", "5"),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_the_wrong_kind_is_named(act: Any, code: str, words: str, folder: Path) -> None:
    with Library.open(folder) as library, pytest.raises(SettingsError) as caught:
        act(library)
    assert caught.value.code == code
    assert words in caught.value.message


def test_an_export_writes_over_no_file_among_documents_that_no_command_wrote(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(folder, capsys, "eval")
    (folder / "new.md").write_text("Not read yet.\n", "utf-8")
    assert "[file-in-use]" in ask(folder, capsys, "report", "--html", "new.md", code=2)
    ask(folder, capsys, "report", "--html", "report.html")
    moved = folder.rename(folder.with_name("moved"))
    assert "[file-in-use]" in ask(moved, capsys, "export", "a.md", "--as-owner", code=2)
    # What a command wrote is known again, is no document, and is written over.
    ask(moved, capsys, "report", "--html", "report.html")
    ask(moved, capsys, "export", "chunks.jsonl", "--as-owner")
    ask(moved, capsys, "sync")
    assert "report.html" not in (listed := ask(moved, capsys, "status", "--documents"))
    assert "chunks.jsonl" not in listed
    assert "new.md" in listed


def test_an_export_beside_documents_leaves_them_documents(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(folder, capsys, "questions", "export", ".", "--format", "beir")
    ask(folder, capsys, "sync")
    listed = ask(folder, capsys, "status", "--documents")
    assert "a.md" in listed
    assert "corpus.jsonl" not in listed
