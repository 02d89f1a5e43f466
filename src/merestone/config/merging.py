"""One configuration of several layers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from merestone.config.faults import readable
from merestone.config.layers import Tables, read_layers
from merestone.config.tables import ConfigurationTables
from merestone.types import JSON


def read_configuration(
    root: Path,
    flags: Tables,
    variant: Tables = MappingProxyType({}),
) -> tuple[ConfigurationTables, dict[str, JSON]]:
    """The validated configuration, and which layer each table came from last."""
    merged: dict[str, Any] = {}
    origin: dict[str, JSON] = {}
    for name, table in read_layers(root, flags, variant):
        for key, value in table.items():
            if key == "chunking" and isinstance(value, Mapping):
                merged[key] = _merged_chunking(merged.get(key), value)
            elif isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
                merged[key] = {**merged[key], **value}
            else:
                merged[key] = value
            origin[key] = name
            if key == "access" and isinstance(value, Mapping) and "rules" in value:
                # Of the table's keys the one that people look for.
                origin["access.rules"] = name
    merged = {key: _stated(value) for key, value in merged.items()}
    try:
        config = ConfigurationTables.model_validate(merged)
    except ValidationError as error:
        raise readable(error, merged, origin) from error
    return config, origin


def _merged_chunking(below: Any, above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of two layers: what the upper one says wins over the lower one's profiles too."""
    below = below if isinstance(below, Mapping) else {}
    lower, upper = below.get("types", {}), above.get("types", {})
    own = {key: value for key, value in above.items() if key != "types"}
    if not isinstance(lower, Mapping) or not isinstance(upper, Mapping):
        return {**below, **above}
    types: dict[str, Any] = {
        name: {key: value for key, value in profile.items() if key not in own}
        if isinstance(profile, Mapping)
        else profile
        for name, profile in lower.items()
    }
    for name, profile in upper.items():
        both = isinstance(profile, Mapping) and isinstance(types.get(name), Mapping)
        types[name] = {**types[name], **profile} if both else profile
    return {**below, **own, **({"types": types} if types else {})}


def _stated(table: Any) -> Any:
    """A table without the keys that were taken back."""
    if not isinstance(table, Mapping):
        return table
    return {key: _stated(value) for key, value in table.items() if value is not None}
