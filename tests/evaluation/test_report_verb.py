"""``merestone report`` on a real library: what it writes, and for whom."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from merestone import Library
from merestone.cli.main import run
from merestone.evaluation.experiments.comparing import compare
from merestone.evaluation.experiments.configurations import Configuration, parse_configuration
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.report import report_of, write_report
from merestone.evaluation.report.cuttings import open_cuttings
from merestone.evaluation.runs.evaluating import evaluate
from merestone.evaluation.runs.files import runs_folder, save_run

QUESTIONS = [
    Question("torque", "How tight are the bolts?", (Evidence("open/a.md", quote="45 Nm"),)),
    Question("pay", "What do pilots earn?", (Evidence("hr/b.md", quote="900 crowns"),)),
]
BOLTS = "# Bolts\n\nTighten them to 45 Nm, crosswise.\n" + "Then look at each of them. " * 20
SMALL = "chunking.strategy=fixed chunking.max_tokens=40 chunking.target_tokens=20"
SETTINGS = '[[sources]]\npath = "."\ninclude = ["*.md"]\n[embedding]\nmodel = "hashing"\n'
RULES = (
    '[[access.rules]]\npaths = ["open/**"]\nallow = ["public"]\n'
    '[[access.rules]]\npaths = ["hr/**"]\nallow = ["user:eve"]\n'
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "open").mkdir()
    (tmp_path / "hr").mkdir()
    (tmp_path / "open" / "a.md").write_text(BOLTS)
    (tmp_path / "hr" / "b.md").write_text("# Pay\n\nPilots earn 900 crowns a day.\n")
    (tmp_path / "merestone.toml").write_text(SETTINGS)
    with Library.open(tmp_path) as library:
        library.sync()
    return tmp_path


def make_run(root: Path, **given: Any) -> str:
    with Library.open(root) as library:
        made = evaluate(library, QUESTIONS, budgets=[100], **given)
        save_run(made, runs_folder(library.settings.state))
    return made.id


def data_of(page: Path) -> Any:
    found = re.search(r'<script type="application/json".*?>(.*?)</script>', page.read_text("utf-8"))
    assert found
    return json.loads(found[1])


def test_it_tells_the_newest_run_and_writes_what_was_asked_for(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_run(root, name="first try")
    assert run(["-C", str(root), "report"]) == 0
    assert capsys.readouterr().out.startswith("# Retrieval report\n")
    assert run(["-C", str(root), "report", made[:8], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["configurations"][0]["name"] == "first try"
    assert run(["-C", str(root), "report", "--html", "r.html", "--markdown", "r.md"]) == 0
    assert "45 Nm" in json.dumps(data_of(root / "r.html")["texts"])
    assert "45 Nm" not in (root / "r.md").read_text("utf-8")


def test_several_runs_are_held_against_the_first(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = make_run(root, name="both"), make_run(root, name="words", mode="lexical")
    assert run(["-C", str(root), "report", first, second, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in told["configurations"]] == ["both", "words"]
    assert {each["column"] for each in told["differences"]} == {1}


def test_no_document_is_written_over(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(root)
    before = (root / "open" / "a.md").read_bytes()
    assert run(["-C", str(root), "report", "--html", "open/a.md"]) == 2
    assert "file-in-use" in capsys.readouterr().err
    assert (root / "open" / "a.md").read_bytes() == before


def test_a_folder_that_is_not_there_is_not_made(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(root)
    assert run(["-C", str(root), "report", "--html", "r.html", "--markdown", "no/r.md"]) != 0
    assert f"there is no folder {root / 'no'}" in capsys.readouterr().err
    assert not (root / "no").exists()
    assert not (root / "r.html").exists()


def test_who_may_read_less_gets_only_runs_of_their_own(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "merestone.toml").write_text(SETTINGS + RULES)
    with Library.open(root) as library:
        library.sync()
    whole = make_run(root, as_owner=True)
    page = root / "r.html"
    for arguments in ([], ["--as", "user:bob"], ["--as", "user:eve"]):
        assert run(["-C", str(root), "report", whole, "--html", "r.html", *arguments]) == 2
        assert "owner-only" in capsys.readouterr().err
        assert not page.exists()
    assert run(["-C", str(root), "report", whole, "--html", "r.html", "--as-owner"]) == 0
    assert "900 crowns" in page.read_text("utf-8")
    own = make_run(root, principals=["user:bob"])
    assert run(["-C", str(root), "report", own, "--html", "r.html", "--as", "user:bob"]) == 0
    assert "45 Nm" in page.read_text("utf-8")
    assert "900 crowns" not in page.read_text("utf-8")


def test_a_run_is_not_shown_to_its_asker_any_more_once_they_may_not_read_it(root: Path) -> None:
    own = make_run(root, principals=["user:bob"])
    (root / "merestone.toml").write_text(SETTINGS + RULES)
    with Library.open(root) as library:
        library.sync()
    assert run(["-C", str(root), "report", own, "--as", "user:bob"]) == 2


def test_borders_of_chunks_come_from_the_scratch_library_of_the_run(root: Path) -> None:
    small = parse_configuration(f"small: {SMALL}")
    with Library.open(root) as library:
        compared = compare(library, [Configuration("as it is"), small], QUESTIONS, budgets=[100])
        with library.snapshot() as snapshot, open_cuttings(library, compared.runs) as cuttings:
            assert list(cuttings) == [compared.runs[1].id]
            page = write_report(
                compared.runs,
                root / "r.html",
                snapshot=snapshot,
                comparison=compared,
                cuttings=cuttings,
            )
    (strip,) = data_of(page)["questions"][0]["strips"]
    assert len(strip[4][1]) > len(strip[4][0]) > 0


def test_a_changed_document_is_warned_of(root: Path) -> None:
    with Library.open(root) as library:
        made = evaluate(library, QUESTIONS, budgets=[100])
        with library.snapshot() as snapshot:
            assert not any(
                "another state" in each for each in report_of(made, snapshot=snapshot).warnings
            )
        (root / "open" / "a.md").write_text("# Nuts\n")
        library.sync(full_hash=True)
        with library.snapshot() as snapshot:
            assert any(
                "another state" in each for each in report_of(made, snapshot=snapshot).warnings
            )


def test_a_file_that_is_no_run_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "x.json").write_text("{}")
    assert run(["-C", str(root), "report", str(root / "x.json")]) == 2
    assert "invalid-run" in capsys.readouterr().err
