"""An embedder from a model folder: tokens, limits, windows and batches around the encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from merestone.embedding.batching import checked, encode_in_batches, gather
from merestone.embedding.bert import TOKENIZER, BertEncoder, TokenIds, identity, read_config
from merestone.embedding.overlong import check_settings, input_too_long, windows
from merestone.text.hashing import canonical_json, digest
from merestone.text.tokenizers import FileTokenizer
from merestone.types import EmbeddingSettings, ProgressCallback, Tokenizer, Vectors

_REVISION = 1
"""Raised when the same model and text give another vector."""

_TOKENISED = 256
"""Texts tokenised at a time: lists of Python integers are far larger than arrays."""


class BertEmbedder:
    """Texts to unit vectors with a model folder as :mod:`merestone.embedding.bert` reads it.

    Making one reads only ``config.json``; the tokenizer and the weights are read when they are
    needed first. It may be used by several threads.
    """

    def __init__(self, name: str, folder: Path, settings: EmbeddingSettings) -> None:
        check_settings(settings)
        self._name = name
        self._folder = folder
        self._config = read_config(folder)
        self._on_overlong = settings.on_overlong
        self._batch_tokens = settings.batch_tokens
        self._encoder = BertEncoder(folder, self._config, settings.threads)

    @property
    def name(self) -> str:
        return self._name

    @cached_property
    def fingerprint(self) -> str:
        parts = ["bert", str(_REVISION), canonical_json(identity(self._config))]
        if self._on_overlong != "error":
            parts.append(self._on_overlong)
        return digest(*parts)

    @property
    def dimension(self) -> int:
        return self._config.dimension

    @property
    def max_tokens(self) -> int:
        return self._config.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    @cached_property
    def _tokenizer(self) -> FileTokenizer:
        return FileTokenizer.from_file(self._folder / TOKENIZER)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape ``(len(texts), dimension)``; row i belongs to text i.

        A text beyond ``max_tokens`` is an ``EmbedderError`` before anything is embedded, or is
        truncated or windowed if the settings say so.
        """
        return gather(self.embed_batches(texts), len(texts), self.dimension)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`embed_passages`; but a query beyond the limit is always windowed, since who
        asks can hardly cut it better."""
        inputs = self._inputs(texts, self._config.query_template, "window")
        return gather(self._encoded(inputs), len(texts), self.dimension)

    def embed_batches(
        self, texts: Sequence[str], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Passages batch by batch: indexes into ``texts`` and their vectors, as soon as they are
        ready and not in the order of ``texts``.

        All texts are tokenised, and judged by the limit, before the first batch is embedded.
        ``progress`` is called after each batch with the texts and tokens done so far.
        """
        inputs = self._inputs(texts, self._config.passage_template, self._on_overlong)
        yield from self._encoded(inputs, progress)

    def _encoded(
        self, inputs: list[list[TokenIds]], progress: ProgressCallback | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        batches = encode_in_batches(inputs, self._encode, self._batch_tokens, progress)
        for indexes, vectors in batches:
            yield indexes, checked(vectors, (len(indexes), self.dimension))

    def _encode(self, rows: Sequence[TokenIds]) -> Vectors:
        return self._encoder.encode(rows)

    def _inputs(
        self, texts: Sequence[str], template: str, on_overlong: str
    ) -> list[list[TokenIds]]:
        """Rows of token ids of each text: one, or its windows."""
        inputs: list[list[TokenIds]] = []
        for start in range(0, len(texts), _TOKENISED):
            part = texts[start : start + _TOKENISED]
            filled = [template.replace("{text}", text) for text in part]
            for text, ids in zip(part, self._tokenizer.encode_batch(filled), strict=True):
                row = np.array(ids, np.int32)
                if len(row) <= self.max_tokens:
                    inputs.append([row])
                elif on_overlong == "error":
                    raise input_too_long(text, len(row), self.max_tokens)
                else:
                    inputs.append(self._cut(row, first_only=on_overlong == "truncate"))
        return inputs

    def _cut(self, row: TokenIds, *, first_only: bool) -> list[TokenIds]:
        """Parts of ``row`` within the limit, each with special tokens around it."""
        first = np.array(self._config.first_tokens, np.int32)
        last = np.array(self._config.last_tokens, np.int32)
        own = row[len(first) : len(row) - len(last)]
        places = windows(len(own), self.max_tokens - len(first) - len(last))
        return [
            np.concatenate([first, own[start:end], last])
            for start, end in (places[:1] if first_only else places)
        ]
