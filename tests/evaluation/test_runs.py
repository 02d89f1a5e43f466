"""Records of runs outlive the process that made them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluation.small_library import CARRY, NOTHING, TRAINS, asking, small_library

from merestone import NotFoundError, SettingsError, evaluate
from merestone.cli.main import run as run_command
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.runs.changes import question_changes
from merestone.evaluation.runs.files import find_run, load_run, save_run, saved_runs, write_run
from merestone.evaluation.runs.tabulating import csv_table, trec_run
from merestone.evaluation.runs.values import FORMAT, Run

SPACED = asking(
    "with space", "Trains, or unused days?", ("leave.md", "twenty-five days"), tags=("a",)
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    missing = asking("missing", 'What does "gone" say\n\u2028of \U0001f600?', ("gone.md", "words"))
    with small_library(tmp_path_factory.mktemp("library")) as library:
        return evaluate(library, [CARRY, TRAINS, NOTHING, missing, SPACED], budgets=[60, 200])


def test_a_run_is_what_was_saved_of_it(run: Run, tmp_path: Path) -> None:
    path = save_run(run, tmp_path / "runs")
    assert load_run(path) == run
    assert Run.from_json(json.loads(json.dumps(run.to_json()))) == run


def test_its_json_has_the_documented_shape(run: Run) -> None:
    shape: Any = run.to_json()
    assert shape["run"] == run.id
    assert shape["questions"] == 5
    assert set(shape["measures"]["FullGold@60t"]) == {"mean", "low", "high", "count"}
    first = shape["per_question"][0]
    assert {"id", "measures", "failure"} <= first.keys()
    assert shape["library_version"] == run.library_version
    json.dumps(shape)


def test_one_question_stands_on_one_line(run: Run, tmp_path: Path) -> None:
    write_run(run, tmp_path / "run.json")
    lines = (tmp_path / "run.json").read_text("utf-8").splitlines()
    assert sum('"question"' in line for line in lines) == len(run.results)


def test_a_baseline_says_how_questions_scored_and_not_by_which_passages(
    run: Run, tmp_path: Path
) -> None:
    write_run(run, tmp_path / "run.json", served=False)
    slim = load_run(tmp_path / "run.json")
    assert [result.measures for result in slim.results] == [r.measures for r in run.results]
    assert not any(result.served or result.gold for result in slim.results)


def test_runs_are_found_by_path_id_and_time(run: Run, tmp_path: Path) -> None:
    older = replace(run, id="a" * 32, time="2026-01-01T00:00:00Z")
    newer = replace(run, id="b" * 32, time="2026-01-02T00:00:00Z")
    first, second = (save_run(each, tmp_path) for each in (older, newer))
    assert saved_runs(tmp_path) == [second, first]
    assert find_run("last", tmp_path) == second
    assert find_run("aaaa", tmp_path) == first
    assert find_run("a" * 32, tmp_path) == first
    assert find_run("20260101", tmp_path) == first
    assert find_run(str(first), tmp_path) == first
    with pytest.raises(NotFoundError) as error:
        find_run("cccc", tmp_path)
    assert error.value.code == "run-not-found"
    with pytest.raises(NotFoundError):
        find_run("last", tmp_path / "nowhere")


def test_of_two_runs_in_one_second_the_later_is_the_last(tmp_path: Path) -> None:
    documents = {"a.md": "The pump runs at 40 bar."}
    with small_library(tmp_path / "library", documents) as library:
        for place in range(4):
            quote = Evidence("a.md", quote="40 bar")
            asked = [Question(f"q{place}", "How much?", (quote,))]
            saved = save_run(evaluate(library, asked, budgets=[100]), tmp_path / "runs")
            assert find_run("last", tmp_path / "runs") == saved


def test_a_trial_is_found_by_its_id_and_name_and_is_never_the_last(
    run: Run, tmp_path: Path
) -> None:
    kept = save_run(replace(run, time="2026-01-01T00:00:00Z"), tmp_path)
    tried = replace(run, id="e" * 64, name="no focus", time="2026-01-02T00:00:00Z")
    trial = save_run(tried, tmp_path, is_trial=True)
    assert find_run("last", tmp_path) == kept
    assert find_run("eeee", tmp_path) == trial
    assert find_run("no focus", tmp_path) == trial


def test_the_same_run_is_kept_once(run: Run, tmp_path: Path) -> None:
    save_run(replace(run, time="2026-01-01T00:00:00Z"), tmp_path)
    kept = save_run(replace(run, time="2026-01-02T00:00:00Z"), tmp_path)
    named = save_run(replace(run, name="other", time="2026-01-03T00:00:00Z"), tmp_path)
    assert saved_runs(tmp_path) == [named, kept]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '{"format": 1}', "\ud800".encode("utf-8", "surrogatepass")],
)
def test_what_is_no_run_is_refused(text: str | bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError) as error:
        load_run(path)
    assert error.value.code == "invalid-run"
    assert str(path) in error.value.message


def test_a_run_of_a_newer_version_is_refused(run: Run) -> None:
    with pytest.raises(SettingsError) as error:
        Run.from_json({**run.to_json(), "format": FORMAT + 1})
    assert "newer" in error.value.message


def test_trec_lines_have_six_columns_and_each_document_once(run: Run) -> None:
    rows = [line.split() for line in trec_run(run).splitlines()]
    assert {len(row) for row in rows} == {6}
    for result in run.results:
        own = [row for row in rows if row[0] == result.id.replace(" ", "%20")]
        assert [int(row[3]) for row in own] == list(range(1, len(own) + 1))
        assert len({row[2] for row in own}) == len(own)
        assert sorted(own, key=lambda row: -float(row[4])) == own
        found = dict.fromkeys(served.document for served in result.served["search"])
        assert [row[2] for row in own] == list(found)


def test_the_table_has_a_line_for_each_question_and_every_measure(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_table(run))))
    assert [row["id"] for row in rows] == [result.id for result in run.results]
    assert [row["question"] for row in rows] == [result.question for result in run.results]
    for row, result in zip(rows, run.results, strict=True):
        for name, value in result.measures.items():
            assert float(row[name]) == value
    assert rows[2]["FullGold@60t"] == ""
    assert rows[4]["tags"] == "a"


def test_changes_are_of_questions_in_the_same_words(run: Run) -> None:
    measure = "GoldCoverage@60t"
    first, second, *others = run.results
    changed = replace(
        run,
        results=(
            replace(first, measures={**first.measures, measure: 0.25}),
            replace(second, question="Reworded?"),
            *others,
        ),
    )
    found = question_changes(run, changed, measure)
    assert found[0].after.id == "carry"
    assert found[0].gain == -0.75
    assert "trains" not in [each.after.id for each in found]
    costs = replace(run, results=(replace(first, measures={**first.measures, "Tokens@60t": 1.0}),))
    assert question_changes(run, costs, "Tokens@60t")[0].gain > 0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    small_library(tmp_path).close()
    return tmp_path


def questions_file(project: Path) -> None:
    rows = [
        {
            "id": "carry",
            "question": "When do unused days expire?",
            "evidence": [{"doc": "leave.md", "quote": "end of March"}],
            "tags": ["date"],
        },
        {
            "id": "gone",
            "question": "What is gone?",
            "evidence": [{"doc": "gone.md", "quote": "words"}],
        },
    ]
    (project / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_eval_tells_measures_misses_and_changes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions_file(project)
    assert run_command(["-C", str(project), "eval"]) == 0
    told = capsys.readouterr().out
    assert "Of 2 with an answer, 1 question got it whole within 1,000 tokens." in told
    assert "@1000t" in told
    assert "50.0 (" in told
    assert "not-in-corpus" in told
    assert "The library has no document gone.md." in told
    (project / "gone.md").write_text("The words are here.\n")
    assert run_command(["-C", str(project), "sync"]) == 0
    capsys.readouterr()
    assert run_command(["-C", str(project), "eval", "--against", "last", "--name", "mended"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "GoldCoverage@1000t +50.0 over 2 questions; 1 better, 0 worse." in told
    assert "0.0 % → 100.0 %" in told
    runs = saved_runs(project / ".merestone" / "runs")
    assert {load_run(path).name for path in runs} == {"", "mended"}


def test_eval_answers_in_json_and_writes_for_other_tools(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions_file(project)
    arguments = ["-k", "2", "--budget", "50", "--only", "date", "--json"]
    files = ["--trec", str(project / "trec"), "--csv", str(project / "table.csv")]
    assert run_command(["-C", str(project), "eval", *arguments, *files]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in shape["per_question"]] == ["carry"]
    assert shape["views"] == ["2", "50t", "precise"]
    assert (project / "trec" / "qrels.txt").read_text() == "carry 0 leave.md 1\n"
    assert (project / "trec" / "run.txt").read_text().startswith("carry Q0 leave.md 1 ")
    assert len((project / "table.csv").read_text().splitlines()) == 2


def test_eval_without_questions_says_how_to_make_some(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["-C", str(project), "eval"]) == 2
    told = capsys.readouterr().err
    assert "merestone questions add" in told
    assert "merestone questions suggest" in told


def test_eval_refuses_names_that_are_none(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions_file(project)
    assert run_command(["-C", str(project), "eval", "--only", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
    assert run_command(["-C", str(project), "eval", "--against", "nothing"]) == 2
    assert "[run-not-found]" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["x", None, float("nan"), True])
def test_a_run_whose_measures_are_no_numbers_is_refused(
    run: Run, tmp_path: Path, value: object
) -> None:
    shape = json.loads(save_run(run, tmp_path).read_text())
    row = next(row for row in shape["per_question"] if row["measures"])
    row["measures"][next(iter(row["measures"]))] = value
    (tmp_path / "bad.json").write_text(json.dumps(shape))
    with pytest.raises(SettingsError, match="no measure"):
        load_run(tmp_path / "bad.json")
