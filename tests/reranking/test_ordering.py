from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from merestone.reranking import apply_reranker, open_reranker
from merestone.types import RerankerError, RerankingSettings

SCORES = st.lists(st.none() | st.floats(-5, 5), max_size=12)


class Toy:
    """Gives the scores that it was made with, and counts the texts it saw."""

    name = fingerprint = "toy"

    def __init__(self, scores: Sequence[float | None] | None) -> None:
        self._scores = scores
        self.seen: list[str] = []

    def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
        self.seen += texts
        if self._scores is None:
            raise RerankerError("reranker-unavailable", "It is asleep.", "Wake it.")
        return list(self._scores[: len(texts)])


@given(scores=SCORES, top=st.integers(1, 15))
def test_order_is_a_permutation_by_score_and_then_by_place(
    scores: list[float | None], top: int
) -> None:
    items = [f"item {number}" for number in range(len(scores))]
    toy = Toy(scores)
    found = apply_reranker(toy, "q", items, str, top)
    asked = min(top, len(items))
    assert toy.seen == items[:asked]
    assert sorted(found.order) == list(range(len(items)))
    assert list(found.order[asked:]) == list(range(asked, len(items)))
    keys = [
        (found.scores[place] is None, -(found.scores[place] or 0.0), place)
        for place in found.order[:asked]
    ]
    assert keys == sorted(keys)
    assert list(found.scores) == scores[:asked] + [None] * (len(items) - asked)
    assert [found.ranks[p] for p in found.order if p in found.ranks] == list(
        range(1, len(found.ranks) + 1)
    )


def test_a_reranker_that_fails_changes_nothing_and_is_told() -> None:
    found = apply_reranker(Toy(None), "q", ["a", "b", "c"], str, 3)
    assert found.order == (0, 1, 2)
    assert found.notes == ("Not reranked: It is asleep. [reranker-unavailable]",)


def test_scores_of_another_number_are_not_used() -> None:
    found = apply_reranker(Toy([1.0]), "q", ["a", "b"], str, 2)
    assert found.order == (0, 1)
    assert "unusable-scores" in found.notes[0]


def test_no_reranker_is_the_default() -> None:
    assert open_reranker(RerankingSettings()) is None
