from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone.embedding.batching import BatchEmbedder, gather
from merestone.embedding.hashing import open_embedder
from merestone.types import EmbedderError, EmbeddingSettings

EMBEDDER = open_embedder(EmbeddingSettings(model="hashing"))
LONG = " ".join(f"word{number}" for number in range(300))


@settings(max_examples=50)
@given(st.lists(st.text(max_size=100), max_size=5))
def test_any_text_gets_a_unit_vector(texts: list[str]) -> None:
    vectors = EMBEDDER.embed_passages(texts)
    assert vectors.shape == (len(texts), 64)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_vectors_are_the_same_on_every_machine() -> None:
    (vector,) = EMBEDDER.embed_passages(["north south south"])
    places = {place: round(float(value), 4) for place, value in enumerate(vector) if value}
    assert places == {14: 0.8944, 20: -0.4472}


def test_shared_words_make_texts_similar() -> None:
    left, right, other = EMBEDDER.embed_passages(
        ["rivers run to the sea", "to the sea rivers run fast", "quarterly revenue grew"]
    )
    assert left @ right > 0.8 > left @ other


def test_case_and_punctuation_do_not_matter() -> None:
    left, right = EMBEDDER.embed_passages(["One, two: THREE!", "one two three"])
    assert (left == right).all()


def test_batches_hold_every_text_once() -> None:
    texts = [f"text {number}" for number in range(600)]
    assert isinstance(EMBEDDER, BatchEmbedder)
    batches = list(EMBEDDER.embed_batches(texts))
    assert len(batches) == 3
    assert (gather(batches, 600, 64) == EMBEDDER.embed_passages(texts)).all()


def test_limit_is_kept_like_that_of_a_model() -> None:
    with pytest.raises(EmbedderError) as caught:
        EMBEDDER.embed_passages([LONG])
    assert caught.value.code == "input-too-long"
    assert "300 tokens" in caught.value.message
    truncating = open_embedder(EmbeddingSettings(model="hashing", on_overlong="truncate"))
    beginning = " ".join(LONG.split()[:256])
    expected = EMBEDDER.embed_passages([beginning])
    assert (truncating.embed_passages([LONG]) == expected).all()
    windowing = open_embedder(EmbeddingSettings(model="hashing", on_overlong="window"))
    assert (windowing.embed_passages([LONG]) == EMBEDDER.embed_queries([LONG])).all()
    assert (windowing.embed_passages([LONG]) != expected).any()


def test_fingerprint_tells_modes_apart() -> None:
    prints = {
        open_embedder(EmbeddingSettings(on_overlong=mode)).fingerprint
        for mode in ("error", "truncate", "window")
    }
    assert len(prints) == 3
