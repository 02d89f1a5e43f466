"""The adapter to Sentence Transformers, with the package itself where it is installed, and with
one that stands in its place where it is not."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from embedding.model_folders import make_folder, tokenizer, write_pooling
from embedding.service import unit, vector

from merestone.embedding import open_embedder
from merestone.reranking import open_reranker
from merestone.types import EmbedderError, EmbeddingSettings, RerankingSettings, SettingsError

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None


class ToyModel:
    """Says what it was asked."""

    max_seq_length = 20
    calls: list[dict[str, Any]] = []  # noqa: RUF012

    def __init__(self, name: str) -> None:
        if name == "missing":
            raise OSError("missing is not a model")
        self.tokenizer = type("Fast", (), {"backend_tokenizer": tokenizer("bert")})()

    def encode(self, texts: Sequence[str], **options: Any) -> np.ndarray:
        self.calls.append({"texts": list(texts), **options})
        return np.array([vector(text) for text in texts])


class ToyCrossEncoder:
    def __init__(self, name: str) -> None:
        self.name = name

    def predict(self, pairs: Sequence[tuple[str, str]], **options: Any) -> np.ndarray:
        if self.name == "broken":
            return np.full(len(pairs), np.nan)
        return np.array([len(text) - len(query) for query, text in pairs], float)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> type[ToyModel]:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = ToyModel  # type: ignore[attr-defined]
    module.CrossEncoder = ToyCrossEncoder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    ToyModel.calls = []
    return ToyModel


def settings(**changes: object) -> EmbeddingSettings:
    return EmbeddingSettings(**{"model": "sentence-transformers:toy", **changes})  # type: ignore[arg-type]


def test_templates_are_filled_here_and_the_models_own_left_out(toy: type[ToyModel]) -> None:
    embedder = open_embedder(settings(query_template="query: {text}"))
    found = embedder.embed_queries(["river"])[0]
    assert np.abs(found - unit("query: river")).max() < 1e-6
    assert toy.calls[0]["texts"] == ["query: river"]
    assert toy.calls[0]["prompt"] == ""
    assert toy.calls[0]["normalize_embeddings"] is False


def test_the_limit_of_the_model_holds(toy: type[ToyModel]) -> None:
    embedder = open_embedder(settings())
    assert embedder.max_tokens == 20
    assert embedder.tokenizer.special_tokens == 2
    embedder.embed_passages(["river " * 18])
    with pytest.raises(EmbedderError) as caught:
        embedder.embed_passages(["river " * 19])
    assert caught.value.code == "input-too-long"


def test_a_model_that_cannot_be_loaded_is_told(toy: type[ToyModel]) -> None:
    with pytest.raises(EmbedderError, match="missing is not a model") as caught:
        open_embedder(settings(model="sentence-transformers:missing"))
    assert caught.value.code == "model-unsuitable"


def test_a_cross_encoder_scores_pairs(toy: type[ToyModel]) -> None:
    reranker = open_reranker(RerankingSettings(model="sentence-transformers:toy"))
    assert reranker is not None
    assert reranker.rerank("ab", ["abc", "a", ""]) == [1, -1, -2]
    assert reranker.rerank("ab", []) == []
    broken = open_reranker(RerankingSettings(model="sentence-transformers:broken"))
    assert broken is not None
    with pytest.raises(Exception, match="finite") as caught:
        broken.rerank("ab", ["a"])
    assert getattr(caught.value, "code", "") == "unusable-scores"


@pytest.mark.skipif(INSTALLED, reason="the package is installed")
def test_a_missing_package_is_named_with_its_extra() -> None:
    with pytest.raises(SettingsError, match=r"merestone\[sentence-transformers\]") as caught:
        open_embedder(settings())
    assert caught.value.code == "extra-missing"
    reranker = open_reranker(RerankingSettings(model="sentence-transformers:toy"))
    assert reranker is not None
    with pytest.raises(SettingsError) as caught:
        reranker.rerank("a", ["b"])
    assert caught.value.code == "extra-missing"


@pytest.mark.skipif(not INSTALLED, reason='pip install "merestone[sentence-transformers]"')
@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "mpnet"])
def test_the_package_gives_what_the_folder_gives_without_it(tmp_path: Path, kind: str) -> None:
    make_folder(tmp_path / "model", kind)
    write_pooling(tmp_path / "model", "mean", max_tokens=36)
    texts = ["the river flows past the old mill .", "what is deep ?", "a"]
    with_package = open_embedder(settings(model=f"sentence-transformers:{tmp_path / 'model'}"))
    without = open_embedder(EmbeddingSettings(model=str(tmp_path / "model")))
    found = with_package.embed_passages(texts)
    assert np.abs(found - without.embed_passages(texts)).max() < 1e-5
