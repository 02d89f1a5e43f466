"""Span measures are what their definitions say, by hand and by counting character by character."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log2
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.evaluation.gold.values import GoldSpan
from merestone.evaluation.measures.document_measures import document_measures
from merestone.evaluation.measures.spans import (
    SPAN_MEASURES,
    at,
    is_smaller_better,
    no_answer_measures,
    precision_omega,
    span_measures,
)
from merestone.evaluation.runs.values import Served

Match = Literal["all", "any"]
Character = tuple[str, int]

GOLD = [GoldSpan("a", 10, 20), GoldSpan("a", 30, 40)]


def passage(document: str, start: int, end: int) -> Served:
    return Served(document, start, end, (end - start) // 4, ())


SERVED = [
    passage("b", 0, 100),
    passage("a", 0, 15),
    passage("a", 15, 35),
    passage("a", 0, 15),
]


def test_both_spans_wanted_by_hand() -> None:
    # 20 gold characters: 10..14 are in the second passage, 15..19 and 30..34 in the third. The
    # fourth repeats 15 of 150 characters. Gains: nothing, half of one span, half of each, nothing.
    gain = 0.5 / log2(3) + 0.5 / log2(4) + 0.5 / log2(5)
    assert span_measures(GOLD, "all", SERVED) == pytest.approx(
        {
            "Hit": 1,
            "FullGold": 0,
            "GoldCoverage": 15 / 20,
            "Precision": 15 / 150,
            "IoU": 15 / (150 + 20 - 15),
            "Duplication": 15 / 150,
            "Tokens": 25 + 3 + 5 + 3,
            "RR": 1 / 2,
            "nDCG": gain / (1 + 1 / log2(3)),
        }
    )


def test_either_span_wanted_by_hand() -> None:
    # The first span is found whole, in two passages that touch; the second to a half.
    assert span_measures(GOLD, "any", SERVED) == pytest.approx(
        {
            "Hit": 1,
            "FullGold": 1,
            "GoldCoverage": 1,
            "Precision": 10 / 150,
            "IoU": 10 / 150,
            "Duplication": 15 / 150,
            "Tokens": 36,
            "RR": 1 / 2,
            "nDCG": 0.5 / log2(3) + 0.5 / log2(4),
        }
    )


def test_nothing_served() -> None:
    assert span_measures(GOLD, "all", []) == dict.fromkeys(SPAN_MEASURES, 0.0)


def test_gold_that_overlaps_counts_once() -> None:
    gold = [GoldSpan("a", 0, 10), GoldSpan("a", 5, 15)]
    found = span_measures(gold, "all", [passage("a", 0, 10)])
    assert found["GoldCoverage"] == pytest.approx(10 / 15)
    assert found["IoU"] == pytest.approx(10 / 15)
    assert found["FullGold"] == 0


def test_a_span_with_a_gap_between_two_passages_is_not_whole() -> None:
    gold = [GoldSpan("a", 10, 20)]
    assert span_measures(gold, "all", [passage("a", 0, 15), passage("a", 16, 30)])["FullGold"] == 0
    assert span_measures(gold, "all", [passage("a", 15, 30), passage("a", 0, 15)])["FullGold"] == 1


def test_white_space_between_passages_is_no_gap_where_the_text_is_known() -> None:
    texts = {"a": "One two.\n\nThree four."}
    gold = [GoldSpan("a", 4, 15)]
    served = [passage("a", 10, 21), passage("a", 0, 8)]
    found = span_measures(gold, "all", served, texts=texts)
    assert (found["FullGold"], found["GoldCoverage"]) == (1, 1)
    assert found["Precision"] == pytest.approx(11 / 21)
    as_published = span_measures(gold, "all", served)
    assert as_published["FullGold"] == 0
    assert as_published["GoldCoverage"] == pytest.approx(9 / 11)


def test_gold_without_any_use_is_not_gold() -> None:
    served = [passage("a", 0, 10)]
    assert span_measures([GoldSpan("a", 0, 10, 0)], "all", served) == {}
    assert span_measures([], "all", served) == {}
    with_other = [GoldSpan("a", 0, 10, 0), GoldSpan("b", 0, 10)]
    assert span_measures(with_other, "all", served)["Hit"] == 0


def test_a_better_answer_first_ranks_higher() -> None:
    gold = [GoldSpan("a", 0, 10, 3), GoldSpan("b", 0, 10, 1)]
    better, worse = passage("a", 0, 10), passage("b", 0, 10)
    assert span_measures(gold, "all", [better, worse])["nDCG"] == pytest.approx(1)
    assert span_measures(gold, "all", [worse, better])["nDCG"] == pytest.approx(
        (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    )
    assert span_measures(gold, "any", [worse])["nDCG"] == pytest.approx(1 / 3)


def test_a_passage_with_all_gold_is_a_perfect_ranking() -> None:
    assert span_measures(GOLD, "all", [passage("a", 0, 50)])["nDCG"] == pytest.approx(1)


def test_a_question_without_answer_asks_for_silence() -> None:
    assert no_answer_measures(True) == {"NoAnswer": 1}
    assert no_answer_measures(False) == {"NoAnswer": 0}


def test_names() -> None:
    assert at("GoldCoverage", 5) == "GoldCoverage@5"
    assert at("GoldCoverage", "1000t") == "GoldCoverage@1000t"
    assert is_smaller_better("Tokens@1000t")
    assert not is_smaller_better("IoU@precise")


def test_precision_omega_by_hand() -> None:
    # The first chunk only ends where gold starts, and counts as published; the third touches it.
    chunks = [("a", 0, 10), ("a", 25, 29), ("a", 10, 25), ("b", 10, 20)]
    assert precision_omega([GoldSpan("a", 10, 20)], chunks) == pytest.approx(10 / 25)
    # Gold that no chunk holds counts too.
    assert precision_omega([GoldSpan("a", 10, 20)], [("a", 12, 18)]) == pytest.approx(6 / 10)
    assert precision_omega([], chunks) == 0


SPANS = st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(1, 12))
GOLD_SPANS = st.builds(
    lambda place, grade: GoldSpan(place[0], place[1], place[1] + place[2], grade),
    SPANS,
    st.integers(1, 3),
)
PASSAGES = st.builds(lambda place: passage(place[0], place[1], place[1] + place[2]), SPANS)


def characters(spans: Iterable[GoldSpan | Served]) -> set[Character]:
    return {(span.document, at) for span in spans for at in range(span.start, span.end)}


def counted(gold: Sequence[GoldSpan], match: Match, served: Sequence[Served]) -> dict[str, float]:
    """The measures by sets of characters, each straight from its definition."""
    read = characters(served)
    charged = sum(len(characters([one])) for one in served)
    wanted = [characters([span]) for span in gold]
    groups = wanted if match == "any" else [set.union(*wanted)]
    whole = [part <= read for part in wanted]
    touching = [
        rank for rank, one in enumerate(served, 1) if characters([one]) & set.union(*wanted)
    ]
    return {
        "Hit": float(bool(touching)),
        "FullGold": float(any(whole) if match == "any" else all(whole)),
        "GoldCoverage": max(len(part & read) / len(part) for part in groups),
        "Precision": max(len(part & read) for part in groups) / charged if charged else 0,
        "IoU": max(len(part & read) / (charged + len(part) - len(part & read)) for part in groups),
        "Duplication": (charged - len(read)) / charged if charged else 0,
        "RR": 1 / touching[0] if touching else 0,
        "nDCG": max(ndcg([span], served) * span.grade for span in gold)
        / max(span.grade for span in gold)
        if match == "any"
        else ndcg(gold, served),
    }


def ndcg(gold: Sequence[GoldSpan], served: Sequence[Served]) -> float:
    gains: list[float] = []
    for rank, one in enumerate(served):
        new = characters([one]) - characters(served[:rank])
        parts = [
            span.grade * len(characters([span]) & new) / len(characters([span])) for span in gold
        ]
        gains += sorted((part for part in parts if part), reverse=True) or [0]
    ideal = sorted((float(span.grade) for span in gold), reverse=True)
    return sum(gain / log2(place + 2) for place, gain in enumerate(gains)) / sum(
        gain / log2(place + 2) for place, gain in enumerate(ideal)
    )


@given(
    st.lists(GOLD_SPANS, min_size=1, max_size=4),
    st.sampled_from(["all", "any"]),
    st.lists(PASSAGES, max_size=6),
)
def test_intervals_give_what_sets_of_characters_give(
    gold: list[GoldSpan], match: Match, served: list[Served]
) -> None:
    found = span_measures(gold, match, served)
    del found["Tokens"]
    assert found == pytest.approx(counted(gold, match, served))
    assert all(0 <= value <= 1 + 1e-12 for value in found.values())


@given(st.lists(GOLD_SPANS, min_size=1, max_size=4), st.lists(PASSAGES, max_size=6))
def test_omega_of_intervals_is_that_of_sets(gold: list[GoldSpan], chunks: list[Served]) -> None:
    touching = [
        chunk
        for chunk in chunks
        if any(
            chunk.document == span.document and chunk.start < span.end and span.start <= chunk.end
            for span in gold
        )
    ]
    wanted, covered = characters(gold), characters(touching)
    found = precision_omega(gold, [(one.document, one.start, one.end) for one in chunks])
    assert found == pytest.approx(len(wanted & covered) / len(wanted | covered))


@given(st.lists(GOLD_SPANS, min_size=1, max_size=4), st.lists(PASSAGES, min_size=1, max_size=6))
def test_cutting_served_passages_in_two_keeps_what_does_not_depend_on_ranks(
    gold: list[GoldSpan], served: list[Served]
) -> None:
    halves = []
    for one in served:
        middle = (one.start + one.end) // 2
        if middle > one.start:
            halves.append(passage(one.document, one.start, middle))
        halves.append(passage(one.document, middle, one.end))
    whole, cut = span_measures(gold, "all", served), span_measures(gold, "all", halves)
    for name in ("Hit", "FullGold", "GoldCoverage", "Precision", "IoU", "Duplication"):
        assert cut[name] == pytest.approx(whole[name])


@given(st.permutations(range(8)), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_ndcg_is_that_of_ir_measures_where_a_passage_is_a_document(
    order: list[int], grades: list[int]
) -> None:
    pytest.importorskip("ir_measures")
    gold = [GoldSpan(str(place), 0, 10, grade) for place, grade in enumerate(grades)]
    served = [passage(str(place), 0, 10) for place in order]
    found = span_measures(gold, "all", served)
    if not found:
        assert not any(grades)
        return
    qrels = {"q": {str(place): grade for place, grade in enumerate(grades)}}
    expected = document_measures(qrels, {"q": [str(place) for place in order]}, ["nDCG", "RR"])
    assert found["nDCG"] == pytest.approx(expected["q"]["nDCG"], abs=1e-6)
    assert found["RR"] == pytest.approx(expected["q"]["RR"], abs=1e-6)
