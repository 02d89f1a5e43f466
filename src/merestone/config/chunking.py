"""Settings of chunking: sizes that follow from the embedder, profiles by content type."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from math import isfinite

from merestone.types import CONTEXT_ROLES, JSON, ChunkingSettings, SettingsError

_CHARS_PER_TOKEN = 8
_FEWEST = 16
"""Tokens of a chunk that is not to be merged with another, where nothing is said."""
_TARGET_SHARE = 0.8
_TARGET_SHARE_OF_TEXT = 0.72
"""Of plain text, whose long paragraphs are cut anywhere: there smaller pieces are found better."""


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


def require_sensible_sizes(name: str, values: Mapping[str, JSON], least: int | None) -> None:
    """Raise ``SettingsError`` for a size of the table ``name`` below ``min_tokens``, its own or
    else ``least``: a slip that would make a chunk of every few words, and embed them all."""
    own = values.get("min_tokens")
    fewest = own if own is not None else least if least is not None else _FEWEST
    said = "" if own is not None or least is not None else " where it is not set"
    for key in ("max_tokens", "target_tokens", "max_chars"):
        size = values.get(key)
        if size is not None and size < fewest:
            raise SettingsError(
                "invalid-chunk-size",
                f"{name}.{key} = {size} is below min_tokens, which is {fewest}{said}.",
                f"Raise it; or, if chunks are to be that small, set {name}.min_tokens as well.",
            )


def _derived(values: Mapping[str, JSON], max_tokens: int, share: float) -> ChunkingSettings:
    """Settings of one content type; sizes that are not given follow from the limit."""
    own = _checked(values)
    limit = int(own.get("max_tokens", max_tokens))
    target = max(1, int(share * limit))
    has_overlap = own.get("overlap_tokens") or own.get("overlap_chars")
    defaults = {
        "max_tokens": limit,
        "target_tokens": target,
        "min_tokens": min(_FEWEST, int(own.get("target_tokens", target))),
        "max_chars": _CHARS_PER_TOKEN * limit,
        "torn_overlap_tokens": 0 if has_overlap else limit // 4,
    }
    return ChunkingSettings(**{**defaults, **own})


def _without_none(values: Mapping[str, JSON]) -> dict[str, JSON]:
    return {key: value for key, value in values.items() if value is not None}


def _checked(values: Mapping[str, JSON]) -> dict[str, JSON]:
    """``values`` in the types of :class:`ChunkingSettings`."""
    return {key: _CHECKS.get(key, _whole_number)(key, value) for key, value in values.items()}


def _whole_number(key: str, value: JSON) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise SettingsError(
            "invalid-setting", f"{key} = {value!r} is not a whole number.", "Give an int."
        )
    return value


def _name(key: str, value: JSON) -> str:
    if not isinstance(value, str):
        raise SettingsError("invalid-setting", f"{key} = {value!r} is no name.", "Give a str.")
    return value


def _weight(key: str, value: JSON) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or value < 0:
        raise SettingsError(
            "invalid-setting", f"{key} = {value!r} is no number from 0 on.", "Mend it."
        )
    return float(value)


def _roles(key: str, value: JSON) -> tuple[str, ...]:
    return _texts(key, value, f"any of {', '.join(CONTEXT_ROLES)}", CONTEXT_ROLES)


def _separators(key: str, value: JSON) -> tuple[str, ...]:
    return _texts(key, value, "str", None)


def _texts(key: str, value: JSON, wanted: str, known: Container[str] | None) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(
        isinstance(each, str) and (known is None or each in known) for each in value
    ):
        raise SettingsError(
            "invalid-setting", f"{key} = {value!r} is no list of {wanted}.", "Mend it."
        )
    return tuple(value)


_CHECKS: dict[str, Callable[[str, JSON], JSON]] = {
    "context": _roles,
    "separators": _separators,
    "semantic_weight": _weight,
    "strategy": _name,
}
"""Of what is no whole number, by key."""
