"""Measures of documents come from ir-measures, under its names."""

from __future__ import annotations

import sys
from math import log2

import pytest

from merestone.evaluation.measures.document_measures import document_measures
from merestone.types import SettingsError

QRELS = {"one": {"a": 2, "b": 1, "c": 0}, "two": {"z": 1}, "none": {"a": 0}}


@pytest.fixture
def _package() -> None:
    pytest.importorskip("ir_measures")


@pytest.mark.usefixtures("_package")
def test_values_by_hand() -> None:
    found = document_measures(QRELS, {"one": ["c", "a", "b"]})
    assert found["one"] == pytest.approx(
        {
            "nDCG@10": (2 / log2(3) + 1 / log2(4)) / (2 + 1 / log2(3)),
            "AP": (1 / 2 + 2 / 3) / 2,
            "RR@10": 1 / 2,
            "R@100": 1,
            "P@5": 2 / 5,
            "Success@1": 0,
        },
        abs=1e-6,
    )


@pytest.mark.usefixtures("_package")
def test_a_question_without_ranking_scores_nothing_and_one_without_gold_is_left_out() -> None:
    found = document_measures(QRELS, {"one": ["a"], "none": ["a"], "other": ["a"]}, ["RR@10"])
    assert found == {"one": {"RR@10": 1}, "two": {"RR@10": 0}}


@pytest.mark.usefixtures("_package")
def test_a_document_counts_where_it_came_first() -> None:
    once = document_measures(QRELS, {"one": ["c", "a", "b"]})
    assert document_measures(QRELS, {"one": ["c", "a", "a", "c", "b", "a"]}) == once


@pytest.mark.usefixtures("_package")
@pytest.mark.parametrize("name", ["foo@3", "nDCG@", "nDCG(foo=1)@3", "", "BPM", "ERR@10"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        document_measures(QRELS, {}, [name])
    assert caught.value.code == "unknown-measure"


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(SettingsError, match=r"merestone\[eval\]") as caught:
        document_measures(QRELS, {})
    assert caught.value.code == "extra-missing"
