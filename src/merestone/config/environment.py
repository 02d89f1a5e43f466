"""Settings in environment variables."""

from __future__ import annotations

import os
import tomllib
from typing import Any

from merestone.config.tables import ConfigurationTables
from merestone.types import JSON, SettingsError

PREFIX = "MERESTONE_"
_NO_SETTINGS = frozenset({"MERESTONE_BENCH_DATA", "MERESTONE_FAULT", "MERESTONE_LIBRARY"})


def read_environment() -> dict[str, Any]:
    """``MERESTONE_CHUNKING_MAX_TOKENS=200`` is ``[chunking] max_tokens = 200``."""
    found: dict[str, Any] = {}
    for name, text in os.environ.items():
        if not name.startswith(PREFIX) or name in _NO_SETTINGS:
            continue
        table, _, key = name.removeprefix(PREFIX).lower().partition("_")
        if table not in ConfigurationTables.model_fields or table == "sources" or not key:
            raise SettingsError(
                "unknown-setting",
                f"The environment variable {name} names no setting.",
                "Unset it, or name it MERESTONE_<TABLE>_<KEY>, "
                "such as MERESTONE_CHUNKING_MAX_TOKENS.",
            )
        found.setdefault(table, {})[key] = _parsed(text)
    return found


def _parsed(text: str) -> JSON:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
