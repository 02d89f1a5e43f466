"""Turning texts into vectors.

Embedders are found by the entry point group ``merestone.embedders``; each entry is a function
from :class:`~merestone.types.EmbeddingSettings` to an :class:`~merestone.types.Embedder`. Nothing
heavy is imported and no weights are read before the first text is embedded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from merestone.text.plugins import required_plugin

if TYPE_CHECKING:
    from merestone.types import Embedder, EmbeddingSettings

__all__ = ["open_embedder"]


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder that ``settings.model`` names.

    A name that is not installed, or whose package is broken, is a ``SettingsError``.
    """
    embedder: Embedder = required_plugin("embedders", settings.model)(settings)
    return embedder
