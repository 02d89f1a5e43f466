"""Where settings come from: the user's file, the project's, the environment, flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from merestone.config.environment import read_environment
from merestone.config.files import (
    PYPROJECT_TABLE,
    pyproject_table,
    read_toml,
    unreadable,
    user_file,
)
from merestone.types import CONFIG_FILE, JSON, SettingsError


def read_layers(
    root: Path,
    flags: Mapping[str, Mapping[str, JSON]],
    variant: Mapping[str, Mapping[str, JSON]] = MappingProxyType({}),
) -> list[tuple[str, dict[str, Any]]]:
    """Tables by the place that they come from, lowest layer first."""
    found: list[tuple[str, dict[str, Any]]] = []
    user = user_file()
    try:
        has_user = user.is_file()
    except OSError as error:
        # Taken for none it could switch off rules of access.
        raise unreadable(user, error) from error
    if has_user:
        found.append((str(user), read_toml(user)))
    project, pyproject = root / CONFIG_FILE, root / "pyproject.toml"
    table = pyproject_table(root)
    if project.is_file():
        if table is not None:
            # Either could hold the rules of access that someone relies on.
            raise SettingsError(
                "two-configurations",
                f"{project} and {pyproject} both hold settings.",
                f"Move the tables of [{PYPROJECT_TABLE}] into {CONFIG_FILE}, or delete one.",
            )
        found.append((str(project), read_toml(project)))
    elif table is not None:
        found.append((str(pyproject), table))
    found.append(("the environment", read_environment()))
    found.append(("the call", {key: dict(value) for key, value in flags.items()}))
    found.append(("the variant", {key: dict(value) for key, value in variant.items()}))
    return found
