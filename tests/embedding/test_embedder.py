from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from merestone.embedding import open_embedder
from merestone.embedding.batching import BatchEmbedder, gather
from merestone.embedding.embedder import BertEmbedder
from merestone.types import EmbedderError, EmbeddingSettings, Progress, SettingsError

LONG = " ".join(f"word{number} river" for number in range(120))


def with_mode(mode: str) -> BertEmbedder:
    embedder = open_embedder(EmbeddingSettings(on_overlong=mode, threads=1))
    assert isinstance(embedder, BertEmbedder)
    return embedder


def test_bundled_model_says_what_it_is(minilm: BertEmbedder) -> None:
    assert minilm.name == "minilm"
    assert minilm.dimension == 384
    assert minilm.max_tokens == 256
    assert minilm.tokenizer.special_tokens == 2
    assert isinstance(minilm, BatchEmbedder)


def test_results_are_in_the_order_of_the_texts(minilm: BertEmbedder) -> None:
    texts = ["one", "a much longer text about rivers and lakes", "three words here", "", "one"]
    vectors = minilm.embed_passages(texts)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        assert np.abs(minilm.embed_passages([text])[0] - vector).max() < 1e-5


def test_batches_bring_each_text_once(minilm: BertEmbedder) -> None:
    texts = [f"text {number} " * (1 + number % 7 * 12) for number in range(20)]
    seen: list[Progress] = []
    batches = list(minilm.embed_batches(texts, seen.append))
    assert len(batches) > 1
    assert sorted(index for indexes, _ in batches for index in indexes) == list(range(20))
    assert np.abs(gather(batches, 20, 384) - minilm.embed_passages(texts)).max() < 1e-5
    assert seen[-1].done == 20
    assert seen[-1].tokens == sum(minilm.tokenizer.counts(texts)) + 2 * 20


def test_no_text_gives_no_vector(minilm: BertEmbedder) -> None:
    assert minilm.embed_passages([]).shape == (0, 384)
    assert minilm.embed_queries([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\ud800 alone", "a" * 5000, "\u200b"])
def test_odd_texts_get_a_unit_vector(minilm: BertEmbedder, text: str) -> None:
    assert np.linalg.norm(minilm.embed_passages([text])[0]) == pytest.approx(1, abs=1e-5)


def test_query_and_passage_of_one_text_agree(minilm: BertEmbedder) -> None:
    text = ["Where do rivers begin?"]
    assert (minilm.embed_queries(text) == minilm.embed_passages(text)).all()


def test_text_beyond_the_limit_is_an_error_before_anything_is_embedded(
    minilm: BertEmbedder,
) -> None:
    with pytest.raises(EmbedderError) as caught:
        next(minilm.embed_batches(["short", LONG]))
    assert caught.value.code == "input-too-long"
    tokens = minilm.tokenizer.counts([LONG])[0] + 2
    assert f"{tokens} tokens" in caught.value.message
    assert "256" in caught.value.message
    assert LONG[:60] in caught.value.message


def test_text_at_the_limit_is_embedded_whole(minilm: BertEmbedder) -> None:
    full = "river " * 254
    assert minilm.tokenizer.counts([full]) == [254]
    assert minilm.embed_passages([full]).shape == (1, 384)
    with pytest.raises(EmbedderError):
        minilm.embed_passages([full + "river"])


def test_truncating_reads_the_beginning_only(minilm: BertEmbedder) -> None:
    beginning = " ".join(["lake"] * 254)
    (found,) = with_mode("truncate").embed_passages([beginning + " and an end that is lost"])
    assert np.abs(found - minilm.embed_passages([beginning])[0]).max() < 1e-5


def test_windows_are_averaged_and_scaled(minilm: BertEmbedder) -> None:
    first, middle, last = (["lake"] * 127, ["stone"] * 127, ["bird"] * 127)
    parts = minilm.embed_passages([" ".join(first + middle), " ".join(middle + last)])
    mean = parts.mean(axis=0)
    (found,) = with_mode("window").embed_passages([" ".join(first + middle + last)])
    assert np.abs(found - mean / np.linalg.norm(mean)).max() < 1e-5


def test_query_beyond_the_limit_is_windowed_in_every_mode(minilm: BertEmbedder) -> None:
    (windowed,) = with_mode("window").embed_passages([LONG])
    for mode in ("error", "truncate", "window"):
        (found,) = with_mode(mode).embed_queries([LONG])
        assert np.abs(found - windowed).max() < 1e-5


def test_fingerprint_tells_modes_apart_and_nothing_that_changes_no_vector() -> None:
    prints = {mode: with_mode(mode).fingerprint for mode in ("error", "truncate", "window")}
    assert len(set(prints.values())) == 3
    other = open_embedder(EmbeddingSettings(batch_tokens=100, threads=2, cache_bytes=5))
    assert other.fingerprint == prints["error"]


def test_fingerprint_is_the_one_that_stored_vectors_were_made_with(minilm: BertEmbedder) -> None:
    # When this changes, every user embeds everything again: raise _REVISION knowingly.
    assert minilm.fingerprint == "304a5113d133a4219835c684b0d99e8d"


def test_vector_is_the_one_that_was_stored(minilm: BertEmbedder) -> None:
    # Golden values: if they move, stored vectors and new ones no longer belong together.
    (found,) = minilm.embed_passages(["Merestones mark where one field ends and another begins."])
    expected = [0.008812, 0.07448, 0.007093, -0.000197, -0.047206, -0.014508, 0.026642, 0.058472]
    assert found[: len(expected)] == pytest.approx(expected, abs=1e-5)


LOADED = """
import json, sys
from merestone.embedding import open_embedder
from merestone.types import EmbeddingSettings
heavy = ("onnxruntime", "tokenizers", "numpy", "apsw")
imported = [name for name in heavy if name in sys.modules]
embedder = open_embedder(EmbeddingSettings())
embedder.fingerprint, embedder.dimension, embedder.max_tokens, embedder.tokenizer
opened = [name for name in heavy if name in sys.modules]
embedder.embed_passages(["text"])
print(json.dumps([imported, opened]))
"""


def test_nothing_heavy_is_loaded_before_the_first_text() -> None:
    child = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    imported, opened = json.loads(child.stdout)
    assert imported == []
    assert "onnxruntime" not in opened
    assert "tokenizers" not in opened
    assert child.stderr == ""


def test_unknown_name_gets_the_nearest_known_one() -> None:
    with pytest.raises(SettingsError, match="'minilm'"):
        open_embedder(EmbeddingSettings(model="minilmm"))


def test_both_built_in_embedders_are_registered() -> None:
    assert open_embedder(EmbeddingSettings(model="minilm")).name == "minilm"
    assert open_embedder(EmbeddingSettings(model="hashing")).name == "hashing"
