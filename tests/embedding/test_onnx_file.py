from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from embedding.model_folders import POSITIONS, describe, tokenizer, vocabulary, write_pooling

from merestone.embedding import open_embedder
from merestone.embedding.embedder import TokenEmbedder
from merestone.embedding.onnx_writer import FLOAT, INT32, INT64, GraphWriter
from merestone.types import EmbedderError, EmbeddingSettings, SettingsError

WIDTH = 4
WORDS = len(vocabulary("bert"))
TABLE = np.random.default_rng(0).integers(-9, 10, (WORDS, WIDTH))
TEXTS = ["the river flows", "a mill is there . what is deep ?", "fish"]


def write_graph(
    path: Path,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    output: str = "last_hidden_state",
    kind: int = INT64,
    pooled: bool = False,
    other: str = "",
) -> None:
    """A graph that looks each token up in a table, and adds its position where it is given."""
    graph = GraphWriter("lookup")
    for name in inputs:
        graph.take(name, kind, ["batch", "tokens"])
    flat = graph.integers("flat", [int(value) for value in TABLE.ravel()])
    table = graph.add("Reshape", [flat, graph.integers("shape", [WORDS, WIDTH])])
    table = graph.add("Cast", [table], to=FLOAT)
    name = output if not pooled else ""
    if "position_ids" in inputs:
        found = graph.add("Gather", [table, "input_ids"])
        places = graph.add("Cast", ["position_ids"], to=FLOAT)
        column = graph.add("Unsqueeze", [places, graph.integers("last", [-1])])
        tokens = graph.add("Add", [found, column], output=name)
    else:
        tokens = graph.add("Gather", [table, "input_ids"], output=name)
    if pooled:
        graph.add("ReduceMax", [tokens], output=output, lists={"axes": [1]}, keepdims=0)
        graph.give(output, ["batch", WIDTH])
    else:
        graph.give(output, ["batch", "tokens", WIDTH])
    if other:
        graph.add("ReduceMax", [tokens], output=other, lists={"axes": [1]}, keepdims=0)
        graph.give(other, ["batch", WIDTH])
    path.write_bytes(graph.written())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.json").write_text(tokenizer("bert").to_str())
    return tmp_path


def open_file(path: Path, **changes: object) -> TokenEmbedder:
    values: dict[str, object] = {"max_tokens": 20, "threads": 1, **changes}
    made = open_embedder(EmbeddingSettings(model=str(path), **values))  # type: ignore[arg-type]
    assert isinstance(made, TokenEmbedder)
    return made


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def tokens_of(text: str) -> np.ndarray:
    return TABLE[tokenizer("bert").encode(text).ids].astype(float)


@pytest.mark.parametrize("kind", [INT32, INT64])
@pytest.mark.parametrize(
    "inputs",
    [
        ("input_ids",),
        ("input_ids", "attention_mask"),
        ("attention_mask", "token_type_ids", "input_ids"),
    ],
)
@pytest.mark.parametrize("output", ["last_hidden_state", "token_embeddings", "something_else"])
def test_inputs_and_outputs_are_found(
    folder: Path, kind: int, inputs: tuple[str, ...], output: str
) -> None:
    write_graph(folder / "model.onnx", inputs=inputs, output=output, kind=kind)
    found = open_file(folder / "model.onnx").embed_passages(TEXTS)
    expected = np.stack([unit(tokens_of(text).mean(axis=0)) for text in TEXTS])
    assert np.abs(found - expected).max() < 1e-5


def test_positions_are_counted_where_they_are_wanted(folder: Path) -> None:
    write_graph(folder / "model.onnx", inputs=("input_ids", "position_ids"))
    found = open_file(folder / "model.onnx").embed_passages(TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):
        tokens = tokens_of(text)
        expected = unit((tokens + np.arange(len(tokens))[:, None]).mean(axis=0))
        assert np.abs(vector - expected).max() < 1e-5


def test_pooling_is_that_of_the_settings_or_of_the_folder(folder: Path) -> None:
    write_graph(folder / "model.onnx", other="pooler_output")
    by_settings = open_file(folder / "model.onnx", pooling="last").embed_passages(TEXTS)
    assert np.abs(by_settings[0] - unit(tokens_of(TEXTS[0])[-1])).max() < 1e-5
    (folder / "config.json").write_text(json.dumps({**describe("bert"), "hidden_size": WIDTH}))
    write_pooling(folder, "cls")
    by_folder = open_file(folder / "model.onnx").embed_passages(TEXTS)
    assert np.abs(by_folder[0] - unit(tokens_of(TEXTS[0])[0])).max() < 1e-5


def test_a_graph_that_pools_by_itself_is_taken_at_its_word(folder: Path) -> None:
    write_graph(folder / "model.onnx", output="sentence_embedding", pooled=True, kind=INT64)
    embedder = open_file(folder / "model.onnx")
    found = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    expected = np.stack([unit(tokens_of(text).max(axis=0)) for text in TEXTS])
    assert np.abs(found - expected).max() < 1e-5
    with pytest.raises(EmbedderError, match="none by token"):
        embedder.embed_spans("fish", [(0, 4)])


def test_spans_are_pooled_from_its_token_vectors(folder: Path) -> None:
    write_graph(folder / "model.onnx")
    embedder = open_file(folder / "model.onnx")
    found = embedder.embed_spans("the river flows", [(0, 9), (10, 15)])
    tokens = tokens_of("the river flows")[1:-1]
    assert np.abs(found[0] - unit(tokens[:2].mean(axis=0))).max() < 1e-5
    assert np.abs(found[1] - unit(tokens[2])).max() < 1e-5


def test_what_describes_the_model_may_lie_one_folder_up(folder: Path) -> None:
    (folder / "onnx").mkdir()
    write_graph(folder / "onnx" / "model.onnx")
    (folder / "config.json").write_text(json.dumps({**describe("bert"), "hidden_size": WIDTH}))
    embedder = open_file(folder / "onnx" / "model.onnx", max_tokens=0)
    assert embedder.max_tokens == POSITIONS
    assert embedder.dimension == WIDTH


def test_limit_has_to_be_known(folder: Path) -> None:
    write_graph(folder / "model.onnx")
    with pytest.raises(SettingsError, match=r"embedding\.max_tokens") as caught:
        open_file(folder / "model.onnx", max_tokens=0)
    assert caught.value.code == "embedder-needs-limit"


def test_inputs_that_nobody_can_give_are_named(folder: Path) -> None:
    write_graph(folder / "model.onnx", inputs=("input_ids", "pixel_values"))
    with pytest.raises(EmbedderError, match="pixel_values") as caught:
        open_file(folder / "model.onnx")
    assert caught.value.code == "model-unsuitable"


def test_a_file_that_is_no_graph_or_missing_is_an_error(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(EmbedderError, match="onnxruntime cannot open it"):
        open_file(folder / "model.onnx")
    with pytest.raises(EmbedderError, match=r"other\.onnx"):
        open_file(folder / "other.onnx")


def test_a_missing_tokenizer_is_named(tmp_path: Path) -> None:
    write_graph(tmp_path / "model.onnx")
    with pytest.raises(EmbedderError, match=r"tokenizer\.json"):
        open_file(tmp_path / "model.onnx")


def test_the_fingerprint_changes_with_the_graph(folder: Path) -> None:
    write_graph(folder / "a.onnx")
    write_graph(folder / "b.onnx")
    write_graph(folder / "c.onnx", output="token_embeddings")
    prints = [open_file(folder / f"{name}.onnx").fingerprint for name in "abc"]
    assert prints[0] == prints[1] != prints[2]
