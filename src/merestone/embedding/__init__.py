"""Turning texts into vectors.

``settings.model`` is one of: the name of an entry point of the group ``merestone.embedders``, a
function from :class:`~merestone.types.EmbeddingSettings` to an
:class:`~merestone.types.Embedder`; ``name:model``, where the name is that of a service
(:data:`merestone.embedding.services.SERVICES`) or of an entry point, which gets the settings
whole; the path of an ``.onnx`` file; the path of a folder that holds a model. Nothing heavy is
imported and no weights are read before the first text is embedded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from merestone.text.plugins import plugin_points, required_plugin

if TYPE_CHECKING:
    from merestone.types import Embedder, EmbeddingSettings

__all__ = ["is_model_path", "open_embedder"]


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder that ``settings.model`` names.

    A name that is not installed, or whose package is broken, is a ``SettingsError``; a local
    model that cannot be run is an ``EmbedderError``, which says why.
    """
    model = settings.model
    if is_model_path(model):
        if model.endswith(".onnx"):
            from merestone.embedding.onnx_file import open_onnx

            return open_onnx(Path(model), settings)
        from merestone.embedding.folder import open_folder

        return open_folder(Path(model), settings)
    name, colon, _ = model.partition(":")
    if colon and _is_service(name):
        from merestone.embedding.remote import open_remote

        return open_remote(settings)
    embedder: Embedder = required_plugin("embedders", name if colon else model)(settings)
    return embedder


def is_model_path(model: str) -> bool:
    """True if ``model`` is the path of a folder or a file, not a name."""
    name, colon, _ = model.partition(":")
    if colon and len(name) > 1 and (_is_service(name) or name in plugin_points("embedders")):
        return False
    return model.endswith(".onnx") or "/" in model or "\\" in model


def _is_service(name: str) -> bool:
    from merestone.embedding.services import SERVICES

    return name in SERVICES
