"""Rules of access, read afresh."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from merestone.config.environment import PREFIX
from merestone.config.files import config_files, user_file
from merestone.config.layers import Tables, read_layers
from merestone.config.merging import read_configuration
from merestone.config.sources import sources_of
from merestone.config.tables import ConfigurationTables
from merestone.types import JSON, AccessRule, AccessSettings, SettingsError, SourceSettings

_Inputs = tuple[tuple[bytes | None, ...], dict[str, str]]
_AccessState = tuple[AccessSettings, tuple[SourceSettings, ...]]


class AccessConfiguration:
    """What the configuration of a folder says of access, read again whenever a file that it is
    made of, or the environment, has changed. May be used from several threads."""

    def __init__(self, root: Path, flags: Tables) -> None:
        self._root = root.absolute()
        self.flags = flags
        self._files = self._layer_files()
        self._read: tuple[_Inputs, _AccessState] | None = None

    @property
    def has_project_file(self) -> bool:
        """True if there was a project's file when the library was opened."""
        return "project" in self._files

    def current(self) -> tuple[AccessSettings, tuple[SourceSettings, ...]]:
        """Rules, groups and sources of this moment.

        Raises ``SettingsError`` if the configuration can't be read or is no longer there: that is
        never taken for a configuration without rules.
        """
        inputs = self._inputs()
        read = self._read
        if read is None or read[0] != inputs:
            found = self._layer_files()
            for whose, path in self._files.items():
                if whose not in found:
                    raise SettingsError(
                        "config-unreadable",
                        f"{path} was read when the library was opened and is not there now.",
                        "Put it back, or open the library again.",
                    )
            config, origin = read_configuration(self._root, self.flags)
            sources = sources_of(config, self._root, origin)
            read = (inputs, (access_settings(config, self._root, origin), sources))
            self._read = read
        return read[1]

    def _layer_files(self) -> dict[str, str]:
        """The user's and the project's file, as far as there are such."""
        files = [name for name, _ in read_layers(self._root, {}) if os.path.isabs(name)]
        user = str(user_file())
        return {"user" if file == user else "project": file for file in files}

    def _inputs(self) -> _Inputs:
        paths = config_files(self._root)
        variables = {name: os.environ[name] for name in os.environ if name.startswith(PREFIX)}
        return tuple(_bytes_of(path) for path in paths), variables


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def access_settings(
    config: ConfigurationTables, root: Path, origin: Mapping[str, JSON]
) -> AccessSettings:
    """Groups, rules and the external file, whose path is relative to the configuration.
    ``origin`` says where the rules come from."""
    table = config.access
    return AccessSettings(
        groups={name: tuple(members) for name, members in table.groups.items()},
        rules=tuple(
            AccessRule(tuple(rule.allow), tuple(rule.paths), rule.source) for rule in table.rules
        ),
        file=None if table.file is None else os.path.abspath(root / table.file),
        stated_in=str(origin.get("access.rules", "")),
    )
