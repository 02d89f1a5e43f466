"""Writing a configuration down: as a table of TOML, or into a library's own file."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from merestone import config
from merestone.evaluation.experiments.configurations import Configuration
from merestone.files import write_text
from merestone.types import CONFIG_FILE, JSON, SettingsError

_PYPROJECT = "pyproject.toml"
_WIDTH = 96
_MARK = "#:tune:"
"""Begins lines of evidence, so that the next tuning can take its place."""


def as_toml(configuration: Configuration, evidence: Sequence[str] = ()) -> str:
    """The tables that ``configuration`` changes, ``evidence`` before them as comments. Values that
    it takes back stand as comments, too: TOML has no word for them."""
    lines = _comments(evidence)
    for name, table in configuration.tables.items():
        lines += ["", *_table(name, table)] if lines else _table(name, table)
    return "\n".join(lines) + "\n"


def write_configuration(
    root: str | os.PathLike[str], configuration: Configuration, evidence: Sequence[str] = ()
) -> Path:
    """Change the configuration file in ``root``, or make one, so that it says what
    ``configuration`` does; its path.

    Comments and order of the file stay, ``evidence`` stands above the first table that changed.
    The file is written whole or not at all, and only if it can be read as settings afterwards.
    Raises ``SettingsError`` with code ``extra-missing`` without tomlkit.
    """
    path = _file_in(Path(root))
    text = path.read_bytes().decode("utf-8") if path.exists() else ""
    line_end = "\r\n" if "\r\n" in text else "\n"
    try:
        after = _changed(
            text.replace("\r\n", "\n"), configuration, evidence, path.name == _PYPROJECT
        )
        tomllib.loads(after)
    except ValueError as error:
        raise _unwritable(path, error) from error
    write_text(path, after.replace("\n", line_end))
    try:
        config.load_settings(Path(root))
    except SettingsError as error:
        if text:
            write_text(path, text)
        else:
            path.unlink()
        raise _unwritable(path, error) from error
    return path


def _unwritable(path: Path, error: Exception) -> SettingsError:
    return SettingsError(
        "configuration-not-written",
        f"{path} is written in a way that the tables can't be put into ({error}). It was left as "
        "it was.",
        "Copy the table that is printed into it by hand.",
    )


def _file_in(root: Path) -> Path:
    """The project's file: ``pyproject.toml`` only if it has our table and there is no other."""
    own, project = root / CONFIG_FILE, root / _PYPROJECT
    if own.exists() or not project.is_file():
        return own
    try:
        tool = tomllib.loads(project.read_text("utf-8")).get("tool", {})
    except ValueError:
        return own
    return project if "merestone" in tool else own


def _changed(
    text: str, configuration: Configuration, evidence: Sequence[str], is_project: bool
) -> str:
    kit = _tomlkit()
    kept = [line for line in text.splitlines(True) if not line.startswith(_MARK)]
    document = kit.parse("".join(kept))
    place = document["tool"]["merestone"] if is_project else document
    for name, values in configuration.tables.items():
        if name not in place:
            if not is_project and len(place):
                place.add(kit.nl())
            place[name] = kit.table()
        _set(place[name], values, kit)
    return _noted(str(kit.dumps(document)), list(configuration.tables)[:1], evidence)


def _noted(text: str, tables: Sequence[str], evidence: Sequence[str]) -> str:
    """``text`` with the evidence above the first of ``tables``, or on top."""
    lines = text.splitlines(True)
    at = next((i for i, line in enumerate(lines) if _heads(line, tables)), 0)
    return "".join([*lines[:at], *(f"{line}\n" for line in _comments(evidence)), *lines[at:]])


def _heads(line: str, tables: Sequence[str]) -> bool:
    name = line.strip().removeprefix("[").removeprefix("tool.merestone.")
    return line.startswith("[") and name.startswith(
        tuple(f"{t}{end}" for t in tables for end in ".]")
    )


def _set(table: Any, values: Mapping[str, JSON], kit: Any) -> None:
    for key, value in values.items():
        if value is None:
            table.pop(key, None)
        elif isinstance(value, Mapping):
            if key not in table:
                table[key] = kit.table()
            _set(table[key], value, kit)
        else:
            table[key] = list(value) if isinstance(value, tuple) else value


def _tomlkit() -> Any:
    try:
        import tomlkit
    except ImportError as error:
        raise SettingsError(
            "extra-missing",
            "Changing a configuration file needs the package tomlkit, which is not installed.",
            'Install it with: pip install "merestone[eval]". Or copy the table that is printed.',
        ) from error
    return tomlkit


def _table(name: str, table: Mapping[str, JSON]) -> list[str]:
    own = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lines = [f"[{name}]", *(_line(key, value) for key, value in own.items())] if own else []
    for key, value in inner.items():
        lines += ["", *_table(f"{name}.{key}", value)] if lines else _table(f"{name}.{key}", value)
    return lines


def _line(key: str, value: JSON) -> str:
    if value is None:
        return f"# {key}: leave it out"
    # JSON's texts, numbers, truth values and lists of them are TOML's as well.
    plain = list(value) if isinstance(value, tuple) else value
    return f"{key} = {json.dumps(plain, ensure_ascii=False)}"


def _comments(lines: Sequence[str]) -> list[str]:
    return [f"{_MARK} {part}" for line in lines for part in _wrapped(line)]


def _wrapped(line: str) -> Iterator[str]:
    part = ""
    for word in line.split():
        if part and len(part) + 1 + len(word) > _WIDTH:
            yield part
            part = ""
        part = f"{part} {word}".strip()
    yield part
