"""Tokens of OpenAI's encodings, and tokenizers by name."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from bpe_openai import get_encoding
from hypothesis import given
from hypothesis import strategies as st

from merestone import chunk
from merestone.text.openai_tokens import ENCODINGS, OpenAITokenizer
from merestone.text.tokenizer_names import tokenizer_named
from merestone.text.tokenizers import CharacterTokenizer, FileTokenizer, WordTokenizer
from merestone.types import SettingsError

TOKENIZERS = {name: OpenAITokenizer(name) for name in ENCODINGS}

texts = st.text(max_size=200) | st.text(" \n\t\r.,;:'(ab1\u00a0\u3000é中👩\u200d", max_size=80)


@given(texts, st.sampled_from(ENCODINGS))
def test_counts_are_those_of_the_encoding(text: str, name: str) -> None:
    expected = len(get_encoding(name).encode_ordinary(text.encode("utf-8", "replace").decode()))
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        assert TOKENIZERS[name].counts([text]) == [expected]


@given(texts)
def test_starts_ascend_and_are_as_many_as_tokens(text: str) -> None:
    tokenizer = TOKENIZERS["cl100k_base"]
    starts = list(tokenizer.starts(text))
    assert len(starts) == tokenizer.counts([text])[0]
    assert all(one <= other for one, other in pairwise(starts))
    assert all(0 <= start < len(text) for start in starts)


def test_special_tokens_and_lone_surrogates_are_text() -> None:
    tokenizer = OpenAITokenizer("cl100k_base")
    assert tokenizer.counts(["<|endoftext|>"])[0] > 1
    assert tokenizer.counts(["a\ud800b"])[0] > 0


def test_chunks_hold_a_limit_in_these_tokens() -> None:
    text = "\n\n".join(
        f"Paragraph {number} says a few words, and then some." for number in range(60)
    )
    encoding = get_encoding("cl100k_base")
    for piece in chunk(text, tokenizer="cl100k_base", max_tokens=50):
        assert piece.tokens == len(encoding.encode_ordinary(piece.text)) <= 50


def test_tokenizers_have_names(tmp_path: Path) -> None:
    assert isinstance(tokenizer_named("o200k_base"), OpenAITokenizer)
    assert isinstance(tokenizer_named("words"), WordTokenizer)
    assert isinstance(tokenizer_named("characters"), CharacterTokenizer)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": {}}))
    assert isinstance(tokenizer_named(path), FileTokenizer)
    with pytest.raises(SettingsError):
        tokenizer_named("no-such-tokenizer")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    with pytest.raises(SettingsError, match="openai-tokens") as caught:
        OpenAITokenizer("cl100k_base")
    assert caught.value.code == "extra-missing"
