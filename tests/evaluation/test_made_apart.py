"""Questions that a machine made are in no count and no mean of those that people asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evaluation.small_library import CARRY, NOTHING, TRAINS, asking, small_library

from merestone import Questions, compare, evaluate
from merestone.cli.comparisons import told_comparison
from merestone.cli.evaluations import told_run
from merestone.cli.main import run as command
from merestone.evaluation.report import report_of, to_markdown
from merestone.evaluation.report.words import headline, questions_told
from merestone.evaluation.runs.tabulating import trec_run
from merestone.evaluation.runs.values import Run

LOST = asking("lost", "Who owns the lamp?", ("gone.md", "the lamp"))
MADE = [
    asking(f"made{number}", f"What is said of {number} lamps?", ("gone.md", "lamps"), made=True)
    for number in range(9)
]
QUESTIONS = [CARRY, TRAINS, LOST, NOTHING, *MADE]
COUNTED = "4 questions: 3 with an answer, 1 that nothing answers; besides 9 made ones, told apart"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with small_library(tmp_path_factory.mktemp("made")) as library:
        yield evaluate(library, QUESTIONS, k=5, budgets=[1000])


def test_what_is_counted_is_said(run: Run) -> None:
    assert questions_told(run) == COUNTED
    shape: Any = run.to_json()
    assert (shape["questions"], shape["made"]) == (13, 9)
    assert run.measures["Hit@5"].count == 3


def test_eval_tells_misses_of_those_that_people_asked(run: Run) -> None:
    told = told_run(run)
    assert COUNTED in " ".join(told.split())
    assert "Missed within 1,000 tokens: 2 of 4 questions" in told
    assert "made3" not in told
    assert "Made questions, which are easier" in told


def test_a_report_counts_what_its_measures_are_of(run: Run) -> None:
    report = report_of(run)
    assert headline(report) == (
        "2 of 3 questions got the whole answer within 1,000 tokens. Of 1 that nothing answers, "
        f"{report.counts(0, answered=False)['whole']} "
        f"{'was' if report.counts(0, answered=False)['whole'] == 1 else 'were'} told so."
    )
    full = report.measure("FullGold@1000t")
    assert full is not None
    assert full.cells[0] is not None
    assert full.cells[0].count == report.counts(0).total() == 3
    assert dict(report.failures) == {"not-in-corpus": (1,), "answered-falsely": (1,)}
    shape: Any = report.to_json()
    assert {row["group"] for row in shape["questions"] if row["made"]} == {"made"}
    assert shape["configurations"][0]["questions"] == 4
    assert to_markdown(report).count("| Made by a machine |") == 9


def test_a_comparison_counts_them_apart(tmp_path: Path) -> None:
    with small_library(tmp_path) as library:
        comparison = compare(library, None, QUESTIONS, k=5, budgets=[1000])
        alone = compare(library, None, MADE, k=5, budgets=[1000])
    told = " ".join(told_comparison(comparison).split())
    assert COUNTED in told
    shape: Any = comparison.to_json()
    assert shape["configurations"][0]["questions"] == 4
    assert shape["configurations"][0]["made_apart"] == 9
    assert all(each["count"] <= 3 for each in shape["differences"] if not each["group"])
    assert "9 questions made by a machine" in told_comparison(alone)
    assert alone.runs[0].means["GoldCoverage@1000t"].count == 9


def test_a_run_for_other_tools_leaves_them_out(run: Run) -> None:
    assert "made" not in trec_run(run)


def test_questions_that_are_all_made_are_told_as_such(tmp_path: Path) -> None:
    with small_library(tmp_path) as library:
        run = evaluate(library, MADE, k=5, budgets=[1000])
    assert questions_told(run) == "9 questions made by a machine"
    assert "0 of 9 questions got the whole answer" in headline(report_of(run))
    assert "Missed within 1,000 tokens: 9 of 9 questions" in told_run(run)


def test_the_verbs_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\n[evaluation]\nbudgets = [1000]\n'
        '[evaluation.gate]\nmust_hold = ["carry"]\n'
    )
    small_library(tmp_path).close()
    Questions(QUESTIONS).save(tmp_path / "questions.jsonl")
    for verb in (["eval", "--trec", "trec"], ["gate", "--update-baseline"], ["gate"], ["report"]):
        assert command(["-C", str(tmp_path), *verb]) == 0
        assert COUNTED in " ".join(capsys.readouterr().out.split()), verb
    qrels = (tmp_path / "trec" / "qrels.txt").read_text()
    assert "made" not in qrels
    assert "carry 0 leave.md 1" in qrels
    baseline = json.loads((tmp_path / "evaluation-baseline.json").read_text())
    assert baseline["questions"] == 13
