"""Running a BERT encoder from a local folder, with onnxruntime and without torch.

A folder holds ``graph.onnx`` (fused operators, no weights), ``weights.safetensors`` (int8 matrices
with float32 scales), ``tokenizer.json`` and ``config.json``; ``tools/build_minilm.py`` makes one.
Matrices are restored to float32 when the model is opened, and all arithmetic is float32: with
activations in int8, a vector would depend on the batch it was computed in.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from merestone.embedding.encoder_graph import EncoderShape, encoder_graph
from merestone.embedding.model import Description, TokenIds, padded
from merestone.embedding.pooling import pool
from merestone.embedding.sessions import open_session
from merestone.embedding.token_encoder import TokenEncoder
from merestone.embedding.weights import SCALE, read_tensors, restore
from merestone.text.tokenizers import FileTokenizer
from merestone.types import JSON, EmbedderError, Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_WEIGHTS, _GRAPH, TOKENIZER = "weights.safetensors", "graph.onnx", "tokenizer.json"


@dataclass(frozen=True, slots=True)
class BertConfig:
    """What ``config.json`` says of a model."""

    dimension: int
    max_tokens: int
    """Longest input that the model was made for, special tokens included."""
    first_tokens: tuple[int, ...]
    """Special tokens before each input."""
    last_tokens: tuple[int, ...]
    """Special tokens behind each input."""
    padding_token: int
    pooling: str
    normalised: bool
    passage_template: str
    """``{text}`` stands for the text."""
    query_template: str
    looked_up: tuple[str, ...]
    """Tables that the graph reads row by row and takes as int8."""
    layers: int
    heads: int
    norm_epsilon: float
    positions: int
    """Longest input that it can read at all."""
    sizes: Mapping[str, int]
    """Length in bytes by file name."""
    hashes: Mapping[str, str]
    """SHA-256 by file name, as it was when the folder was built."""


def read_config(folder: Path) -> BertConfig:
    """The description of the model in ``folder``; an ``EmbedderError`` if it cannot be read."""
    try:
        described = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        files = described["files"]
        config = BertConfig(
            dimension=described["dimension"],
            max_tokens=described["max_tokens"],
            first_tokens=tuple(described["first_tokens"]),
            last_tokens=tuple(described["last_tokens"]),
            padding_token=described["padding_token"],
            pooling=described["pooling"],
            normalised=described["normalised"],
            passage_template=described["passage_template"],
            query_template=described["query_template"],
            looked_up=tuple(described["looked_up"]),
            layers=described["layers"],
            heads=described["heads"],
            norm_epsilon=described["layer_norm_eps"],
            positions=described["max_positions"],
            sizes={name: files[name]["bytes"] for name in (_WEIGHTS, _GRAPH, TOKENIZER)},
            hashes={name: files[name]["sha256"] for name in (_WEIGHTS, _GRAPH, TOKENIZER)},
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, f"config.json cannot be read ({error!r})") from error
    if config.pooling != "mean" or not config.normalised:
        raise _damaged(folder, "it wants a pooling or a scale of vectors other than this code has")
    return config


def identity(config: BertConfig) -> JSON:
    """All that decides the vector of a text within the limit, for a fingerprint."""
    return {
        "weights": config.hashes[_WEIGHTS],
        "graph": config.hashes[_GRAPH],
        "tokenizer": config.hashes[TOKENIZER],
        "pooling": config.pooling,
        "normalised": config.normalised,
        "dimension": config.dimension,
        "max_tokens": config.max_tokens,
        "passage_template": config.passage_template,
        "query_template": config.query_template,
    }


def adapted(config: BertConfig, described: Description) -> BertConfig:
    """``config`` with what the settings may change of it."""
    return replace(
        config,
        max_tokens=described.max_tokens,
        pooling=described.pooling,
        passage_template=described.passage_template,
        query_template=described.query_template,
    )


class BertEncoder:
    """Token ids to vectors. The weights are read at the first call; safe in threads."""

    def __init__(self, folder: Path, config: BertConfig, threads: int = 0) -> None:
        """``threads``: how many one call computes with; 0 is one a core."""
        self._folder = folder
        self._config = config
        self._threads = threads
        self._opening = threading.Lock()

    @cached_property
    def tokenizer(self) -> FileTokenizer:
        return FileTokenizer.from_file(self._folder / TOKENIZER)

    def encode(self, rows: Sequence[TokenIds], pooling: str = "mean") -> Vectors:
        """float32 of shape (rows, dimension), of length 1 with the mean.

        ``rows`` hold special tokens and at most as many tokens as the model has positions. A
        row's vector does not depend on the others beyond the last bits of float32.
        """
        if pooling != "mean":
            return pool(self.encode_tokens(rows), pooling)
        ids, mask = padded(rows, self._config.padding_token)
        with self._opening:
            session = self._session
        (pooled,) = session.run(["pooled"], {"input_ids": ids, "attention_mask": mask})
        vectors: Vectors = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors

    def encode_tokens(self, rows: Sequence[TokenIds]) -> list[Vectors]:
        """Of each row its token vectors, from a second graph that does not pool; its weights are
        in memory beside those of the first."""
        with self._opening:
            encoder = self._token_encoder
        return encoder.encode(rows)

    @cached_property
    def _session(self) -> InferenceSession:
        self._check_files()
        try:
            tensors = restore(read_tensors(self._folder / _WEIGHTS), self._config.looked_up)
            graph = (self._folder / _GRAPH).read_bytes()
            return open_session(graph, self._threads, tensors)
        except Exception as error:  # onnxruntime's own errors share no base but this
            raise _damaged(self._folder, f"onnxruntime cannot open it ({error})") from error

    @cached_property
    def _token_encoder(self) -> TokenEncoder:
        self._check_files()
        try:
            stored = read_tensors(self._folder / _WEIGHTS)
            words, scales = stored["words"], stored["words" + SCALE]
            tensors = restore(
                {name: each for name, each in stored.items() if not name.startswith("words")}, ()
            )
            places = tensors.pop("positions") + tensors.pop("types")[0]
            shape = EncoderShape(
                width=self._config.dimension,
                layers=self._config.layers,
                heads=self._config.heads,
                inner=tensors["layer.0.wide.bias"].size,
                norm_epsilon=self._config.norm_epsilon,
            )
            return TokenEncoder(
                open_session(encoder_graph(shape), self._threads, tensors),
                lambda ids: words[ids] * scales[ids],
                places,
                self._config.padding_token,
            )
        except Exception as error:  # onnxruntime's own errors share no base but this
            raise _damaged(self._folder, f"onnxruntime cannot open it ({error})") from error

    def _check_files(self) -> None:
        for name, size in self._config.sizes.items():
            path = self._folder / name
            if not path.is_file() or path.stat().st_size != size:
                raise _damaged(self._folder, f"{name} is missing or not {size} bytes long")


def _damaged(folder: Path, problem: str) -> EmbedderError:
    return EmbedderError(
        "model-damaged",
        f"The model in {folder} cannot be used: {problem}.",
        "Install Merestone again, or build the folder again if it is your own.",
    )
