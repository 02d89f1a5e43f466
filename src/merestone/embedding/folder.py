"""Embedders from model folders as they are published: no torch, no conversion.

What runs is what :data:`~merestone.embedding.architectures.ARCHITECTURES` lists, with float32
arithmetic whatever the weights are stored as. The graph is written when the model is opened.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.architectures import Plan, UnsuitableModelError, arrange, plan_of
from merestone.embedding.contents import contents_digest
from merestone.embedding.embedder import TokenEmbedder
from merestone.embedding.encoder_graph import encoder_graph
from merestone.embedding.folder_layout import Layout, read_json, read_layout
from merestone.embedding.model import Description, TokenIds
from merestone.embedding.pooling import pool
from merestone.embedding.sessions import open_session
from merestone.embedding.token_encoder import TokenEncoder
from merestone.embedding.weights import as_floats, read_tensors
from merestone.text.tokenizers import FileTokenizer
from merestone.types import EmbedderError, EmbeddingSettings, Vectors

_WEIGHTS, _INDEX, _TOKENIZER = "model.safetensors", "model.safetensors.index.json", "tokenizer.json"


def open_folder(folder: Path, settings: EmbeddingSettings) -> TokenEmbedder:
    """The embedder of a folder with ``config.json``, ``tokenizer.json`` and safetensors, with or
    without what Sentence Transformers adds. Raises ``EmbedderError`` for one that cannot be run,
    saying why."""
    try:
        layout = read_layout(folder)
        plan = plan_of(layout.config)
        weights = _weight_files(layout.transformer)
        tokenizer = layout.transformer / _TOKENIZER
        if not tokenizer.is_file():
            raise UnsuitableModelError(
                f"it has no {_TOKENIZER}; saving it once with a fast tokenizer makes one"
            )
        identity = {
            "weights": [contents_digest(path) for path in weights],
            "tokenizer": contents_digest(tokenizer),
            "config": {key: layout.config.get(key) for key in _DECIDING},
        }
    except UnsuitableModelError as error:
        raise unsuitable(folder, str(error)) from error
    except OSError as error:
        raise unsuitable(folder, f"a file of it cannot be read ({error})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise unsuitable(folder, f"a file that describes it is damaged ({error!r})") from error
    described = Description(
        identity={},
        width=plan.shape.width,
        max_tokens=min(layout.max_tokens or plan.positions, plan.positions),
        positions=plan.positions,
        pooling=layout.pooling or "mean",
        passage_template=layout.passage_template,
        query_template=layout.query_template,
    ).adapted(settings)
    described = described.with_identity({**identity, **described.deciding()})
    model = FolderModel(folder, layout, plan, weights, settings.threads)
    return TokenEmbedder(folder.name, "folder", described, model, settings)


_DECIDING = ("model_type", "hidden_act", "activation", "layer_norm_eps", "num_attention_heads")
"""Keys of ``config.json`` that change a vector and that the weights' shapes don't show."""


class FolderModel:
    """A published model, opened at the first call."""

    def __init__(
        self, folder: Path, layout: Layout, plan: Plan, weights: Sequence[Path], threads: int
    ) -> None:
        self._folder = folder
        self._layout = layout
        self._plan = plan
        self._weights = weights
        self._threads = threads
        self._opening = threading.Lock()

    @cached_property
    def tokenizer(self) -> FileTokenizer:
        return FileTokenizer.from_file(self._layout.transformer / _TOKENIZER)

    def encode(self, rows: Sequence[TokenIds], pooling: str) -> Vectors:
        """See :class:`~merestone.embedding.model.TokenModel`."""
        return pool(self.encode_tokens(rows), pooling)

    def encode_tokens(self, rows: Sequence[TokenIds]) -> list[Vectors]:
        """See :class:`~merestone.embedding.model.TokenModel`."""
        with self._opening:
            encoder = self._encoder
        return encoder.encode(rows)

    @cached_property
    def _encoder(self) -> TokenEncoder:
        plan = self._plan
        try:
            tensors: dict[str, NDArray[np.generic]] = {}
            for path in self._weights:
                tensors.update(read_tensors(path))
            arranged = arrange(plan, tensors)
            words = tensors[arranged.words]
            session = open_session(encoder_graph(plan.shape), self._threads, arranged.weights)
        except KeyError as error:
            raise unsuitable(self._folder, f"its weights have no {error}") from error
        except Exception as error:  # onnxruntime's own errors share no base but this
            raise unsuitable(self._folder, f"its weights cannot be opened ({error})") from error
        return TokenEncoder(
            session,
            lambda ids: as_floats(words[ids]),
            arranged.places,
            plan.padding,
            plan.shape.buckets,
        )


def unsuitable(path: Path, problem: str) -> EmbedderError:
    """The error for a local model that cannot be used."""
    return EmbedderError(
        "model-unsuitable",
        f"The model in {path} cannot be used: {problem}.",
        "Export it to ONNX and name the .onnx file, serve it and name the endpoint, or install "
        "the extra sentence-transformers.",
    )


def _weight_files(folder: Path) -> list[Path]:
    if (folder / _WEIGHTS).is_file():
        return [folder / _WEIGHTS]
    if (folder / _INDEX).is_file():
        index = read_json(folder / _INDEX)
        if isinstance(index, dict) and isinstance(index.get("weight_map"), dict):
            return [folder / name for name in sorted(set(index["weight_map"].values()))]
    raise UnsuitableModelError(f"it has no {_WEIGHTS}")
