from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.embedding.batching import (
    checked,
    cut_batches,
    embed_in_batches,
    encode_in_batches,
    gather,
)
from merestone.text.tokenizers import WordTokenizer
from merestone.types import EmbedderError, Progress

LENGTHS = st.lists(st.integers(0, 300), max_size=60)


@given(lengths=LENGTHS, budget=st.integers(1, 900))
def test_each_row_is_in_one_batch_and_batches_fit(lengths: list[int], budget: int) -> None:
    batches = cut_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget


@given(lengths=LENGTHS)
def test_longest_rows_come_first_and_equal_ones_in_order(lengths: list[int]) -> None:
    order = [index for batch in cut_batches(lengths, 768) for index in batch]
    assert order == sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))


def direction(rows: Sequence[np.ndarray]) -> np.ndarray:
    """A unit vector of two dimensions that shows the first token of each row."""
    angles = np.array([row[0] for row in rows], np.float32)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def row(first: int, length: int) -> np.ndarray:
    return np.full(length, first, np.int32)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=4),
        max_size=12,
    ),
    st.integers(1, 30),
)
def test_texts_get_the_mean_of_their_windows_in_their_own_order(
    plan: list[list[tuple[int, int]]], budget: int
) -> None:
    inputs = [[row(first, length) for first, length in windows] for windows in plan]
    batches = list(encode_in_batches(inputs, direction, budget))
    assert sorted(index for indexes, _ in batches for index in indexes) == list(range(len(plan)))
    vectors = gather(batches, len(plan), 2)
    for windows, vector in zip(inputs, vectors, strict=True):
        mean = direction(windows).mean(axis=0)
        assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_progress_tells_texts_and_tokens_after_each_batch() -> None:
    inputs = [[row(1, 4)], [row(2, 6), row(3, 6)], [row(1, 2)]]
    seen: list[Progress] = []
    list(encode_in_batches(inputs, direction, 8, seen.append))
    assert [(moment.done, moment.tokens) for moment in seen] == [(0, 6), (1, 12), (3, 18)]
    assert {(moment.stage, moment.total) for moment in seen} == {("embed", 3)}


def test_batch_is_handed_out_before_the_next_is_computed() -> None:
    computed: list[int] = []

    def encode(rows: Sequence[np.ndarray]) -> np.ndarray:
        computed.append(len(rows))
        return direction(rows)

    batches = encode_in_batches([[row(1, 5)], [row(2, 4)], [row(3, 3)]], encode, 5)
    assert next(batches)[0] == [0]
    assert computed == [1]


class PlainEmbedder:
    """An embedder of another package, which knows nothing of batches."""

    name = fingerprint = "plain"
    dimension = 2
    max_tokens = 100
    tokenizer = WordTokenizer()

    def __init__(self, answer: np.ndarray | None = None) -> None:
        self._answer = answer

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        if self._answer is not None:
            return self._answer
        return np.array([[len(text), 1] for text in texts])

    embed_queries = embed_passages


def test_embedder_without_batches_is_fed_in_slices() -> None:
    texts = ["x" * length for length in range(150)]
    seen: list[Progress] = []
    batches = list(embed_in_batches(PlainEmbedder(), texts, seen.append))
    assert len(batches) == 3
    assert gather(batches, 150, 2)[:, 0].tolist() == list(range(150))
    assert [moment.done for moment in seen] == [64, 128, 150]


@pytest.mark.parametrize(
    "answer",
    [
        np.zeros((1, 2)),
        np.zeros((2, 3)),
        np.zeros(4),
        np.array([[1, 0], [np.nan, 1]]),
        np.array([[1, 0], [np.inf, 1]]),
    ],
)
def test_answers_that_cannot_be_used_are_an_error(answer: np.ndarray) -> None:
    with pytest.raises(EmbedderError) as caught:
        list(embed_in_batches(PlainEmbedder(answer), ["a", "b"]))
    assert caught.value.code == "unusable-vectors"


def test_good_vectors_pass_as_float32() -> None:
    vectors = checked(np.array([[1.0, 0.0]]), (1, 2))
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 0]]
