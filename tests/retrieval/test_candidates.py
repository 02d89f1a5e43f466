"""Fusing two sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.retrieval.candidates import fuse
from merestone.types import Scored

sides = st.dictionaries(st.integers(1, 30), st.floats(-5, 50), max_size=20).map(
    lambda scores: sorted(
        (Scored(number, score) for number, score in scores.items()),
        key=lambda item: (-item.score, item.number),
    )
)


def test_scores_are_scaled_and_summed_over_the_union() -> None:
    dense = [Scored(1, 0.9), Scored(2, 0.5), Scored(3, 0.1)]
    lexical = [Scored(2, 12.0), Scored(4, 2.0)]
    fused = {item.number: item for item in fuse(dense, lexical, 0.5)}
    assert fused[1].score == pytest.approx(0.5)
    assert fused[2].score == pytest.approx(0.25 + 0.5)
    assert fused[3].score == pytest.approx(0.0)
    assert fused[4].score == pytest.approx(0.0)
    assert (fused[2].dense_rank, fused[2].lexical_rank) == (2, 1)
    assert (fused[4].dense_rank, fused[4].dense_score) == (None, None)


@given(sides, sides, st.floats(0, 1))
def test_the_union_is_ranked_and_nothing_is_lost(
    dense: list[Scored], lexical: list[Scored], weight: float
) -> None:
    fused = fuse(dense, lexical, weight)
    assert {item.number for item in fused} == {item.number for item in (*dense, *lexical)}
    scores = [item.score for item in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)


@given(st.lists(st.integers(0, 99), max_size=20, unique=True))
def test_one_side_alone_keeps_its_order(scores: list[int]) -> None:
    side = [
        Scored(number, float(score)) for number, score in enumerate(sorted(scores, reverse=True))
    ]
    assert [item.number for item in fuse(side, [], 1.0)] == [item.number for item in side]
