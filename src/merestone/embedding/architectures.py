"""How models of BERT's family name their parts, as data.

Each entry maps the names of a published ``model.safetensors`` to those of
:mod:`merestone.embedding.encoder_graph`, and the keys of its ``config.json`` to the graph's shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.encoder_graph import ACTIVATIONS, RELATIVE, EncoderShape
from merestone.embedding.weights import as_floats

Floats = NDArray[np.float32]


class UnsuitableModelError(Exception):
    """Says in words why a model cannot be run."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """One ``model_type``, or several that differ in no name."""

    prefix: str
    """Before every name in models that have a head as well."""
    layer: str
    """Of layer ``{n}``."""
    parts: Mapping[str, str]
    """Name within a layer by the graph's."""
    width: str = "hidden_size"
    layers: str = "num_hidden_layers"
    heads: str = "num_attention_heads"
    inner: str = "intermediate_size"
    activation: str = "hidden_act"
    has_types: bool = True
    skips_positions: bool = False
    """Positions are counted from behind the padding token's own number."""
    relative: str = ""
    """Table of biases by distance."""


_BERT_PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "attended.norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "narrow.norm": "output.LayerNorm",
}

_ROBERTA = Architecture("roberta.", "encoder.layer.{n}", _BERT_PARTS, skips_positions=True)

ARCHITECTURES: Mapping[str, Architecture] = {
    "bert": Architecture("bert.", "encoder.layer.{n}", _BERT_PARTS),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "distilbert": Architecture(
        "distilbert.",
        "transformer.layer.{n}",
        {
            "query": "attention.q_lin",
            "key": "attention.k_lin",
            "value": "attention.v_lin",
            "attended": "attention.out_lin",
            "attended.norm": "sa_layer_norm",
            "wide": "ffn.lin1",
            "narrow": "ffn.lin2",
            "narrow.norm": "output_layer_norm",
        },
        width="dim",
        layers="n_layers",
        heads="n_heads",
        inner="hidden_dim",
        activation="activation",
        has_types=False,
    ),
    "mpnet": Architecture(
        "mpnet.",
        "encoder.layer.{n}",
        {
            **_BERT_PARTS,
            "query": "attention.attn.q",
            "key": "attention.attn.k",
            "value": "attention.attn.v",
            "attended": "attention.attn.o",
            "attended.norm": "attention.LayerNorm",
        },
        has_types=False,
        skips_positions=True,
        relative="encoder.relative_attention_bias.weight",
    ),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known of a model before its weights are read."""

    architecture: Architecture
    shape: EncoderShape
    padding: int
    first_position: int
    positions: int
    """Longest input."""


def plan_of(config: Mapping[str, object]) -> Plan:
    """What a ``config.json`` says; raises ``UnsuitableModelError`` for what cannot be run here."""
    kind = config.get("model_type")
    if kind not in ARCHITECTURES:
        raise UnsuitableModelError(
            f"its model_type is {kind!r}; those that run here are {', '.join(ARCHITECTURES)}"
        )
    architecture = ARCHITECTURES[str(kind)]
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise UnsuitableModelError("its positions are not absolute")
    if config.get("is_decoder"):
        raise UnsuitableModelError("it reads from left to right only (is_decoder)")
    activation = str(config.get(architecture.activation, "gelu"))
    if activation not in ACTIVATIONS:
        raise UnsuitableModelError(
            f"its activation is {activation!r}; those that run here are {', '.join(ACTIVATIONS)}"
        )
    shape = EncoderShape(
        width=_whole(config, architecture.width),
        layers=_whole(config, architecture.layers),
        heads=_whole(config, architecture.heads),
        inner=_whole(config, architecture.inner),
        norm_epsilon=_epsilon(config.get("layer_norm_eps", 1e-12)),
        activation=activation,
        buckets=_whole(config, "relative_attention_num_buckets", 32)
        if architecture.relative
        else 0,
    )
    padding = _whole(config, "pad_token_id", 1 if architecture.skips_positions else 0)
    first = padding + 1 if architecture.skips_positions else 0
    return Plan(
        architecture, shape, padding, first, _whole(config, "max_position_embeddings", 512) - first
    )


@dataclass(frozen=True, slots=True)
class Arranged:
    """A model's tensors as the graph and the look-up want them."""

    weights: dict[str, Floats]
    words: str
    """Name of the table of word vectors, (vocabulary, width), which stays where it is."""
    places: Floats
    """(positions, width), type vector included."""


def arrange(plan: Plan, tensors: Mapping[str, NDArray[np.generic]]) -> Arranged:
    """``tensors`` by the model's own names, as stored. Raises ``KeyError`` with the name of one
    that is missing."""
    architecture, prefix = plan.architecture, ""
    if f"{architecture.prefix}embeddings.word_embeddings.weight" in tensors:
        prefix = architecture.prefix

    def tensor(name: str) -> Floats:
        return as_floats(tensors[prefix + name])

    weights = {
        "norm.weight": tensor("embeddings.LayerNorm.weight"),
        "norm.bias": tensor("embeddings.LayerNorm.bias"),
    }
    if architecture.relative:
        weights[RELATIVE] = tensor(architecture.relative)
    for number in range(plan.shape.layers):
        old, new = f"{architecture.layer.format(n=number)}.", f"layer.{number}."
        heads = [old + architecture.parts[part] for part in ("query", "key", "value")]
        joined = np.concatenate([tensor(f"{part}.weight") for part in heads])
        weights[f"{new}qkv.weight"] = np.ascontiguousarray(joined.T)
        weights[f"{new}qkv.bias"] = np.concatenate([tensor(f"{part}.bias") for part in heads])
        for linear in ("attended", "wide", "narrow"):
            place = old + architecture.parts[linear]
            weights[f"{new}{linear}.weight"] = np.ascontiguousarray(tensor(f"{place}.weight").T)
            weights[f"{new}{linear}.bias"] = tensor(f"{place}.bias")
        for linear in ("attended", "narrow"):
            norm = old + architecture.parts[f"{linear}.norm"]
            for part in ("weight", "bias"):
                weights[f"{new}{linear}.norm.{part}"] = tensor(f"{norm}.{part}")
    places = tensor("embeddings.position_embeddings.weight")[plan.first_position :]
    if architecture.has_types:
        # One text an input, so that every token is of type 0.
        places = places + tensor("embeddings.token_type_embeddings.weight")[0]
    return Arranged(weights, f"{prefix}embeddings.word_embeddings.weight", places)


_REQUIRED = -1


def _whole(config: Mapping[str, object], key: str, default: int = _REQUIRED) -> int:
    value = config.get(key, default)
    if value is None and default != _REQUIRED:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UnsuitableModelError(f"config.json has {key} = {value!r}")
    return value


def _epsilon(value: object) -> float:
    if not isinstance(value, int | float):
        raise UnsuitableModelError(f"config.json has layer_norm_eps = {value!r}")
    return float(value)
