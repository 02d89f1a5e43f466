"""The command line, as a user meets it."""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path

import pytest

from merestone.cli.main import run

ALPHA = "# Alpha\n\nThe alpha pump runs at 40 bar.\n\n## Limits\n\nERR_CONN_42 means too hot.\n"


class Shell:
    """Runs commands in a folder and gives their exit code, stdout and stderr."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._capture.readouterr()
        code = run(["-C", str(self.folder), *arguments])
        out = self._capture.readouterr()
        return code, out.out, out.err

    def json(self, *arguments: str) -> dict[str, object]:
        code, out, _ = self(*arguments, "--json")
        assert code in (0, 3)
        answer: dict[str, object] = json.loads(out)
        return answer


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    (tmp_path / "a.md").write_text(ALPHA)
    (tmp_path / "b.txt").write_text("Office hours are nine to five.\n")
    return Shell(tmp_path, capsys)


def test_the_main_job(shell: Shell) -> None:
    assert shell("plan")[0] == 0
    code, out, _ = shell("sync")
    assert code == 0
    assert "2 added" in out
    code, out, _ = shell("sync")
    assert "Nothing was embedded" in out
    code, out, _ = shell("search", "alpha pump", "-k", "1")
    assert code == 0
    assert "[1] a.md" in out
    assert "lines 1" in out
    assert "40 bar" in out
    code, out, err = shell("context", "alpha pump", "--budget", "60")
    assert code == 0
    assert "40 bar" in out
    assert "of 60 tokens" in err
    assert shell("verify", "--all")[0] == 0
    assert shell("doctor")[0] == 0
    assert "2 ok" in shell("status")[1]


def test_the_shapes_of_answers(shell: Shell) -> None:
    sync = shell.json("sync")
    assert set(sync) == {
        "documents",
        "chunks",
        "embedded",
        "cached",
        "tokens",
        "library_version",
        "changes",
        "problems",
        "notes",
        "failed_before",
    }
    assert set(sync["documents"]) == {  # type: ignore[arg-type]
        "added",
        "changed",
        "moved",
        "access",
        "removed",
        "unchanged",
        "failed",
    }
    assert set(sync["chunks"]) == {"added", "removed", "changed", "kept"}  # type: ignore[arg-type]
    assert set(sync["changes"][0]) == {  # type: ignore[index]
        "document",
        "change",
        "reason",
        "from",
        "to_embed",
        "added",
        "removed",
        "changed",
        "kept",
    }
    search = shell.json("search", "alpha pump")
    assert {"query", "mode", "library_version", "hits"} <= set(search)
    hit = search["hits"][0]  # type: ignore[index]
    assert set(hit) == {
        "id",
        "document",
        "version",
        "ordinal",
        "total",
        "start",
        "end",
        "text",
        "tokens",
        "kind",
        "heading_path",
        "context",
        "shed",
        "boundary",
        "lines",
        "pages",
        "boxes",
        "attributes",
        "metadata",
        "score",
        "relevance",
        "ranks",
        "focus",
        "also",
        "citation",
    }
    assert set(hit["ranks"]) == {"dense", "lexical", "rerank"}
    assert set(hit["citation"]) == {
        "document",
        "version",
        "title",
        "heading_path",
        "pages",
        "lines",
        "start",
        "end",
        "quote",
        "prefix",
        "suffix",
        "uri",
        "edition",
        "label",
        "link",
    }
    assert ALPHA[hit["start"] : hit["end"]] == hit["text"] == hit["citation"]["quote"]
    context = shell.json("context", "alpha pump", "--budget", "50")
    assert {"query", "budget", "tokens", "text", "passages", "left_out"} <= set(context)
    assert set(context["passages"][0]) == {  # type: ignore[index]
        "document",
        "version",
        "start",
        "end",
        "text",
        "tokens",
        "heading_path",
        "citation",
        "chunks",
        "context",
        "also",
        "relevance",
    }
    cut = shell.json("cut", "a.md")
    assert set(cut) == {"document", "text", "chunks", "dropped", "report"}
    chunk = cut["chunks"][0]  # type: ignore[index]
    assert set(chunk["boundary"]["start"]) == {"reason", "strength"}
    assert set(shell.json("status")) >= {
        "library_version",
        "schema",
        "documents",
        "chunks",
        "embedder",
        "bytes",
        "problems",
    }
    assert set(shell.json("verify")) == {"checked", "findings"}
    assert set(shell.json("doctor")) == {"checked", "findings"}


def test_show_takes_every_reference(shell: Shell) -> None:
    shell("sync")
    hit = shell.json("search", "alpha pump")["hits"][0]  # type: ignore[index]
    assert shell.json("show", hit["id"])["text"] == hit["text"]
    assert shell.json("show", "a.md")["text"] == ALPHA
    span = shell.json("show", "a.md#0-7")
    assert set(span) == {"document", "version", "start", "end", "text", "lines", "pages"}
    assert span["text"] == "# Alpha"
    assert shell.json("show", f"a.md#0-7@{hit['version']}")["text"] == "# Alpha"
    citation = shell.folder / "citation.json"
    citation.write_text(json.dumps(hit["citation"]))
    assert shell.json("show", str(citation))["text"] == hit["text"]
    for unknown in ("nothing.md", "0" * 32, "a.md#5-99999", "a.md#0-7@0000"):
        code, _, err = shell("show", unknown)
        assert code == 2
        assert "not-found]" in err


def test_cut_needs_no_index_and_gives_reasons(shell: Shell) -> None:
    code, out, _ = shell("cut", "a.md", "--max-tokens", "12", "--min-tokens", "2")
    assert code == 0
    assert "begins at: section" in out
    assert "context: " in out or "path: Alpha" in out
    assert not (shell.folder / ".merestone").exists()


def test_export_writes_a_chunk_a_line(shell: Shell) -> None:
    shell("sync")
    assert shell("export", "out.jsonl")[0] == 0
    rows = [json.loads(line) for line in (shell.folder / "out.jsonl").read_text().splitlines()]
    assert {row["document"] for row in rows} == {"a.md", "b.txt"}
    (shell.folder / "out.jsonl").unlink()
    code, out, _ = shell("export", "-")
    assert code == 0
    assert len(out.splitlines()) == len(rows)
    assert shell("export", "no/such/folder/x")[0] == 2


def test_export_destroys_nothing(shell: Shell) -> None:
    shell("sync")
    for taken in (".merestone/library.db", "a.md"):
        code, _, err = shell("export", taken)
        assert code == 2
        assert "[file-in-use]" in err
    assert (shell.folder / "a.md").read_text() == ALPHA
    assert shell("status")[0] == 0
    assert "[path-is-folder]" in shell("export", ".")[2]
    (shell.folder / "link.jsonl").symlink_to("real.jsonl")
    assert shell("export", "link.jsonl")[0] == 0
    assert (shell.folder / "link.jsonl").is_symlink()
    assert (shell.folder / "real.jsonl").read_text()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_not_read(shell: Shell) -> None:
    os.mkfifo(shell.folder / "pipe.md")
    code, _, err = shell("cut", "pipe.md")
    assert code == 2
    assert "[not-a-file]" in err


def test_filters_come_before_ranking(shell: Shell) -> None:
    shell("sync")
    hits = shell.json("search", "alpha pump", "--where", "document like '*.txt'")["hits"]
    assert [hit["document"] for hit in hits] == ["b.txt"]  # type: ignore[attr-defined]
    code, _, err = shell("search", "alpha", "--where", "document ~ 3")
    assert code == 2
    assert "character" in err


def test_an_identifier_turns_the_dense_side_off(shell: Shell) -> None:
    shell("sync")
    answer = shell.json("search", "ERR_CONN_42")
    assert answer["mode"] == "lexical"
    assert answer["hits"][0]["ranks"]["dense"] is None  # type: ignore[index]


def test_the_trace_says_what_each_side_found(shell: Shell) -> None:
    shell("sync")
    trace = shell.json("search", "alpha pump", "--explain")["trace"]
    assert [stage["stage"] for stage in trace] == [  # type: ignore[attr-defined]
        "filter",
        "candidates",
        "read",
        "focus",
        "collapse",
        "relevance",
        "cite",
    ]
    assert "candidates" in shell("search", "alpha pump", "--explain")[1]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("search", " "), "empty-query"),
        (("search", "x", "-k", "0"), "invalid-k"),
        (("context", "x", "--budget", "-1"), "invalid-budget"),
        (("cut", "none.md"), "path-not-found"),
        (("cut", "."), "path-is-folder"),
        (("cut", "a.md", "--max-tokens", "0"), "invalid-chunk-size"),
        (("cut", "a.md", "--strategy", "structur"), "unknown-plugin"),
        (("sync", "none.md"), "path-not-found"),
        (("remove", "none.md"), "reference-not-found"),
        (("explain", "no-such-code"), "unknown-code"),
        (("init",), "config-exists"),
    ],
)
def test_wrong_use_is_told_with_its_code(
    shell: Shell, arguments: tuple[str, ...], code: str
) -> None:
    shell("sync")
    exit_code, out, err = shell(*arguments)
    assert exit_code == 2
    assert f"[{code}]" in err
    assert not out


def test_a_question_before_the_first_sync_is_told_what_to_do(shell: Shell) -> None:
    code, _, err = shell("search", "alpha")
    assert code == 2
    assert "merestone sync" in err


def test_a_first_failure_ends_with_3_and_a_known_one_with_0(shell: Shell) -> None:
    (shell.folder / "c.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    code, out, _ = shell("sync")
    assert code == 3
    assert "c.md" in out
    assert "[unsupported-format]" in out
    assert shell("sync")[0] == 0
    assert "c.md" in shell("status", "--failed")[1]


def test_a_large_deletion_ends_with_1(shell: Shell) -> None:
    for number in range(6):
        (shell.folder / f"{number}.md").write_text(f"Words {number}.")
    shell("sync")
    for number in range(6):
        (shell.folder / f"{number}.md").unlink()
    code, _, err = shell("sync")
    assert code == 1
    assert "[large-deletion]" in err
    assert shell("sync", "--allow-deletions")[0] == 0


def test_init_writes_a_configuration_that_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path, capsys)
    (tmp_path / "a.md").write_text(ALPHA)
    code, _, err = shell("sync")
    assert code == 2
    assert "merestone init" in err
    assert shell("init")[0] == 0
    assert shell.json("plan")["documents"]["added"] == 1  # type: ignore[index]


def test_the_reference_is_the_help_of_the_commands() -> None:
    tools = Path(__file__).parents[2] / "tools" / "write_commands.py"
    written = runpy.run_path(str(tools))
    assert written["TARGET"].read_text("utf-8") == written["reference"]()


def test_a_path_that_is_gone_is_meant_from_where_one_stands(shell: Shell) -> None:
    (shell.folder / "sub").mkdir()
    (shell.folder / "sub" / "c.md").write_text("Words of c.")
    shell("sync")
    (shell.folder / "sub" / "c.md").unlink()
    inner = Shell(shell.folder / "sub", shell._capture)
    assert inner.json("sync", "c.md")["documents"]["removed"] == 1  # type: ignore[index]


@pytest.mark.parametrize("k", ["99999999999999999999", "-3"])
def test_a_number_of_hits_that_cannot_be_is_told(shell: Shell, k: str) -> None:
    shell("sync")
    code, _, err = shell("search", "alpha", "-k", k)
    assert code == 2
    assert "[invalid-k]" in err
