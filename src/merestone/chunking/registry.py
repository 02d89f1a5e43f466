"""The strategies that this installation has."""

from __future__ import annotations

from merestone.chunking.profiles import effective
from merestone.text.plugins import plugin_points, required_plugin
from merestone.types import Chunker, ChunkingSettings, Cutting, Document, Embedder, Tokenizer


def chunkers() -> tuple[str, ...]:
    """Names of the installed strategies."""
    return tuple(sorted(plugin_points("chunkers")))


def chunker_named(name: str) -> Chunker:
    """The strategy of that name; ``SettingsError`` if there is none."""
    chunker: Chunker = required_plugin("chunkers", name)
    return chunker


def cut(
    document: Document,
    settings: ChunkingSettings,
    tokenizer: Tokenizer,
    embedder: Embedder | None = None,
) -> Cutting:
    """Cut ``document`` by the strategy and sizes that the settings have for its content type."""
    settings = effective(settings, document.media_type)
    return chunker_named(settings.strategy).cut(document, settings, tokenizer, embedder)
