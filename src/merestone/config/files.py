"""Files that hold settings, and the folder that a library lies in."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from merestone.types import CONFIG_FILE, SettingsError

STATE_FOLDER = ".merestone"
PYPROJECT_TABLE = "tool.merestone"


def find_root(start: Path) -> Path | None:
    """The nearest folder, ``start`` or above, that holds a configuration or a library."""
    for folder in (start, *start.parents):
        if (folder / CONFIG_FILE).is_file() or (folder / STATE_FOLDER / "library.db").is_file():
            return folder
        if pyproject_table(folder) is not None:
            return folder
    return None


def config_files(root: Path) -> tuple[Path, ...]:
    """Files that :func:`load_settings` reads for ``root``, there or not."""
    return (user_file(), root / CONFIG_FILE, root / "pyproject.toml")


def user_file() -> Path:
    """The user's own file, there or not."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / CONFIG_FILE


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file; ``SettingsError`` if it can't be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def pyproject_table(folder: Path) -> dict[str, Any] | None:
    """Our tables in the ``pyproject.toml`` of ``folder``; ``None`` if there are none.

    Raises ``SettingsError`` if it seems to hold some and can't be read.
    """
    path = folder / "pyproject.toml"
    if not path.is_file():
        return None
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError):
        return None
    try:
        table = tomllib.loads(text).get("tool", {}).get("merestone")
    except (ValueError, AttributeError) as error:
        if PYPROJECT_TABLE in text:
            # Taken for a file that says nothing of us it would switch off the rules of access.
            raise unreadable(path, error) from error
        return None
    return table if isinstance(table, dict) else None


def unreadable(path: Path, error: Exception) -> SettingsError:
    """The error that a configuration file can't be read."""
    return SettingsError(
        "config-unreadable", f"{path} cannot be read as TOML: {error}.", "Mend the file."
    )
