"""The strategies that this installation has."""

from __future__ import annotations

from merestone.chunking.profiles import effective
from merestone.text.plugins import plugin_points, required_plugin
from merestone.types import (
    Chunker,
    ChunkingSettings,
    Cutting,
    Document,
    Embedder,
    ExtractionError,
    MerestoneError,
    Status,
    Tokenizer,
)


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
    chunker = chunker_named(settings.strategy)
    try:
        cutting = chunker.cut(document, settings, tokenizer, embedder)
        if not isinstance(cutting, Cutting):
            raise TypeError(f"it returned {type(cutting).__name__}, not a Cutting")
    except MerestoneError:
        raise
    except Exception as error:
        # One bad plugin, or one document that it cannot take, must not stop a run over all others.
        raise ExtractionError(
            "chunker-failed",
            f"{document.id} could not be cut: the strategy {settings.strategy!r} failed with "
            f"{type(error).__name__}: {error}.",
            "Report it to the author of the strategy, with the document if you may.",
            status=Status.CRASHED,
        ) from error
    return cutting
