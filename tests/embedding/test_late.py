from __future__ import annotations

import numpy as np
import pytest

from merestone.embedding.embedder import BertEmbedder
from merestone.embedding.hashing import HashingEmbedder
from merestone.embedding.late import chunk_keys, chunk_vectors
from merestone.types import EmbeddingSettings, SettingsError

TEXT = "Leave is carried over. It has to be taken by the end of March."
SPANS = [(0, 22), (23, len(TEXT))]
RENDERED = [f"Policy\n\n{TEXT[start:end]}" for start, end in SPANS]
INPUTS = ["hash of one", "hash of two"]


def test_each_mode_gives_its_vectors(minilm: BertEmbedder) -> None:
    plain = chunk_vectors(minilm, "plain", TEXT, SPANS, RENDERED)
    late = chunk_vectors(minilm, "late", TEXT, SPANS, RENDERED)
    both = chunk_vectors(minilm, "plain+late", TEXT, SPANS, RENDERED)
    assert np.abs(plain - minilm.embed_passages(RENDERED)).max() < 1e-5
    assert np.abs(late - minilm.embed_spans(TEXT, SPANS)).max() < 1e-5
    summed = plain + late
    expected = summed / np.linalg.norm(summed, axis=1, keepdims=True)
    assert np.abs(both - expected).max() < 1e-5


def test_a_late_vector_knows_what_stands_around_its_chunk(minilm: BertEmbedder) -> None:
    (question,) = minilm.embed_queries(["Until when must carried-over leave be taken?"])
    plain = minilm.embed_passages([TEXT[start:end] for start, end in SPANS])[1]
    late = chunk_vectors(minilm, "late", TEXT, SPANS, RENDERED)[1]
    assert question @ late > question @ plain


def test_keys_hold_what_the_mode_reads(minilm: BertEmbedder) -> None:
    plain = chunk_keys(minilm, "plain", TEXT, SPANS, INPUTS)
    late = chunk_keys(minilm, "late", TEXT, SPANS, INPUTS)
    both = chunk_keys(minilm, "plain+late", TEXT, SPANS, INPUTS)
    assert plain == INPUTS
    assert len({*plain, *late, *both}) == 6
    # A heading above is no part of what is read late; another word in the document is.
    reworded = ["another hash", "hash of two"]
    assert chunk_keys(minilm, "late", TEXT, SPANS, reworded) == late
    assert chunk_keys(minilm, "plain+late", TEXT, SPANS, reworded)[0] != both[0]
    other = TEXT.replace("March", "April")
    assert chunk_keys(minilm, "plain", other, SPANS, INPUTS) == plain
    assert not set(chunk_keys(minilm, "late", other, SPANS, INPUTS)) & set(late)


def test_embedders_without_token_vectors_are_refused() -> None:
    embedder = HashingEmbedder(EmbeddingSettings())
    with pytest.raises(SettingsError) as caught:
        chunk_vectors(embedder, "late", TEXT, SPANS, RENDERED)
    assert caught.value.code == "late-needs-token-vectors"
    assert chunk_vectors(embedder, "plain", TEXT, SPANS, RENDERED).shape == (2, 64)
