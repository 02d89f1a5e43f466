"""Running a BERT encoder from a local folder, with onnxruntime and without torch.

A folder holds ``graph.onnx`` (fused operators, no weights), ``weights.safetensors`` (int8 matrices
with float32 scales), ``tokenizer.json`` and ``config.json``; ``tools/build_minilm.py`` makes one.
Matrices are restored to float32 when the model is opened, and all arithmetic is float32: with
activations in int8, a vector would depend on the batch it was computed in.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.weights import read_tensors, restore
from merestone.types import JSON, EmbedderError, Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

TokenIds: TypeAlias = "NDArray[np.int32]"

_WEIGHTS, _GRAPH, TOKENIZER = "weights.safetensors", "graph.onnx", "tokenizer.json"
_ERRORS_ONLY = 3


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


class BertEncoder:
    """Token ids to unit vectors. The weights are read at the first call; safe in threads."""

    def __init__(self, folder: Path, config: BertConfig, threads: int = 0) -> None:
        """``threads``: how many one call computes with; 0 is one a core."""
        self._folder = folder
        self._config = config
        self._threads = threads or _cores()
        self._opening = threading.Lock()

    def encode(self, rows: Sequence[TokenIds]) -> Vectors:
        """float32 of shape (rows, dimension), each row of length 1.

        ``rows`` hold special tokens and at most as many tokens as the model has positions. A
        row's vector does not depend on the others beyond the last bits of float32.
        """
        longest = max(map(len, rows))
        ids = np.full((len(rows), longest), self._config.padding_token, np.int32)
        mask = np.zeros((len(rows), longest), np.int32)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask}
        (pooled,) = self._open().run(["pooled"], inputs)
        vectors: Vectors = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors

    def _open(self) -> InferenceSession:
        with self._opening:
            return self._session

    @cached_property
    def _session(self) -> InferenceSession:
        for name, size in self._config.sizes.items():
            path = self._folder / name
            if not path.is_file() or path.stat().st_size != size:
                raise _damaged(self._folder, f"{name} is missing or not {size} bytes long")
        try:
            return _open_session(self._folder, self._config, self._threads)
        except Exception as error:  # onnxruntime's own errors share no base but this
            raise _damaged(self._folder, f"onnxruntime cannot open it ({error})") from error


def _open_session(folder: Path, config: BertConfig, threads: int) -> InferenceSession:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = threads
    # Waiting threads sleep: an idle server burns nothing, and callers don't fight for cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    tensors = restore(read_tensors(folder / _WEIGHTS), config.looked_up)
    # onnxruntime copies what it is handed here and drops the copy once it has packed a matrix for
    # multiplication, so that the float32 weights stay in memory once.
    options.add_external_initializers(
        list(tensors),
        [onnxruntime.OrtValue.ortvalue_from_numpy(tensor) for tensor in tensors.values()],
    )
    return onnxruntime.InferenceSession(
        (folder / _GRAPH).read_bytes(), options, providers=["CPUExecutionProvider"]
    )


def _cores() -> int:
    """Cores that this process may use. onnxruntime's own default pins threads to cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _damaged(folder: Path, problem: str) -> EmbedderError:
    return EmbedderError(
        "model-damaged",
        f"The model in {folder} cannot be used: {problem}.",
        "Install Merestone again, or build the folder again if it is your own.",
    )
