"""Which settings a document of a content type is cut with."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from merestone.types import ChunkingSettings, content_type

STRATEGIES = MappingProxyType({"code": "code", "records": "records"})
"""What ``auto`` takes by content type; for all others ``structure``."""


def effective(settings: ChunkingSettings, media_type: str) -> ChunkingSettings:
    """Settings for documents of ``media_type``: the profile of their content type, if there is
    one, with a concrete strategy in the place of ``auto``."""
    kind = content_type(media_type)
    chosen = settings.types.get(kind, settings)
    strategy = chosen.strategy
    if strategy == "auto":
        strategy = STRATEGIES.get(kind, "structure")
    return replace(chosen, strategy=strategy, types={})
