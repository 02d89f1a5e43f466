"""The forward pass of BERT's family written out in numpy, one text at a time.

Devlin et al., "BERT", 2019; Liu et al., "RoBERTa", 2019; Sanh et al., "DistilBERT", 2019; Song et
al., "MPNet", 2020. Slow and plain on purpose: what the fused graph is held against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_erf = np.vectorize(math.erf)


def token_vectors(
    weights: Mapping[str, NDArray[np.float32]],
    config: Mapping[str, object],
    ids: list[int],
) -> Array:
    """(tokens, width) of one text, special tokens included in ``ids``."""
    kind = config["model_type"]
    get = {name: values.astype(np.float64) for name, values in weights.items()}
    epsilon = float(str(config["layer_norm_eps"]))
    heads = int(str(config.get("num_attention_heads", config.get("n_heads"))))
    # RoBERTa and its kin number positions from the padding token's own number on.
    offset = 0 if kind in ("bert", "distilbert") else int(str(config["pad_token_id"])) + 1

    def linear(name: str, hidden: Array) -> Array:
        return hidden @ get[f"{name}.weight"].T + get[f"{name}.bias"]

    def normalise(name: str, hidden: Array) -> Array:
        centred = hidden - hidden.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon)
        return scaled * get[f"{name}.weight"] + get[f"{name}.bias"]

    hidden = get["embeddings.word_embeddings.weight"][ids]
    hidden = hidden + get["embeddings.position_embeddings.weight"][offset : offset + len(ids)]
    if "embeddings.token_type_embeddings.weight" in get:
        hidden = hidden + get["embeddings.token_type_embeddings.weight"][0]
    hidden = normalise("embeddings.LayerNorm", hidden)
    number = 0
    while True:
        names = _names(str(kind), number)
        if f"{names['query']}.weight" not in get:
            return hidden
        query, key, value = (linear(names[part], hidden) for part in ("query", "key", "value"))
        attended = []
        for head, (q, k, v) in enumerate(
            zip(*(np.split(each, heads, axis=1) for each in (query, key, value)), strict=True)
        ):
            scores = q @ k.T / math.sqrt(q.shape[1])
            if kind == "mpnet":
                table = get["encoder.relative_attention_bias.weight"]
                for i in range(len(ids)):
                    for j in range(len(ids)):
                        scores[i, j] += table[_bucket(j - i), head]
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            attended.append(scores / scores.sum(axis=1, keepdims=True) @ v)
        joined = linear(names["out"], np.concatenate(attended, axis=1))
        hidden = normalise(names["first norm"], hidden + joined)
        wide = linear(names["wide"], hidden)
        wide = _activation(str(config.get("hidden_act", "gelu")), wide)
        hidden = normalise(names["second norm"], hidden + linear(names["narrow"], wide))
        number += 1


def _activation(name: str, wide: Array) -> Array:
    if name == "relu":
        return np.maximum(wide, 0)
    if name == "gelu_new":
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
        return 0.5 * wide * (1 + np.tanh(inner))
    return wide * 0.5 * (1 + _erf(wide / math.sqrt(2)))


def _bucket(distance: int) -> int:
    """Of 32: one each for the nearest 8 on either side, then by logarithm up to 128."""
    first = 16 if distance > 0 else 0
    size = abs(distance)
    if size < 8:
        return first + size
    return first + min(15, 8 + int(math.log(size / 8) / math.log(128 / 8) * 8))


def _names(kind: str, number: int) -> dict[str, str]:
    if kind == "distilbert":
        layer = f"transformer.layer.{number}"
        return {
            "query": f"{layer}.attention.q_lin",
            "key": f"{layer}.attention.k_lin",
            "value": f"{layer}.attention.v_lin",
            "out": f"{layer}.attention.out_lin",
            "first norm": f"{layer}.sa_layer_norm",
            "wide": f"{layer}.ffn.lin1",
            "narrow": f"{layer}.ffn.lin2",
            "second norm": f"{layer}.output_layer_norm",
        }
    layer = f"encoder.layer.{number}"
    names = {
        "query": f"{layer}.attention.self.query",
        "key": f"{layer}.attention.self.key",
        "value": f"{layer}.attention.self.value",
        "out": f"{layer}.attention.output.dense",
        "first norm": f"{layer}.attention.output.LayerNorm",
        "wide": f"{layer}.intermediate.dense",
        "narrow": f"{layer}.output.dense",
        "second norm": f"{layer}.output.LayerNorm",
    }
    if kind == "mpnet":
        names |= {
            "query": f"{layer}.attention.attn.q",
            "key": f"{layer}.attention.attn.k",
            "value": f"{layer}.attention.attn.v",
            "out": f"{layer}.attention.attn.o",
            "first norm": f"{layer}.attention.LayerNorm",
        }
    return names
