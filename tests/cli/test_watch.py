"""`sync --watch`, `sync --dry-run` and `plan`, as a user meets them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from merestone.cli.main import run
from merestone.cli.sync_report import told, told_duration, told_round
from merestone.types import Counts, DocumentChange, Estimate, SyncReport

_PATIENT = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    (tmp_path / "a.md").write_text("# Alpha\n\nThe alpha pump runs at 40 bar.\n")
    return tmp_path


def ask(folder: Path, capture: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capture.readouterr()
    code = run(["-C", str(folder), *arguments])
    out = capture.readouterr()
    return code, out.out, out.err


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="a console is needed to send Ctrl-C")
def test_a_watch_goes_on_until_it_is_interrupted(folder: Path, tmp_path: Path) -> None:
    out, err = tmp_path / ".out", tmp_path / ".err"
    with out.open("w") as stdout, err.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "merestone.cli.main", "-C", str(folder)]
            + ["sync", "--watch", "--json"],
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            # Whatever runs the tests may have been told to ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            wait_for(lambda: "Watching" in err.read_text())
            (folder / "b.md").write_text("# Beta\n\nThe beta pump runs at 55 bar.\n")
            wait_for(lambda: '"b.md"' in out.read_text())
            process.send_signal(signal.SIGINT)
            assert process.wait(_PATIENT) == 0
        finally:
            process.kill()
    assert "Stopped watching" in err.read_text()
    reports = [json.loads(line) for line in out.read_text().splitlines()]
    added = [change["document"] for report in reports for change in report["changes"]]
    assert sorted(added) == ["a.md", "b.md"]


def test_a_watch_takes_neither_paths_nor_a_dry_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(folder, capsys, "sync", "--watch", "a.md")[0] == 2
    assert ask(folder, capsys, "sync", "--watch", "--dry-run")[0] == 2


def test_a_plan_says_what_kind_each_change_is_of(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("kept", "moved", "gone"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nWords about {name}.\n")
    (folder / "blob.bin").write_bytes(bytes(range(256)))
    sections = "".join(f"# Part {number}\n\n{'Many words here. ' * 60}\n\n" for number in range(5))
    (folder / "long.md").write_text(sections)
    assert ask(folder, capsys, "sync")[0] == 3
    (folder / "new.md").write_text("# New\n\nNew words.\n")
    (folder / "moved.md").rename(folder / "elsewhere.md")
    (folder / "gone.md").unlink()
    (folder / "long.md").write_text(sections.replace("Part 3", "Other part"))
    code, out, _ = ask(folder, capsys, "plan")
    assert code == 0
    assert (
        "Documents: 1 added, 1 changed, 1 moved, 1 removed, 2 unchanged, "
        "1 failed before and did not change." in out
    )
    assert re.search(r"Changed, 1 document:\n  long.md \(\d+ passages, \d+ to embed\)\n", out)
    assert "Moved, 1 document:\n  elsewhere.md from moved.md (1 passage, none to embed)" in out
    assert "Removed, 1 document:\n  gone.md (1 passage)" in out
    before = json.loads(ask(folder, capsys, "plan", "--json")[1])
    assert before["failed_before"] == 1
    assert set(before["estimate"]) == {"seconds", "price"}
    assert before["embedded"] == json.loads(ask(folder, capsys, "sync", "--json")[1])["embedded"]


def test_a_price_is_told_where_there_is_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\nprice_per_million_tokens = 2\n'
    )
    plan = json.loads(ask(folder, capsys, "plan", "--json")[1])
    assert plan["estimate"] == {"seconds": None, "price": plan["tokens"] * 2 / 1e6}
    assert "Price: 0.0" in ask(folder, capsys, "plan")[1]
    ask(folder, capsys, "sync")
    plan = json.loads(ask(folder, capsys, "plan", "--json")[1])
    assert plan["estimate"] == {"seconds": 0.0, "price": 0.0}


def test_a_dry_run_exits_and_refuses_as_the_sync_would(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(9):
        (folder / f"{number}.md").write_text(f"# {number}\n\nWords of {number}.\n")
    (folder / "blob.bin").write_bytes(bytes(range(256)))
    assert ask(folder, capsys, "sync", "--dry-run")[0] == 3
    assert ask(folder, capsys, "plan")[0] == 0
    assert ask(folder, capsys, "sync")[0] == 3
    assert ask(folder, capsys, "sync", "--dry-run")[0] == 0
    for number in range(9):
        (folder / f"{number}.md").unlink()
    for arguments, expected in ((("sync", "--dry-run"), 1), (("plan",), 0)):
        code, out, _ = ask(folder, capsys, *arguments)
        assert code == expected
        assert "9 removed" in out
        assert "A sync would refuse this: 9 of 10 documents" in out.splitlines()[-1]
        refusal = json.loads(ask(folder, capsys, *arguments, "--json")[1])["refusal"]
        assert refusal["code"] == "large-deletion"
    assert ask(folder, capsys, "sync", "--dry-run", "--allow-deletions")[0] == 0
    assert ask(folder, capsys, "sync")[0] == 1


def report_of(*changes: DocumentChange, **values: object) -> SyncReport:
    kinds = ("added", "changed", "moved", "access", "removed", "unchanged", "failed")
    documents = {kind: sum(change.change == kind for change in changes) for kind in kinds}
    given = {"embedded": 0, "cached": 0, "tokens": 0, **values}
    return SyncReport(
        documents=documents,
        chunks=Counts(),
        library_version=1,
        changes=changes,
        problems=(),
        **given,  # type: ignore[arg-type]
    )


def test_a_plan_of_ten_thousand_changes_stays_readable() -> None:
    changes = [DocumentChange(f"{number:05}.md", "added") for number in range(10_000)]
    changes += [DocumentChange(f"old{number}.md", "removed") for number in range(3)]
    report = report_of(*changes)
    short = told(report, planned=True)
    assert len(short.splitlines()) == 2 + 22 + 4
    assert "Added, 10,000 documents:\n  00000.md\n" in short
    assert "  00019.md\n  and 9,980 more\nRemoved, 3 documents:\n  old0.md" in short
    assert len(told(report, planned=True, every=True).splitlines()) == 2 + 10_001 + 4
    assert told_round(report).splitlines()[0].startswith("Documents: 10,000 added, 3 removed")


def test_a_round_of_few_changes_names_them() -> None:
    changed = DocumentChange("a.md", "changed", None, Counts(added=1, changed=1, kept=12))
    moved = DocumentChange("b.md", "moved", "c.md", Counts(added=2))
    assert told_round(report_of(changed, moved, embedded=2, tokens=70)).splitlines() == [
        "changed a.md (2 of 14 passages new)",
        "moved b.md from c.md (2 passages)",
        "2 texts embedded (70 tokens), 0 known already.",
    ]


def test_a_round_of_many_changes_names_the_first_and_counts_the_rest() -> None:
    moves = [DocumentChange(f"new/{n}.md", "moved", f"old/{n}.md") for n in range(7)]
    lines = told_round(report_of(*moves)).splitlines()
    assert lines[:2] == ["Documents: 7 moved.", "moved new/0.md from old/0.md"]
    assert lines[6:] == ["  and 2 more"]


def test_a_change_that_is_no_edit_says_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"# {name}\n\n{f'Words about {name}. ' * 30}\n")
    ask(folder, capsys, "sync")
    (folder / "a.md").write_text("# a\n\nOther words.\n")
    settings = (folder / "merestone.toml").read_text()
    (folder / "merestone.toml").write_text(settings + "\n[chunking]\nmax_tokens = 32\n")
    plan = json.loads(ask(folder, capsys, "plan", "--json")[1])
    reasons = {change["document"]: change["reason"] for change in plan["changes"]}
    assert (reasons["a.md"], reasons["b.md"]) == ("text", "cutting")
    for arguments in (("plan",), ("sync",)):
        out = ask(folder, capsys, *arguments)[1]
        assert re.search(r" changed \(1 edited, \d cut otherwise\)", out.splitlines()[0])


def test_time_and_price_are_told_in_words() -> None:
    report = report_of(embedded=9, tokens=100, estimate=Estimate(seconds=240, price=0.5))
    assert "About 4 min, by what past syncs took. Price: 0.5000." in told(report, planned=True)
    assert [told_duration(s) for s in (0.01, 40, 600, 36_000)] == [
        "1 s",
        "40 s",
        "10 min",
        "10.0 h",
    ]
