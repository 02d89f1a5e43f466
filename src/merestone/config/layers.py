"""Where settings come from: the user's file, the project's, the environment, flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from merestone.config.environment import read_environment
from merestone.config.files import (
    PYPROJECT_TABLE,
    pyproject_table,
    read_toml,
    unreadable,
    user_file,
)
from merestone.types import CONFIG_FILE, JSON, SettingsError

Tables: TypeAlias = Mapping[str, Mapping[str, JSON] | Sequence[Mapping[str, JSON]]]
"""Settings by the name of their table; ``sources`` is a list of tables."""


def read_layers(
    root: Path,
    flags: Tables,
    variant: Tables = MappingProxyType({}),
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
    # Of another kind than they should be: what validates them names the table and the remedy.
    found.append(("the call", dict(flags)))
    found.append(("the variant", dict(variant)))
    return found
