"""Which documents were found, beside which passages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from evaluation.small_library import CARRY, NOTHING, TRAINS, many_documents, small_library

from merestone import evaluate
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.runs.serving import Desk
from merestone.evaluation.runs.values import Run

pytest.importorskip("ir_measures")

WHOLE = Question("whole", "Which days of leave expire?", (Evidence("leave.md"),))
LOST = Question("lost", "When do unused days of leave expire?", (Evidence("gone.md", quote="x"),))


def test_documents_are_measured_under_the_names_of_ir_measures(tmp_path: Path) -> None:
    with small_library(tmp_path) as library:
        run = evaluate(library, [CARRY, TRAINS, WHOLE, LOST, NOTHING], k=3)
    names = ["P@10", "P@3", "R@10", "R@3", "RR", "nDCG@10", "nDCG@3"]
    assert sorted(run.documents) == names
    by_id = {result.id: result.documents for result in run.results}
    assert by_id["nothing"] == {}
    assert by_id["carry"] == by_id["whole"]
    assert by_id["carry"]["nDCG@3"] == by_id["carry"]["RR"] == 1.0
    assert by_id["carry"]["P@3"] == pytest.approx(1 / 3)
    assert set(by_id["lost"].values()) == {0.0}
    assert run.documents["RR"].count == 4
    assert Run.from_json(run.to_json()) == run


def test_they_are_of_the_documents_that_search_ranks(tmp_path: Path) -> None:
    with small_library(tmp_path, many_documents()) as library:
        hits = library.search(CARRY.question, k=50).hits
        with library.serving() as serving:
            found = Desk(serving, None, "hybrid").documents(CARRY, 50)
    served = list(dict.fromkeys(hit.chunk.document for hit in hits))
    assert list(found[: len(served)]) == served
    assert len(served) > 10


def test_made_questions_are_in_no_figure_of_those_that_people_ask(tmp_path: Path) -> None:
    made = Question("made", "When do days expire?", (Evidence("travel.md"),), made=True)
    with small_library(tmp_path) as library:
        run = evaluate(library, [CARRY, made])
        alone = evaluate(library, [made])
    assert run.documents["RR"].count == 1
    assert [result.id for result in run.counted] == ["carry"]
    assert [result.id for result in run.apart] == ["made"]
    assert run.costs["tokens_retrieved@1000t"] == run.measures["Tokens@1000t"].mean
    assert alone.documents["RR"].count == 1
    assert alone.means == alone.groups["made:true"]
    assert alone.apart == []


def test_without_the_package_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with small_library(tmp_path) as library:
        run = evaluate(library, [CARRY])
    assert run.documents == {}
    assert run.measures["Hit@5"].mean == 1.0
