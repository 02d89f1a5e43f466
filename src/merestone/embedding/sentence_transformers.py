"""Models that run by the package Sentence Transformers: the extra ``sentence-transformers``.

It loads torch, which takes seconds; whoever can runs a folder without it
(:mod:`merestone.embedding.folder`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from merestone.embedding.contents import contents_digest
from merestone.embedding.folder_layout import prompt_templates
from merestone.embedding.named_tokenizers import embedder_tokenizer
from merestone.embedding.services import known_model
from merestone.embedding.templates import PLAIN
from merestone.embedding.text_embedder import TextEmbedder, TextLimits
from merestone.text.tokenizers import FileTokenizer
from merestone.types import (
    JSON,
    EmbedderError,
    EmbeddingSettings,
    SettingsError,
    Tokenizer,
    Vectors,
)

_BATCH = 32


def open_embedder(settings: EmbeddingSettings) -> TextEmbedder:
    """The model behind the colon of ``settings.model``: a folder, or a name that the package
    knows how to find.

    With ``max_tokens`` and ``tokenizer`` set, or for a model that is known, nothing is loaded
    yet; else the model is, to ask it.
    """
    _, _, name = settings.model.partition(":")
    if not name:
        raise SettingsError(
            "embedder-needs-model",
            f"embedding.model = {settings.model!r} names no model.",
            'Write it like "sentence-transformers:BAAI/bge-small-en-v1.5".',
        )
    model = SentenceTransformersModel(name, settings)
    known = known_model(name)
    passage, query = PLAIN, PLAIN
    if Path(name).is_dir():
        passage, query = prompt_templates(Path(name))
    elif known:
        passage, query = known.passage_template, known.query_template
    limits = TextLimits(
        max_tokens=settings.max_tokens or (known.max_tokens if known else 0) or model.max_tokens,
        tokenizer=_tokenizer(settings, known.tokenizer if known else "", model),
        passage_template=passage
        if settings.passage_template is None
        else settings.passage_template,
        query_template=query if settings.query_template is None else settings.query_template,
        batch_tokens=max(settings.batch_tokens, _BATCH * 256),
        scripts=frozenset(settings.scripts) or (known.scripts if known else None),
    )
    return TextEmbedder(settings.model, _identity(name), model, limits, settings)


def _tokenizer(
    settings: EmbeddingSettings, known: str, model: SentenceTransformersModel
) -> Tokenizer:
    named = settings.tokenizer or known
    return embedder_tokenizer(named) if named else model.tokenizer


def _identity(name: str) -> JSON:
    """The contents of a folder, wherever it lies; else the name."""
    folder = Path(name)
    if not folder.is_dir():
        return {"sentence-transformers": name}
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in (".json", ".safetensors", ".bin") and path.is_file()
    )
    return {
        "sentence-transformers": {
            path.relative_to(folder).as_posix(): contents_digest(path) for path in files
        }
    }


class SentenceTransformersModel:
    """One model, loaded at the first need. May be used by several threads, one at a time."""

    def __init__(self, name: str, settings: EmbeddingSettings) -> None:
        self._name = name
        self._threads = settings.threads
        self._batch = settings.batch or _BATCH
        self._lock = threading.RLock()

    @property
    def batch(self) -> int:
        return self._batch

    @cached_property
    def width(self) -> int:
        with self._lock:
            return len(self._model.encode(["a"], prompt="", show_progress_bar=False)[0])

    @cached_property
    def max_tokens(self) -> int:
        """The limit that its authors set."""
        with self._lock:
            limit = self._model.max_seq_length
        if not isinstance(limit, int) or limit < 1:
            raise SettingsError(
                "embedder-needs-limit",
                f"{self._name} does not say how many tokens it reads.",
                "Set embedding.max_tokens, as the model's card says.",
            )
        return limit

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's own."""
        with self._lock:
            backend = getattr(self._model.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise SettingsError(
                "embedder-needs-limit",
                f"{self._name} has no fast tokenizer that could be asked for places of tokens.",
                "Name its tokenizer.json as embedding.tokenizer.",
            )
        return FileTokenizer(Path(self._name), backend.to_str().encode())

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """See :class:`~merestone.embedding.text_embedder.TextModel`. Templates are filled in
        already, so the model's own prompts stay out."""
        try:
            with self._lock:
                vectors = self._model.encode(
                    list(texts),
                    prompt="",
                    batch_size=self._batch,
                    convert_to_numpy=True,
                    normalize_embeddings=False,
                    show_progress_bar=False,
                )
        except (RuntimeError, ValueError) as error:
            raise EmbedderError(
                "model-unsuitable",
                f"{self._name} failed: {error}.",
                "See whether the package alone can run it.",
            ) from error
        return np.asarray(vectors, np.float32)

    def keep(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Nothing was paid for it but time: the cache of a library is enough."""

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise SettingsError(
                "extra-missing",
                f"sentence-transformers:{self._name} needs a package that is not installed.",
                "Install it: pip install 'merestone[sentence-transformers]'.",
            ) from error
        if self._threads:
            import torch

            torch.set_num_threads(self._threads)
        try:
            return SentenceTransformer(self._name)
        except (OSError, ValueError) as error:
            raise EmbedderError(
                "model-unsuitable",
                f"{self._name} cannot be loaded: {error}.",
                "Give the path of a folder that holds it, or a name that can be reached.",
            ) from error
