"""The gate fails where retrieval became worse, and only there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from evaluation.small_library import small_library

from merestone import Library, SettingsError
from merestone.cli.main import run as run_command
from merestone.evaluation.runs.gate import judge
from merestone.evaluation.runs.values import QuestionResult, Run
from merestone.types import GateSettings

COVERAGE = "GoldCoverage@1000t"


def made_run(values: Sequence[float], **other: object) -> Run:
    """A run whose questions ``0``, ``1``, … cover so much of their gold."""
    results = tuple(
        QuestionResult(
            id=str(number),
            question=f"Question {number}?",
            match="all",
            gold=(),
            served={},
            measures={COVERAGE: value, "FullGold@1000t": float(value == 1), "Tokens@1000t": 900.0},
            failure=None if value == 1 else "outranked",
            detail="" if value == 1 else "The chunk of a.md#0-9 ranks at 7.",
        )
        for number, value in enumerate(values)
    )
    run = Run(
        id=f"{hash(tuple(values)) & 0xFFFFFFFF:032x}",
        name="",
        time="2026-01-01T00:00:00Z",
        library_version=1,
        questions_hash="q",
        documents_hash="d",
        settings={},
        embedder={},
        tokenizer="words",
        measures={},
        groups={},
        costs={},
        results=results,
        views=("1000t",),
        main="1000t",
    )
    return replace(run, **other)  # type: ignore[arg-type]


GOOD = [1.0] * 30
WORSE = [1.0] * 15 + [0.0] * 15


def test_a_run_passes_against_itself() -> None:
    report = judge(made_run(GOOD), made_run(GOOD), GateSettings())
    assert report.passes
    assert report.notes == ()
    assert report.worse == ()


def test_a_significant_drop_fails_and_names_what_was_lost() -> None:
    report = judge(made_run(WORSE), made_run(GOOD), GateSettings())
    assert not report.passes
    assert "went from 1.000 to 0.500 over 30 questions" in report.failures[0]
    assert [each.after.id for each in report.worse] == [str(number) for number in range(15, 30)]
    assert report.to_json()["passes"] is False
    json.dumps(report.to_json())


def test_a_gain_passes() -> None:
    assert judge(made_run(GOOD), made_run(WORSE), GateSettings()).passes


def test_a_drop_that_may_be_chance_passes_with_a_note() -> None:
    report = judge(made_run([0.0, *GOOD[1:]]), made_run(GOOD), GateSettings())
    assert report.passes
    assert "is worse by 0.033, which passes" in report.notes[0]


def test_a_drop_that_is_nothing_is_not_told_of() -> None:
    report = judge(made_run([0.999, *GOOD[1:]]), made_run(GOOD), GateSettings())
    assert report.passes
    assert report.notes == ()


def test_settings_that_are_not_those_of_the_baseline_are_named() -> None:
    before = made_run(GOOD, settings={"chunking": {"max_tokens": 256, "overlap_tokens": 0}})
    after = made_run(GOOD, settings={"chunking": {"max_tokens": 128, "new": 1}})
    report = judge(after, before, GateSettings())
    assert report.notes == (
        "Settings that are not those of the baseline: chunking.max_tokens 256 → 128.",
    )


def test_a_drop_within_the_margin_passes() -> None:
    settings = GateSettings(max_drop=0.6)
    assert judge(made_run(WORSE), made_run(GOOD), settings).passes
    assert not judge(made_run(WORSE), made_run(GOOD), GateSettings(max_drop=0.4)).passes


def test_more_of_a_cost_is_worse() -> None:
    settings = GateSettings(measure="Tokens@1000t")
    cheap, dear = made_run(GOOD), made_run(GOOD)
    dear = replace(
        dear,
        results=tuple(
            replace(result, measures={**result.measures, "Tokens@1000t": 1000.0 + number})
            for number, result in enumerate(dear.results)
        ),
    )
    assert not judge(dear, cheap, GateSettings(measure="Tokens@1000t", max_drop=1.0)).passes
    assert judge(cheap, dear, settings).passes


def test_equal_configurations_with_noise_seldom_fail() -> None:
    generator = np.random.default_rng(7)
    failed = 0
    for _ in range(100):
        base = generator.random(40)
        first, second = (np.clip(base + generator.normal(0, 0.2, 40), 0, 1) for _ in range(2))
        failed += not judge(made_run(list(first)), made_run(list(second)), GateSettings()).passes
    # One side of a two-sided test at 5 %: 2.5 are expected, more than 8 come once in 1,000.
    assert failed <= 8


def test_a_named_question_must_hold() -> None:
    settings = GateSettings(must_hold=("0", "29", "29"))
    report = judge(made_run(WORSE), None, settings)
    assert report.failures == (
        "Question 29 must hold: 'Question 29?'. The chunk of a.md#0-9 ranks at 7.",
    )
    assert judge(made_run(GOOD), None, settings).passes


def test_a_named_question_that_was_not_scored_does_not_hold() -> None:
    run = made_run(GOOD, skipped={"changed": "its text has changed"})
    report = judge(run, None, GateSettings(must_hold=("changed", "nobody")))
    assert len(report.failures) == 2
    assert "its text has changed" in report.failures[0]
    assert "no question of that id" in report.failures[1]


def test_only_common_questions_are_compared_and_that_is_said() -> None:
    report = judge(made_run([*GOOD, 0.0, 0.0]), made_run(GOOD[:20]), GateSettings())
    assert report.passes
    assert report.difference is not None
    assert report.difference.count == 20
    assert report.notes == (
        "The questions differ: 20 are compared, of 32 now and 20 in the baseline.",
    )


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"asker": ("owner",)}, "asked by owner"),
        ({"tokenizer": "cl100k_base"}, "counted by cl100k_base then"),
        ({"mode": "lexical"}, "mode lexical"),
        ({"questions_hash": "other"}, "edited since"),
    ],
)
def test_what_else_differs_is_said(other: dict[str, object], words: str) -> None:
    (note,) = judge(made_run(GOOD), made_run(GOOD, **other), GateSettings()).notes
    assert words in note


def test_made_questions_decide_only_where_people_asked_none() -> None:
    def made(run: Run, first: int) -> Run:
        results = [replace(each, made=number >= first) for number, each in enumerate(run.results)]
        return replace(run, results=tuple(results))

    assert judge(made(made_run(WORSE), 15), made(made_run(GOOD), 15), GateSettings()).passes
    assert not judge(made(made_run(WORSE), 0), made(made_run(GOOD), 0), GateSettings()).passes


def test_runs_without_anything_in_common_are_refused() -> None:
    reworded = made_run(GOOD)
    reworded = replace(
        reworded, results=tuple(replace(each, question="Else?") for each in reworded.results)
    )
    for run, settings, words in (
        (reworded, GateSettings(), "in the same words"),
        (made_run(GOOD), GateSettings(measure="IoU@5"), "no measure IoU@5"),
    ):
        with pytest.raises(SettingsError) as error:
            judge(run, made_run(GOOD), settings)
        assert error.value.code == "gate-not-comparable"
        assert words in error.value.message


LAMPS = {
    f"lamp{number}.md": f"# Lamp {number}\n\nLamp {number} is green.\n" for number in range(12)
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\n[evaluation.gate]\nmust_hold = ["3"]\nmax_drop = 0.1\n'
    )
    small_library(tmp_path, LAMPS).close()
    rows = [
        {
            "id": str(number),
            "question": f"Which colour has lamp {number}?",
            "evidence": [{"doc": name, "quote": "is green"}],
        }
        for number, name in enumerate(LAMPS)
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def gate(project: Path, *arguments: str) -> int:
    return run_command(["-C", str(project), "gate", *arguments])


def test_the_gate_in_the_life_of_a_project(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert gate(project) == 0
    told = capsys.readouterr().out
    assert "There is no baseline" in told
    assert "1 of 1 named question held" in told
    assert gate(project, "--update-baseline") == 0
    baseline = project / "evaluation-baseline.json"
    assert baseline.is_file()
    capsys.readouterr()
    assert gate(project) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "GoldCoverage  " in line]
    assert row.split()[1:] == "100.0 % 100.0 % +0.0 the same on".split()
    for number in range(1, 12):
        (project / f"lamp{number}.md").unlink()
    assert run_command(["-C", str(project), "sync", "--allow-deletions"]) == 0
    capsys.readouterr()
    kept = baseline.read_text()
    assert gate(project) == 1
    told = capsys.readouterr().out
    assert told.startswith("The gate fails.")
    assert "FAILED Question 3 must hold" in told
    assert "GoldCoverage@1000t went from 1.000 to" in told
    assert "What got worse:" in told
    (row,) = [line for line in told.splitlines() if line.startswith("GoldCoverage  ")]
    assert row.split()[1:3] == ["100.0", "%"]
    assert row.endswith("▼ worse")
    assert any(line.startswith("FullGold ") for line in told.splitlines())
    assert "FAILED 3  Which colour has lamp 3?" in told
    assert "  … and 1 more" in told
    # What fails does not become what the next run is held against.
    capsys.readouterr()
    assert gate(project, "--update-baseline") == 1
    assert "was left as it was." in _joined(capsys.readouterr().out)
    assert baseline.read_text() == kept


def _joined(told: str) -> str:
    return " ".join(told.split())


def test_the_last_run_as_baseline_is_one_that_passed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project / "merestone.toml"
    config.write_text('[embedding]\nmodel = "hashing"\n[evaluation.gate]\nbaseline = "last"\n')
    assert run_command(["-C", str(project), "eval"]) == 0
    assert gate(project) == 0
    for number in range(3, 12):
        (project / f"lamp{number}.md").unlink()
    assert run_command(["-C", str(project), "sync", "--allow-deletions"]) == 0
    assert gate(project) == 1
    assert gate(project) == 1
    capsys.readouterr()
    assert gate(project, "--json") == 1
    assert json.loads(capsys.readouterr().out)["passes"] is False


def test_the_json_has_the_compared_measures_and_the_named_questions(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(project, "--update-baseline") == 0
    capsys.readouterr()
    assert gate(project, "--json") == 0
    shape = json.loads(capsys.readouterr().out)
    names = ["GoldCoverage@1000t", "FullGold@1000t", "Precision@1000t", "Tokens@1000t"]
    assert [each["name"] for each in shape["measures"]] == names
    first = shape["measures"][0]
    assert first["before"] == first["now"] == 1.0
    assert first["difference"] == shape["difference"]
    assert shape["named"] == [
        {"id": "3", "question": "Which colour has lamp 3?", "holds": True, "problem": ""}
    ]


def test_a_baseline_names_no_document(project: Path) -> None:
    (project / "lamp5.md").unlink()
    (project / "lamp7.md").write_text("# Lamp 7\n\nIt was sold.\n")
    assert run_command(["-C", str(project), "sync"]) == 0
    assert gate(project, "--update-baseline") == 0
    text = (project / "evaluation-baseline.json").read_text()
    shape = json.loads(text)
    assert shape["per_question"][5]["failure"] == "not-in-corpus"
    assert shape["skipped"] == {"7": "not scored"} or "7" not in shape["skipped"]
    assert ".md" not in text


def test_a_measure_that_nobody_takes_is_refused_before_anything_is_asked(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "merestone.toml").write_text(
        '[embedding]\nmodel = "hashing"\n[evaluation.gate]\nmust_hold = ["3"]\n'
        'measure = "GoldCoverage@700t"\n'
    )
    monkeypatch.setattr("merestone.cli.gate.evaluate", None)
    assert gate(project) == 2
    told = capsys.readouterr().err
    assert "'GoldCoverage@700t'" in told
    assert "[unknown-measure]" in told


def test_a_gate_with_nothing_to_hold_says_how_to_begin(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    assert gate(project) == 2
    told = capsys.readouterr().err
    assert "[no-baseline]" in told
    assert "--update-baseline" in told


@pytest.mark.parametrize(
    "table", ["max_drop = 2", 'measure = "all of it"', 'must_hold = "q1"', "held = []"]
)
def test_settings_that_cannot_be_are_refused(table: str, tmp_path: Path) -> None:
    (tmp_path / "merestone.toml").write_text(f"[evaluation.gate]\n{table}\n")
    with pytest.raises(SettingsError):
        Library.open(tmp_path)
