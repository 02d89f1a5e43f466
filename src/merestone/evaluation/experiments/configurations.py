"""Configurations that are tried out: a library's settings with some of them changed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from merestone.text.hashing import canonical_json, digest
from merestone.types import JSON, SettingsError

TABLES = ("extraction", "chunking", "embedding", "retrieval", "reranking")
"""Tables of the configuration file whose values decide what is found."""

DEFAULT_NAME = "default"
_TAKEN_BACK = "default"
"""The word for a value as it is without the configuration file."""

_ASSIGNMENT = re.compile(r"(?:^|\s)([a-z_]+(?:\.[a-z_]+)+)\s*=")
_NAMED = re.compile(r"\s*([^\s:=][^:=]*?)\s*:\s+(?=\S)")

Tables = Mapping[str, Mapping[str, JSON]]


@dataclass(frozen=True, slots=True)
class Configuration:
    """Values that differ from a library's settings, by table."""

    name: str
    tables: Tables = field(default_factory=dict)
    """Such as ``{"chunking": {"max_tokens": 128}}``; ``None`` takes a value back to its default.
    What they hold is judged where they are applied, with the rest of the settings."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise _invalid("A configuration has no name.", "Name it.")
        for table, values in self.tables.items():
            if table not in TABLES:
                raise _invalid(
                    f"The configuration {self.name} changes {table}.",
                    f"What can be tried out are {', '.join(TABLES)}.",
                )
            if not isinstance(values, Mapping):
                raise _invalid(f"{table} of the configuration {self.name} is no table.", "Mend it.")

    @property
    def fingerprint(self) -> str:
        """Hash of what it changes; its name does not count."""
        return digest("configuration", canonical_json(self.to_json()["tables"]))

    @property
    def words(self) -> str:
        """What it changes, as the command line takes it; ``as it is`` if that is nothing."""
        found = [f"{key}={_written(value)}" for key, value in self.values]
        return " ".join(found) or "as it is"

    @property
    def brief(self) -> str:
        """As :attr:`words`, without values that are taken back."""
        found = [f"{key}={_written(value)}" for key, value in self.values if value is not None]
        return " ".join(found) or self.words

    @property
    def values(self) -> list[tuple[str, JSON]]:
        """Each changed value with its dotted name."""
        return list(_flat("", self.tables))

    def with_values(self, name: str, values: Iterable[tuple[str, JSON]]) -> Configuration:
        """This one with further values by their dotted names, which win."""
        return Configuration(name, _tables([*self.values, *values]))

    def to_json(self) -> dict[str, JSON]:
        return {"name": self.name, "tables": _plain(self.tables)}


def parse_configuration(text: str, name: str = "") -> Configuration:
    """``NAME: chunking.max_tokens=128 retrieval.focus=false``; without a name, what it says.

    Values are written as in TOML; a word that is none is taken for a string, and ``default`` takes
    a value back. Raises ``SettingsError`` with code ``invalid-configuration``.
    """
    named = _NAMED.match(text)
    rest = text[named.end() :] if named else text
    values = _assignments(rest)
    if not values:
        raise _invalid(
            f"{text!r} changes no setting.",
            "Write it as table.key=value, such as chunking.max_tokens=128.",
        )
    return Configuration(named[1] if named else name or rest.strip(), _tables(values))


def parse_choices(text: str) -> tuple[str, list[JSON]]:
    """``chunking.max_tokens=128,256,512``: a setting by its dotted name, and its values."""
    found = _ASSIGNMENT.match(text)
    parts = _parted(text[found.end() :]) if found else []
    if not found or not all(parts):
        raise _invalid(
            f"{text!r} names no setting with its values.",
            "Write it as table.key=value,value, such as chunking.max_tokens=128,256.",
        )
    return found[1], [_value(part) for part in parts]


def one_at_a_time(choices: Sequence[tuple[str, Sequence[JSON]]]) -> list[Configuration]:
    """A configuration for each value of each setting, all else as it is."""
    return [
        Configuration(f"{key}={_written(value)}", _tables([(key, value)]))
        for key, values in choices
        for value in values
    ]


def grid(choices: Sequence[tuple[str, Sequence[JSON]]]) -> list[Configuration]:
    """A configuration for each combination of values."""
    keys = [key for key, _ in choices]
    found = []
    for values in product(*(values for _, values in choices)):
        pairs = list(zip(keys, values, strict=True))
        name = " ".join(f"{key}={_written(value)}" for key, value in pairs)
        found.append(Configuration(name, _tables(pairs)))
    return found


def read_configurations(path: Path) -> list[Configuration]:
    """Those of a TOML file with ``[[configurations]]``, or of a JSON file with a list of them.

    Each has a ``name`` and tables as the configuration file has them.
    """
    try:
        data = path.read_bytes()
        is_json = path.suffix == ".json"
        content = json.loads(data) if is_json else tomllib.loads(data.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _invalid(f"{path} cannot be read: {error}.", "Mend the file.") from error
    items = content.get("configurations") if isinstance(content, dict) else content
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _invalid(
            f"{path} holds no list of configurations.", "Begin each with [[configurations]]."
        )
    return [_of_item(item, number, path) for number, item in enumerate(items, 1)]


def distinct(configurations: Iterable[Configuration]) -> list[Configuration]:
    """Each once by what it changes; of equal names the later ones are numbered."""
    by_change: dict[str, Configuration] = {}
    for each in configurations:
        by_change.setdefault(each.fingerprint, each)
    found: dict[str, Configuration] = {}
    for each in by_change.values():
        name, number = each.name, 1
        while name in found:
            number += 1
            name = f"{each.name} ({number})"
        found[name] = Configuration(name, each.tables)
    return list(found.values())


def _of_item(item: dict[str, JSON], number: int, path: Path) -> Configuration:
    item = dict(item)
    name = item.pop("name", f"{path.stem} {number}")
    if not isinstance(name, str):
        raise _invalid(f"{path} has a configuration whose name is {name!r}.", "Give a text.")
    return Configuration(name, item)


def _assignments(text: str) -> list[tuple[str, JSON]]:
    matches = list(_ASSIGNMENT.finditer(text))
    if not matches or text[: matches[0].start()].strip():
        return []
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return [
        (match[1], _value(text[match.end() : end].strip().rstrip(";")))
        for match, end in zip(matches, ends, strict=True)
    ]


def _value(text: str) -> JSON:
    text = text.strip()
    if text == _TAKEN_BACK:
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        if not text or "\n" in text:
            raise _invalid(f"{text!r} is no value.", "Write values as in TOML.") from None
        return text


def _parted(text: str) -> list[str]:
    """The parts between commas that stand in no quotes and no brackets."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        if character == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _flat(prefix: str, table: Mapping[str, JSON]) -> Iterable[tuple[str, JSON]]:
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flat(f"{name}.", value)
        else:
            yield name, value


def _tables(values: Iterable[tuple[str, JSON]]) -> dict[str, dict[str, JSON]]:
    tables: dict[str, dict[str, JSON]] = {}
    for name, value in values:
        table, *path, key = name.split(".")
        place = tables.setdefault(table, {})
        for part in path:
            place = place.setdefault(part, {})
        place[key] = value
    return tables


def _plain(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _written(value: JSON) -> str:
    """A value as :func:`_value` reads it."""
    if value is None:
        return _TAKEN_BACK
    if isinstance(value, str):
        return value if re.fullmatch(r"[A-Za-z][\w:+./-]*", value) else json.dumps(value)
    return json.dumps(_plain(value), separators=(",", ":"))


def _invalid(message: str, remedy: str) -> SettingsError:
    return SettingsError("invalid-configuration", message, remedy)
