"""Finding the parts that this installation has, built in or from other packages."""

from __future__ import annotations

import logging
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from merestone.types import SettingsError

_LOGGER = logging.getLogger("merestone")


@cache
def plugin_points(kind: str) -> dict[str, EntryPoint]:
    """Entry points of the group ``merestone.<kind>`` by name; nothing is imported yet."""
    return {point.name: point for point in entry_points(group=f"merestone.{kind}")}


@cache
def load_plugin(kind: str, name: str) -> Any | None:
    """The object behind an entry point; ``None``, with a logged warning, if it is broken."""
    point = plugin_points(kind)[name]
    try:
        return point.load()
    except Exception as error:
        _LOGGER.warning(
            "The plugin %r (%s) of merestone.%s cannot be loaded and is skipped: %s",
            name,
            point.value,
            kind,
            error,
        )
        return None


def required_plugin(kind: str, name: str) -> Any:
    """The object behind an entry point; ``SettingsError`` if there is none or it is broken."""
    noun = kind.removesuffix("s")
    known = sorted(plugin_points(kind))
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise SettingsError(
            "unknown-plugin",
            f"There is no {noun} named {name!r}.",
            f"{hint}Installed here: {', '.join(known) or 'none'}.",
        )
    loaded = load_plugin(kind, name)
    if loaded is None:
        raise SettingsError(
            "broken-plugin",
            f"The {noun} {name!r} is installed but cannot be loaded.",
            "See the warning that was logged, mend or remove the package that brings it.",
        )
    return loaded
