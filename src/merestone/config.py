"""Settings from files, environment and flags: flag > environment > project > user > default."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from merestone.extraction.encoding import codec_name
from merestone.indexing.sources.identifiers import page_identifier
from merestone.types import (
    CONFIG_FILE,
    CONTENT_TYPES,
    CONTEXT_ROLES,
    JSON,
    AccessRule,
    AccessSettings,
    ChunkingSettings,
    EmbeddingSettings,
    EvaluationSettings,
    ExtractionSettings,
    GateSettings,
    LibrarySettings,
    RerankingSettings,
    RetrievalSettings,
    SettingsError,
    SourceSettings,
    SuggestSettings,
)

STATE_FOLDER = ".merestone"
WRITTEN = "written.json"
"""In the state folder: what commands wrote outside of it."""
_PREFIX = "MERESTONE_"
_NO_SETTINGS = frozenset({"MERESTONE_BENCH_DATA", "MERESTONE_FAULT", "MERESTONE_LIBRARY"})
_PYPROJECT_TABLE = "tool.merestone"
_CHARS_PER_TOKEN = 8
_TARGET_SHARE = 0.8
_TARGET_SHARE_OF_TEXT = 0.72
"""Of plain text, whose long paragraphs are cut anywhere: there smaller pieces are found better."""


_Inputs = tuple[tuple[bytes | None, ...], dict[str, str]]
_AccessState = tuple[AccessSettings, tuple[SourceSettings, ...]]


Strings = list[str]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Source(_Table):
    """A folder, or what the one key among ``_KINDS`` names."""

    path: str | None = None
    url: str | None = None
    urls: Strings | None = None
    list: str | None = None
    sitemap: str | None = None
    sqlite: str | None = None
    sql: str | None = None
    jsonl: str | None = None
    plugin: str | None = None
    name: str = ""
    include: Strings = Field(default_factory=Strings)
    exclude: Strings = Field(default_factory=Strings)
    gitignore: bool = False
    hosts: Strings = Field(default_factory=Strings)
    query: str = ""
    key: str = ""
    updated: str = ""
    text: str | Strings = Field(default_factory=Strings)
    media_type: str | None = None
    password_env: str = ""
    options: dict[str, Any] = Field(default_factory=dict)


_ROW_KEYS = frozenset({"key", "updated", "text", "media_type"})
_KINDS: dict[str, frozenset[str]] = {
    "path": frozenset({"gitignore"}),
    "url": frozenset({"options"}),
    "urls": frozenset({"options"}),
    "list": frozenset({"options"}),
    "sitemap": frozenset({"options", "hosts"}),
    "sqlite": _ROW_KEYS | {"query"},
    "sql": _ROW_KEYS | {"query", "password_env"},
    "jsonl": _ROW_KEYS,
    "plugin": _ROW_KEYS | {"options", "query", "password_env", "hosts"},
}
"""What each kind of source may have besides name, include and exclude."""
_NEEDED = {"sqlite": ("query", "key"), "sql": ("query", "key"), "jsonl": ("key",)}


class _Extraction(_Table):
    max_document_bytes: int = Field(default=50_000_000, ge=1)
    worker_memory_bytes: int = Field(default=1_500_000_000, ge=50_000_000)
    worker_cpu_seconds: int = Field(default=60, ge=1)
    worker_wall_seconds: int = Field(default=120, ge=1)
    default_encoding: str | None = None

    @field_validator("default_encoding")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name is not None and codec_name(name) is None:
            raise ValueError("no text encoding of that name is known")
        return name


class _Profile(_Table):
    """Settings of one content type; what is not set is that of ``[chunking]``."""

    strategy: str | None = None
    max_tokens: int | None = None
    target_tokens: int | None = None
    min_tokens: int | None = None
    overlap_tokens: int | None = None
    max_chars: int | None = None
    overlap_chars: int | None = None
    torn_overlap_tokens: int | None = None
    context: list[str] | None = None
    group: int | None = None
    separators: list[str] | None = None
    semantic_weight: float | None = None


class _Chunking(_Profile):
    types: dict[str, _Profile] = Field(default_factory=dict)

    @field_validator("types")
    @classmethod
    def _are_known(cls, types: dict[str, _Profile]) -> dict[str, _Profile]:
        for name in types:
            if name not in CONTENT_TYPES:
                raise ValueError(f"{name} is none of {', '.join(CONTENT_TYPES)}")
        return types


class _Embedding(_Table):
    model: str = Field(default="minilm", min_length=1)
    on_overlong: str = Field(default="error", pattern="^(error|truncate|window)$")
    batch_tokens: int = Field(default=768, ge=1)
    threads: int = Field(default=0, ge=0, le=256)
    cache_bytes: int = Field(default=2_000_000_000, ge=0)
    dimension: int = Field(default=0, ge=0)
    max_tokens: int = Field(default=0, ge=0)
    query_template: str | None = None
    passage_template: str | None = None
    pooling: str = Field(default="", pattern="^(|mean|cls|last)$")
    tokenizer: str = ""
    scripts: list[str] = Field(default_factory=list)
    mode: str = Field(default="plain", pattern=r"^(plain|late|plain\+late)$")
    units: bool = False
    url: str = ""
    api_key_env: str = ""
    batch: int = Field(default=0, ge=0)
    timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    price_per_million_tokens: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class _Retrieval(_Table):
    dense_weight: float = Field(default=0.5, ge=0, le=1)
    candidates: int = Field(default=100, ge=1, le=100_000)
    focus: bool = True
    collapse: bool = True
    mmr: float = Field(default=1.0, ge=0, le=1)
    expand: str = Field(
        default="structure",
        pattern=r"^(structure|none|section|parent|(window|neighbours):\d{1,3})$",
    )
    section_tokens: int = Field(default=520, ge=0)
    definition_tokens: int = Field(default=520, ge=0)
    entry_tokens: int = Field(default=260, ge=0)
    gap_units: int = Field(default=1, ge=0, le=10)
    precise_share: float = Field(default=0.70, ge=0, le=1)
    precise_passages: int = Field(default=20, ge=1)
    editor: str = Field(default="", pattern=r"^$|\{path\}")
    min_relevance: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    relevance: list[float] = Field(default_factory=list)
    index: str = Field(default="exact", pattern="^(exact|hnsw)$")
    hnsw_links: int = Field(default=16, ge=2, le=128)
    hnsw_width: int = Field(default=128, ge=1, le=10_000)

    @field_validator("relevance")
    @classmethod
    def _is_recalibration(cls, numbers: list[float]) -> list[float]:
        if not numbers:
            return numbers
        if len(numbers) != 2 or not all(map(isfinite, numbers)) or numbers[1] <= 0:
            raise ValueError("an intercept and a slope above 0 are wanted, or nothing")
        return numbers


class _Reranking(_Table):
    model: str = ""
    top: int = Field(default=30, ge=1, le=1000)
    on: str = Field(default="passages", pattern="^(passages|chunks)$")
    url: str = ""
    api_key_env: str = ""
    batch: int = Field(default=0, ge=0)
    timeout_seconds: float = Field(default=30.0, gt=0, allow_inf_nan=False)


class _AccessRule(_Table):
    # Without the key every document is meant; an empty list is more likely a mistake.
    paths: list[str] = Field(default_factory=list, min_length=1)
    source: str | None = None
    allow: list[str]


class _Access(_Table):
    groups: dict[str, list[str]] = Field(default_factory=dict)
    rules: list[_AccessRule] = Field(default_factory=list)
    file: str | None = Field(default=None, min_length=1)


class _Suggest(_Table):
    url: str = ""
    model: str = ""
    api_key_env: str = ""
    timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)


class _Gate(_Table):
    must_hold: Strings = Field(default_factory=Strings)
    measure: str = Field(default="", pattern=r"^(\w+@\w+)?$")
    baseline: str = Field(default="evaluation-baseline.json", min_length=1)
    max_drop: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)


class _Evaluation(_Table):
    questions: str = Field(default="questions.jsonl", min_length=1)
    k: list[Annotated[int, Field(ge=1, le=1000)]] = Field(default=[5], min_length=1)
    budgets: list[Annotated[int, Field(ge=1)]] = Field(default=[500, 1000, 2000])
    tokenizer: str = ""
    suggest: _Suggest = Field(default_factory=_Suggest)
    gate: _Gate = Field(default_factory=_Gate)


class _Config(_Table):
    sources: list[_Source] = Field(default_factory=lambda: [_Source()])
    extraction: _Extraction = Field(default_factory=_Extraction)
    chunking: _Chunking = Field(default_factory=_Chunking)
    embedding: _Embedding = Field(default_factory=_Embedding)
    retrieval: _Retrieval = Field(default_factory=_Retrieval)
    reranking: _Reranking = Field(default_factory=_Reranking)
    access: _Access = Field(default_factory=_Access)
    evaluation: _Evaluation = Field(default_factory=_Evaluation)


def find_root(start: Path) -> Path | None:
    """The nearest folder, ``start`` or above, that holds a configuration or a library."""
    for folder in (start, *start.parents):
        if (folder / CONFIG_FILE).is_file() or (folder / STATE_FOLDER / "library.db").is_file():
            return folder
        if _pyproject_table(folder) is not None:
            return folder
    return None


def config_files(root: Path) -> tuple[Path, ...]:
    """Files that :func:`load_settings` reads for ``root``, there or not."""
    return (_user_file(), root / CONFIG_FILE, root / "pyproject.toml")


def load_settings(
    root: Path,
    flags: Mapping[str, Mapping[str, JSON]] | None = None,
    variant: Mapping[str, Mapping[str, JSON]] | None = None,
) -> LibrarySettings:
    """The effective settings of the library in ``root``.

    ``flags`` are tables of values that override everything else, but for those of ``variant``: what
    is tried out. A value of ``None`` takes back what the layers below say. Raises ``SettingsError``
    for a file that can't be read, an unknown key (with the nearest known one) or a value out of
    range.
    """
    root = root.absolute()
    config, origin = _read_config(root, flags or {}, variant or {})
    return _settings(config, root, origin)


class AccessConfiguration:
    """What the configuration of a folder says of access, read again whenever a file that it is
    made of, or the environment, has changed. May be used from several threads."""

    def __init__(self, root: Path, flags: Mapping[str, Mapping[str, JSON]]) -> None:
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
            config, _ = _read_config(self._root, self.flags)
            read = inputs, (_access(config, self._root), _sources(config, self._root))
            self._read = read
        return read[1]

    def _layer_files(self) -> dict[str, str]:
        """The user's and the project's file, as far as there are such."""
        files = [name for name, _ in _layers(self._root, {}) if os.path.isabs(name)]
        user = str(_user_file())
        return {"user" if file == user else "project": file for file in files}

    def _inputs(self) -> _Inputs:
        paths = config_files(self._root)
        variables = {name: os.environ[name] for name in os.environ if name.startswith(_PREFIX)}
        return tuple(_bytes_of(path) for path in paths), variables


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _read_config(
    root: Path,
    flags: Mapping[str, Mapping[str, JSON]],
    variant: Mapping[str, Mapping[str, JSON]] = MappingProxyType({}),
) -> tuple[_Config, dict[str, JSON]]:
    """The validated configuration, and which layer each table came from last."""
    merged: dict[str, Any] = {}
    origin: dict[str, JSON] = {}
    for name, table in _layers(root, flags, variant):
        for key, value in table.items():
            if key == "chunking" and isinstance(value, Mapping):
                merged[key] = _merged_chunking(merged.get(key), value)
            elif isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
                merged[key] = {**merged[key], **value}
            else:
                merged[key] = value
            origin[key] = name
    merged = {key: _stated(value) for key, value in merged.items()}
    try:
        config = _Config.model_validate(merged)
    except ValidationError as error:
        raise _readable(error, merged, origin) from error
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


def chunking_settings(values: Mapping[str, JSON], max_tokens: int) -> ChunkingSettings:
    """Chunking settings with defaults derived for an embedder that reads ``max_tokens``.

    ``types`` holds such values by content type; what they leave out is taken from ``values``.
    """
    given = _without_none(values)
    profiles = given.pop("types", {})
    if "target_tokens" not in given:
        profiles = {"text": {}, **profiles}
    types = {
        name: _derived(
            {**given, **_without_none(profile)},
            max_tokens,
            _TARGET_SHARE_OF_TEXT if name == "text" else _TARGET_SHARE,
        )
        for name, profile in profiles.items()
    }
    return replace(_derived(given, max_tokens, _TARGET_SHARE), types=types)


def _derived(values: Mapping[str, JSON], max_tokens: int, share: float) -> ChunkingSettings:
    """Settings of one content type; sizes that are not given follow from the limit."""
    own = _checked(values)
    limit = int(own.get("max_tokens", max_tokens))
    target = max(1, int(share * limit))
    has_overlap = own.get("overlap_tokens") or own.get("overlap_chars")
    defaults = {
        "max_tokens": limit,
        "target_tokens": target,
        "min_tokens": min(16, int(own.get("target_tokens", target))),
        "max_chars": _CHARS_PER_TOKEN * limit,
        "torn_overlap_tokens": 0 if has_overlap else limit // 4,
    }
    return ChunkingSettings(**{**defaults, **own})


def _without_none(values: Mapping[str, JSON]) -> dict[str, JSON]:
    return {key: value for key, value in values.items() if value is not None}


def _checked(values: Mapping[str, JSON]) -> dict[str, JSON]:
    """``values`` in the types of :class:`ChunkingSettings`."""
    found: dict[str, JSON] = {}
    for key, value in values.items():
        if key in ("context", "separators"):
            known = CONTEXT_ROLES if key == "context" else None
            if not isinstance(value, list | tuple) or not all(
                isinstance(each, str) and (known is None or each in known) for each in value
            ):
                wanted = f"any of {', '.join(known)}" if known else "str"
                raise SettingsError(
                    "invalid-setting", f"{key} = {value!r} is no list of {wanted}.", "Mend it."
                )
            found[key] = tuple(value)
        elif key == "semantic_weight":
            if (
                not isinstance(value, int | float)
                or isinstance(value, bool)
                or not (isfinite(value) and value >= 0)
            ):
                raise SettingsError(
                    "invalid-setting", f"{key} = {value!r} is no number from 0 on.", "Mend it."
                )
            found[key] = float(value)
        elif key == "strategy":
            if not isinstance(value, str):
                raise SettingsError(
                    "invalid-setting", f"{key} = {value!r} is no name.", "Give a str."
                )
            found[key] = value
        elif not isinstance(value, int) or isinstance(value, bool):
            raise SettingsError(
                "invalid-setting", f"{key} = {value!r} is not a whole number.", "Give an int."
            )
        else:
            found[key] = value
    return found


def starter(name_of_embedder: str, strategies: list[str], formats: list[str]) -> str:
    """A first ``merestone.toml`` that shows what this installation can do."""
    return f"""\
# What to index, and how. Every key is optional; the values shown are the defaults.
# Formats read here: {", ".join(formats)}.

[[sources]]
path = "."            # relative to this file
# include = ["docs/**"]      # patterns with git's rules
# exclude = ["drafts/"]

[chunking]
strategy = "auto"     # by content type; installed: {", ".join(strategies)}
# max_tokens = 256       # hard limit of what the embedder reads for one chunk
# target_tokens = 204
# min_tokens = 16
# overlap_tokens = 0

# [chunking.types.code]  # settings of one content type: {", ".join(CONTENT_TYPES)}
# max_tokens = 256

[embedding]
model = "{name_of_embedder}"         # runs here, without network

[retrieval]
# dense_weight = 0.5     # 0: words only, 1: meaning only
# candidates = 100
# expand = "structure"   # what a sentence becomes: none, window:2, neighbours:1, section, parent
"""


def _stated(table: Any) -> Any:
    """A table without the keys that were taken back."""
    if not isinstance(table, Mapping):
        return table
    return {key: _stated(value) for key, value in table.items() if value is not None}


def _layers(
    root: Path,
    flags: Mapping[str, Mapping[str, JSON]],
    variant: Mapping[str, Mapping[str, JSON]] = MappingProxyType({}),
) -> list[tuple[str, dict[str, Any]]]:
    layers: list[tuple[str, dict[str, Any]]] = []
    user = _user_file()
    try:
        has_user = user.is_file()
    except OSError as error:
        # Taken for none it could switch off rules of access.
        raise _unreadable(user, error) from error
    if has_user:
        layers.append((str(user), _read_toml(user)))
    project, pyproject = root / CONFIG_FILE, root / "pyproject.toml"
    table = _pyproject_table(root)
    if project.is_file():
        if table is not None:
            # Either could hold the rules of access that someone relies on.
            raise SettingsError(
                "two-configurations",
                f"{project} and {pyproject} both hold settings.",
                f"Move the tables of [{_PYPROJECT_TABLE}] into {CONFIG_FILE}, or delete one.",
            )
        layers.append((str(project), _read_toml(project)))
    elif table is not None:
        layers.append((str(pyproject), table))
    layers.append(("the environment", _environment()))
    layers.append(("the call", {key: dict(value) for key, value in flags.items()}))
    layers.append(("the variant", {key: dict(value) for key, value in variant.items()}))
    return layers


def _user_file() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / CONFIG_FILE


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> SettingsError:
    return SettingsError(
        "config-unreadable", f"{path} cannot be read as TOML: {error}.", "Mend the file."
    )


def _pyproject_table(folder: Path) -> dict[str, Any] | None:
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
        if _PYPROJECT_TABLE in text:
            # Taken for a file that says nothing of us it would switch off the rules of access.
            raise _unreadable(path, error) from error
        return None
    return table if isinstance(table, dict) else None


def _environment() -> dict[str, Any]:
    """``MERESTONE_CHUNKING_MAX_TOKENS=200`` is ``[chunking] max_tokens = 200``."""
    found: dict[str, Any] = {}
    for name, text in os.environ.items():
        if not name.startswith(_PREFIX) or name in _NO_SETTINGS:
            continue
        table, _, key = name.removeprefix(_PREFIX).lower().partition("_")
        if table not in _Config.model_fields or table == "sources" or not key:
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


def _readable(
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


def _known_keys(place: list[str]) -> list[str]:
    tables: dict[str, type[BaseModel]] = {
        "sources": _Source,
        "extraction": _Extraction,
        "chunking": _Chunking,
        "embedding": _Embedding,
        "retrieval": _Retrieval,
        "reranking": _Reranking,
        "access": _Access,
        "evaluation": _Evaluation,
    }
    names = [part for part in place if not part.isdigit()]
    if names[:2] == ["access", "rules"]:
        return list(_AccessRule.model_fields)
    if names[:2] == ["evaluation", "suggest"]:
        return list(_Suggest.model_fields)
    if names[:2] == ["evaluation", "gate"]:
        return list(_Gate.model_fields)
    if names[:2] == ["chunking", "types"]:
        return list(_Profile.model_fields) if len(names) > 2 else list(CONTENT_TYPES)
    model = tables[names[0]] if names else _Config
    return list(model.model_fields)


def _settings(config: _Config, root: Path, origin: Mapping[str, JSON]) -> LibrarySettings:
    names = [source.name for source in config.sources]
    if len(names) > 1 and (len(set(names)) < len(names) or not all(names)):
        raise SettingsError(
            "invalid-setting",
            f"The {len(names)} sources have the names {names}.",
            "Give each of several sources a name of its own.",
        )
    return LibrarySettings(
        root=str(root),
        state=str(root / STATE_FOLDER),
        sources=_sources(config, root),
        extraction=ExtractionSettings(**config.extraction.model_dump()),
        chunking=chunking_settings(config.chunking.model_dump(), _default_limit(config, root)),
        embedding=_embedding(config, root),
        retrieval=_retrieval(config.retrieval),
        reranking=RerankingSettings(**config.reranking.model_dump()),
        access=_access(config, root),
        evaluation=_evaluation(config.evaluation, root),
        origin=dict(origin),
    )


def _retrieval(table: _Retrieval) -> RetrievalSettings:
    return RetrievalSettings(**{**table.model_dump(), "relevance": tuple(table.relevance)})


def _evaluation(table: _Evaluation, root: Path) -> EvaluationSettings:
    return EvaluationSettings(
        questions=os.path.abspath(root / table.questions),
        k=tuple(sorted(set(table.k))),
        budgets=tuple(sorted(set(table.budgets))),
        tokenizer=table.tokenizer,
        suggest=SuggestSettings(**table.suggest.model_dump()),
        gate=_gate(table.gate, root),
    )


def _gate(table: _Gate, root: Path) -> GateSettings:
    is_last = table.baseline == "last"
    return GateSettings(
        must_hold=tuple(table.must_hold),
        measure=table.measure,
        baseline=table.baseline if is_last else os.path.abspath(root / table.baseline),
        max_drop=table.max_drop,
    )


def _sources(config: _Config, root: Path) -> tuple[SourceSettings, ...]:
    evaluation = config.evaluation
    own = [os.path.abspath(root / evaluation.questions)]
    if evaluation.gate.baseline != "last":
        own.append(os.path.abspath(root / evaluation.gate.baseline))
    own += _written(root / STATE_FOLDER)
    return tuple(_without_files(_source_settings(source, root), own) for source in config.sources)


def _without_files(source: SourceSettings, files: list[str]) -> SourceSettings:
    """A folder without ``files`` in it: questions, and what is written of them, hold the words of
    their answers, and would be found in the place of what they ask for."""
    inside = [
        Path(file) for file in files if source.path and Path(file).is_relative_to(source.path)
    ]
    patterns = (
        "/" + _SPECIAL.sub(r"\\\1", file.relative_to(source.path).as_posix()) for file in inside
    )
    return replace(source, exclude=(*source.exclude, *patterns))


def note_written(state: str, path: Path) -> None:
    """Remember that a command writes ``path``, a file or a folder: it is never taken for a
    document, which could open to everyone what it quotes."""
    known = _written(Path(state))
    name = os.path.abspath(path)
    if name in known:
        return
    target = Path(state) / WRITTEN
    draft = target.with_name(f".{WRITTEN}.{os.getpid()}")
    draft.write_text(json.dumps([*known, name], indent=1) + "\n", "utf-8")
    draft.replace(target)


def _written(state: Path) -> list[str]:
    try:
        names = json.loads((state / WRITTEN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


_SPECIAL = re.compile(r"([\\*?\[\]])")
"""What stands for something else in a pattern with git's rules."""


def _source_settings(source: _Source, root: Path) -> SourceSettings:
    kind = _kind(source)
    texts = [source.text] if isinstance(source.text, str) else source.text
    place = {"path": source.path or "."}.get(kind) or getattr(source, kind)
    if kind in ("sqlite", "jsonl") or (kind == "list" and "://" not in place):
        place = os.path.abspath(root / place)
    for url in source.urls or ():
        _check_page(url)
    if kind in ("list", "sitemap") and "://" in place:
        _check_page(place)
    elif kind in ("url", "sql") and urlsplit(place).password is not None:
        raise _source_error(
            f"The source {source.name or kind} has a password in its URL.",
            "Put it into the environment; password_env names the variable for sql.",
        )
    return SourceSettings(
        path=os.path.abspath(root / place) if kind == "path" else "",
        name=source.name,
        include=tuple(source.include),
        exclude=tuple(source.exclude),
        gitignore=source.gitignore,
        kind=place if kind == "plugin" else kind,
        location="" if kind in ("path", "urls", "plugin") else place,
        urls=tuple(source.urls or ()),
        hosts=tuple(source.hosts),
        query=source.query,
        key=source.key,
        updated=source.updated,
        text=tuple(texts),
        media_type=source.media_type,
        password_env=source.password_env,
        options=source.options,
    )


def _kind(source: _Source) -> str:
    """Which key says what the source is; every other key has to be one of that kind."""
    given = source.model_fields_set
    kinds = [kind for kind in _KINDS if kind in given] or ["path"]
    if len(kinds) > 1:
        raise _source_error(
            f"One source has {' and '.join(kinds)}.", "Write a [[sources]] for each of them."
        )
    (kind,) = kinds
    for name in given - _KINDS[kind] - {kind, "name", "include", "exclude"}:
        takers = [each for each, names in _KINDS.items() if name in names]
        raise _source_error(
            f"A source with {kind} has the key {name}.", f"It belongs to {', '.join(takers)}."
        )
    missing = [name for name in _NEEDED.get(kind, ()) if not getattr(source, name)]
    if missing:
        raise _source_error(f"A source with {kind} lacks {' and '.join(missing)}.", "Give it.")
    if ":" in source.name or "/" in source.name:
        raise _source_error(
            f"The name {source.name!r} of a source holds a colon or a slash.", "Leave them out."
        )
    return kind


def _check_page(url: str) -> None:
    if page_identifier(url) is None:
        raise _source_error(
            f"{url.rpartition('@')[2]!r} is no address of a page.",
            "Give a URL with http or https, without user and password.",
        )


def _source_error(message: str, remedy: str) -> SettingsError:
    return SettingsError("invalid-setting", message, remedy)


def _access(config: _Config, root: Path) -> AccessSettings:
    table = config.access
    return AccessSettings(
        groups={name: tuple(members) for name, members in table.groups.items()},
        rules=tuple(
            AccessRule(tuple(rule.allow), tuple(rule.paths), rule.source) for rule in table.rules
        ),
        file=None if table.file is None else os.path.abspath(root / table.file),
    )


def _embedding(config: _Config, root: Path) -> EmbeddingSettings:
    """Settings of the embedder; paths are relative to the configuration."""
    from merestone.embedding import is_model_path

    values = config.embedding.model_dump()
    if is_model_path(values["model"]):
        values["model"] = os.path.abspath(root / values["model"])
    if values["tokenizer"].endswith(".json"):
        values["tokenizer"] = os.path.abspath(root / values["tokenizer"])
    return EmbeddingSettings(**{**values, "scripts": tuple(values["scripts"])})


def _default_limit(config: _Config, root: Path) -> int:
    from merestone.embedding import open_embedder

    embedder = open_embedder(_embedding(config, root))
    profiles = {f"chunking.types.{name}": each for name, each in config.chunking.types.items()}
    for name, profile in {"chunking": config.chunking, **profiles}.items():
        limit = profile.max_tokens
        if limit is not None and limit > embedder.max_tokens:
            raise SettingsError(
                "max-tokens-too-large",
                f"{name}.max_tokens = {limit}, but {embedder.name} reads {embedder.max_tokens}.",
                "Lower it: what is beyond would never be embedded.",
            )
    return embedder.max_tokens
