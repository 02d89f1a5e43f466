"""BERT's forward pass written out in numpy, straight from the paper, one text at a time.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019. Slow and plain on
purpose: what the fused graph is held against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.weights import SCALE, Tensor, read_tensors

Tensors = Mapping[str, NDArray[np.float64]]

HEADS = 12
LAYERS = 6
_EPSILON = 1e-12
_erf = np.vectorize(math.erf)


def embed(weights: Tensors, ids: list[int]) -> NDArray[np.float64]:
    """Unit vector of one text; ``weights`` by the names of Hugging Face's ``BertModel``."""
    count = len(ids)
    hidden = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.position_embeddings.weight"][:count]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = _normalise(weights, "embeddings.LayerNorm", hidden)
    for number in range(LAYERS):
        hidden = _layer(weights, f"encoder.layer.{number}", hidden)
    mean = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)


def bundled_weights(path: str) -> dict[str, NDArray[np.float64]]:
    """The weights of the model folder by the names of ``BertModel``."""
    stored = read_tensors(path)
    width = stored["norm.bias"].size
    named = {
        "embeddings.word_embeddings.weight": _float(stored, "words"),
        "embeddings.position_embeddings.weight": _float(stored, "positions"),
        "embeddings.token_type_embeddings.weight": _float(stored, "types"),
        "embeddings.LayerNorm.weight": _float(stored, "norm.weight"),
        "embeddings.LayerNorm.bias": _float(stored, "norm.bias"),
    }
    long_names = {"attended": "attention.output", "wide": "intermediate", "narrow": "output"}
    for number in range(LAYERS):
        old, new = f"layer.{number}", f"encoder.layer.{number}"
        for place, part in enumerate(("query", "key", "value")):
            columns = slice(place * width, (place + 1) * width)
            linear = f"{new}.attention.self.{part}"
            named[f"{linear}.weight"] = _float(stored, f"{old}.qkv.weight")[:, columns].T
            named[f"{linear}.bias"] = _float(stored, f"{old}.qkv.bias")[columns]
        for short, long in long_names.items():
            named[f"{new}.{long}.dense.weight"] = _float(stored, f"{old}.{short}.weight").T
            named[f"{new}.{long}.dense.bias"] = _float(stored, f"{old}.{short}.bias")
            if short != "wide":
                for part in ("weight", "bias"):
                    norm = _float(stored, f"{old}.{short}.norm.{part}")
                    named[f"{new}.{long}.LayerNorm.{part}"] = norm
    return named


def _float(stored: Mapping[str, Tensor], name: str) -> NDArray[np.float64]:
    scale = stored.get(name + SCALE, np.float64(1))
    return stored[name].astype(np.float64) * scale


def _layer(weights: Tensors, name: str, hidden: NDArray[np.float64]) -> NDArray[np.float64]:
    attended = _linear(weights, f"{name}.attention.output.dense", _attend(weights, name, hidden))
    hidden = _normalise(weights, f"{name}.attention.output.LayerNorm", hidden + attended)
    wide = _linear(weights, f"{name}.intermediate.dense", hidden)
    wide = wide * 0.5 * (1 + _erf(wide / math.sqrt(2)))
    narrow = _linear(weights, f"{name}.output.dense", wide)
    return _normalise(weights, f"{name}.output.LayerNorm", hidden + narrow)


def _attend(weights: Tensors, name: str, hidden: NDArray[np.float64]) -> NDArray[np.float64]:
    query, key, value = (
        np.split(_linear(weights, f"{name}.attention.self.{part}", hidden), HEADS, axis=1)
        for part in ("query", "key", "value")
    )
    heads = []
    for q, k, v in zip(query, key, value, strict=True):
        scores = q @ k.T / math.sqrt(q.shape[1])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(scores / scores.sum(axis=1, keepdims=True) @ v)
    return np.concatenate(heads, axis=1)


def _linear(weights: Tensors, name: str, hidden: NDArray[np.float64]) -> NDArray[np.float64]:
    return hidden @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalise(weights: Tensors, name: str, hidden: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = hidden - hidden.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + _EPSILON)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]
