"""Tiny models with random weights, in folders as published ones come."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

Weights = dict[str, NDArray[np.float32]]

WIDTH, INNER, HEADS, LAYERS, POSITIONS = 16, 32, 4, 2, 40

WORDS = (
    "the river flows past old mill and stone bridge cold deep wide fish swim there people cross "
    "it in boats a is was of to what how when where query passage : . , ! ?"
).split()

_BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_ROBERTA = ("<s>", "<pad>", "</s>", "<unk>")

KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert", "mpnet")


def make_folder(folder: Path, kind: str, seed: int = 0, **config: object) -> Weights:
    """Write a model of one ``model_type``; gives its weights by their published names."""
    folder.mkdir(parents=True, exist_ok=True)
    described = {**describe(kind), **config}
    weights = random_weights(kind, len(vocabulary(kind)), seed)
    (folder / "config.json").write_text(json.dumps(described))
    (folder / "tokenizer.json").write_text(tokenizer(kind).to_str())
    (folder / "model.safetensors").write_bytes(pack(weights))
    (folder / "tokenizer_config.json").write_text(json.dumps(describe_tokenizer(kind)))
    return weights


def vocabulary(kind: str) -> list[str]:
    special = _BERT if kind in ("bert", "distilbert") else _ROBERTA
    return [*special, *WORDS, *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]


def describe(kind: str) -> dict[str, object]:
    is_bert = kind in ("bert", "distilbert")
    described: dict[str, object] = {
        "model_type": kind,
        "vocab_size": len(vocabulary(kind)),
        "pad_token_id": 0 if is_bert else 1,
        "max_position_embeddings": POSITIONS + (0 if is_bert else 2),
        "layer_norm_eps": 1e-12 if is_bert else 1e-5,
    }
    if kind == "distilbert":
        return {
            **described,
            "dim": WIDTH,
            "hidden_dim": INNER,
            "n_heads": HEADS,
            "n_layers": LAYERS,
            "activation": "gelu",
        }
    if kind == "mpnet":
        described["relative_attention_num_buckets"] = 32
    return {
        **described,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "hidden_act": "gelu",
        "type_vocab_size": 2 if kind == "bert" else 1,
    }


def describe_tokenizer(kind: str) -> dict[str, str]:
    """What ``transformers`` wants to know of the tokenizer."""
    if kind in ("bert", "distilbert"):
        padding, unknown, first, last = _BERT
    else:
        first, padding, last, unknown = _ROBERTA
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": padding,
        "unk_token": unknown,
        "cls_token": first,
        "sep_token": last,
    }


def tokenizer(kind: str) -> Tokenizer:
    """Words and single letters behind them, with the special tokens of the kind around."""
    words = vocabulary(kind)
    is_bert = kind in ("bert", "distilbert")
    unknown, first, last = (words[1], words[2], words[3]) if is_bert else ("<unk>", "<s>", "</s>")
    made = Tokenizer(
        models.WordPiece({word: number for number, word in enumerate(words)}, unk_token=unknown)
    )
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(list(words[:4]))
    made.post_processor = processors.BertProcessing(
        (last, words.index(last)), (first, words.index(first))
    )
    return made


def random_weights(kind: str, words: int, seed: int) -> Weights:
    random = np.random.default_rng(seed)

    def matrix(*shape: int) -> NDArray[np.float32]:
        return random.normal(0, 0.35, shape).astype(np.float32)

    def norm(name: str) -> Weights:
        return {
            f"{name}.weight": (1 + matrix(WIDTH)).astype(np.float32),
            f"{name}.bias": matrix(WIDTH),
        }

    def linear(name: str, out: int, into: int) -> Weights:
        return {f"{name}.weight": matrix(out, into), f"{name}.bias": matrix(out)}

    offset = 0 if kind in ("bert", "distilbert") else 2
    weights: Weights = {
        "embeddings.word_embeddings.weight": matrix(words, WIDTH),
        "embeddings.position_embeddings.weight": matrix(POSITIONS + offset, WIDTH),
        **norm("embeddings.LayerNorm"),
    }
    if kind not in ("distilbert", "mpnet"):
        types = 2 if kind == "bert" else 1
        weights["embeddings.token_type_embeddings.weight"] = matrix(types, WIDTH)
    if kind == "mpnet":
        weights["encoder.relative_attention_bias.weight"] = matrix(32, HEADS) * 4
    for number in range(LAYERS):
        if kind == "distilbert":
            layer = f"transformer.layer.{number}"
            heads = [f"{layer}.attention.{part}_lin" for part in ("q", "k", "v", "out")]
            wide, narrow = f"{layer}.ffn.lin1", f"{layer}.ffn.lin2"
            norms = [f"{layer}.sa_layer_norm", f"{layer}.output_layer_norm"]
        else:
            layer = f"encoder.layer.{number}"
            if kind == "mpnet":
                heads = [f"{layer}.attention.attn.{part}" for part in ("q", "k", "v", "o")]
                norms = [f"{layer}.attention.LayerNorm", f"{layer}.output.LayerNorm"]
            else:
                own = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
                heads = [*own, f"{layer}.attention.output.dense"]
                norms = [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
            wide, narrow = f"{layer}.intermediate.dense", f"{layer}.output.dense"
        for name in heads:
            weights |= linear(name, WIDTH, WIDTH)
        weights |= linear(wide, INNER, WIDTH) | linear(narrow, WIDTH, INNER)
        for name in norms:
            weights |= norm(name)
    return weights


def pack(weights: Mapping[str, NDArray[np.generic]], kind: str = "F32") -> bytes:
    """A safetensors file; ``kind`` is how the values are stored."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    data, end = [], 0
    for name, values in weights.items():
        stored = stored_as(values, kind)
        start, end = end, end + len(stored)
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [start, end]}
        data.append(stored)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data)


def stored_as(values: NDArray[np.generic], kind: str) -> bytes:
    if kind == "BF16":
        return (values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return values.astype({"F32": "<f4", "F16": "<f2"}[kind]).tobytes()


def write_pooling(folder: Path, pooling: str, max_tokens: int | None = None) -> None:
    """What Sentence Transformers writes beside a model."""
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {
            "idx": 1,
            "name": "1",
            "path": "1_Pooling",
            "type": "sentence_transformers.models.Pooling",
        },
        {"idx": 2, "name": "2", "path": "2_N", "type": "sentence_transformers.models.Normalize"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    keys = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "lasttoken")
    name = {"cls": "cls_token", "mean": "mean_tokens", "last": "lasttoken"}.get(pooling, pooling)
    described: dict[str, object] = {f"pooling_mode_{key}": key == name for key in keys}
    described["word_embedding_dimension"] = WIDTH
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(described))
    if max_tokens:
        limits = {"max_seq_length": max_tokens, "do_lower_case": False}
        (folder / "sentence_bert_config.json").write_text(json.dumps(limits))
