"""What is wrong with a configuration, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from merestone.config.tables import (
    AccessRuleTable,
    AccessTable,
    ChunkingTable,
    ConfigurationTables,
    EmbeddingTable,
    EvaluationTable,
    ExtractionTable,
    GateTable,
    ProfileTable,
    RerankingTable,
    RetrievalTable,
    SourceTable,
    SuggestTable,
)
from merestone.types import CONTENT_TYPES, JSON, SettingsError

_TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): ConfigurationTables,
    ("sources",): SourceTable,
    ("extraction",): ExtractionTable,
    ("chunking",): ChunkingTable,
    ("chunking", "types"): ProfileTable,
    ("embedding",): EmbeddingTable,
    ("retrieval",): RetrievalTable,
    ("reranking",): RerankingTable,
    ("access",): AccessTable,
    ("access", "rules"): AccessRuleTable,
    ("evaluation",): EvaluationTable,
    ("evaluation", "suggest"): SuggestTable,
    ("evaluation", "gate"): GateTable,
}
"""Tables by the names on the way to them."""


def readable(
    error: ValidationError, merged: Mapping[str, Any], origin: Mapping[str, JSON]
) -> SettingsError:
    """The first fault, with the file it is in and the nearest known key."""
    fault = error.errors()[0]
    place = [str(part) for part in fault["loc"]]
    where = origin.get(place[0], "the configuration") if place else "the configuration"
    name = ".".join(place)
    if fault["type"] == "extra_forbidden":
        known = _known_keys(place[:-1])
        near = get_close_matches(place[-1], known, 1)
        hint = f"Did you mean {near[0]}? " if near else ""
        return SettingsError(
            "unknown-setting",
            f"{where} has the unknown key {name}.",
            f"{hint}Known here: {', '.join(sorted(known))}.",
        )
    return SettingsError(
        "invalid-setting",
        f"{where} has {name} = {fault.get('input')!r}: {fault['msg']}.",
        "Mend the value.",
    )


def _known_keys(place: Sequence[str]) -> list[str]:
    """Keys of the table at ``place``, a path of names and of positions in lists."""
    names = tuple(part for part in place if not part.isdigit())
    if names == ("chunking", "types"):
        return list(CONTENT_TYPES)
    table = _TABLES.get(names[:2]) or _TABLES[names[:1]]
    return list(table.model_fields)
