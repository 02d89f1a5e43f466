"""What an embedder that works on token ids needs of the model beneath it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from merestone.embedding.pooling import check_pooling
from merestone.embedding.templates import PLAIN, check_template
from merestone.types import JSON, EmbeddingSettings, SettingsError, Vectors

if TYPE_CHECKING:
    from merestone.text.tokenizers import FileTokenizer

TokenIds: TypeAlias = "NDArray[np.int32]"


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a model before its weights are read."""

    identity: JSON
    """All that decides a token's vector, for a fingerprint."""
    width: int
    """Values of a vector as the model gives it."""
    max_tokens: int
    """Longest input that it was made for, special tokens included."""
    positions: int
    """Longest input that it can read at all."""
    pooling: str = "mean"
    passage_template: str = PLAIN
    query_template: str = PLAIN
    scripts: frozenset[str] | None = None
    """Writing systems that it was trained for; ``None``: unknown."""

    def adapted(self, settings: EmbeddingSettings) -> Description:
        """As the settings want it; what cannot be is a ``SettingsError``."""
        limit = settings.max_tokens or self.max_tokens
        if limit > self.positions:
            raise SettingsError(
                "max-tokens-too-large",
                f"embedding.max_tokens = {limit}, but the model has {self.positions} positions.",
                "Lower it: what is beyond would never be embedded.",
            )
        passage, query = settings.passage_template, settings.query_template
        return replace(
            self,
            max_tokens=limit,
            pooling=check_pooling(settings.pooling or self.pooling),
            passage_template=check_template(
                self.passage_template if passage is None else passage, "passage_template"
            ),
            query_template=check_template(
                self.query_template if query is None else query, "query_template"
            ),
            scripts=frozenset(settings.scripts) if settings.scripts else self.scripts,
        )

    def deciding(self) -> dict[str, JSON]:
        """What the settings may change of a vector, for a fingerprint."""
        return {
            "pooling": self.pooling,
            "max_tokens": self.max_tokens,
            "passage_template": self.passage_template,
            "query_template": self.query_template,
        }

    def with_identity(self, identity: JSON) -> Description:
        """The same, known by ``identity``."""
        return replace(self, identity=identity)


class TokenModel(Protocol):
    """Rows of token ids to vectors. Weights are read at the first call; safe in threads."""

    @property
    def tokenizer(self) -> FileTokenizer: ...

    def encode(self, rows: Sequence[TokenIds], pooling: str) -> Vectors:
        """float32 of shape (rows, width), not scaled. Rows hold special tokens and at most as
        many tokens as the model has positions."""

    def encode_tokens(self, rows: Sequence[TokenIds]) -> list[Vectors]:
        """Of each row its token vectors, float32 of shape (tokens, width)."""


def check_dimension(dimension: int, width: int) -> int:
    """Values of a vector as they are kept: ``dimension``, or all if it is 0."""
    if not 0 <= dimension <= width:
        raise SettingsError(
            "bad-embedding-size",
            f"embedding.dimension is {dimension}, but the model gives {width} values.",
            f"Choose 1 to {width}, or 0 for all.",
        )
    return dimension or width


def padded(rows: Sequence[TokenIds], padding: int) -> tuple[TokenIds, TokenIds]:
    """Token ids and mask, both of shape (rows, longest row); padding stands behind the text."""
    longest = max(map(len, rows))
    ids = np.full((len(rows), longest), padding, np.int32)
    mask = np.zeros((len(rows), longest), np.int32)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return ids, mask
