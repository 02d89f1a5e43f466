"""Checking the sizes that were asked for."""

from __future__ import annotations

from merestone.types import ChunkingSettings, SettingsError, Tokenizer


def check_settings(settings: ChunkingSettings, tokenizer: Tokenizer) -> None:
    """Raise ``SettingsError`` for sizes that cannot be met together."""
    for name in ("max_tokens", "target_tokens", "max_chars"):
        if getattr(settings, name) < 1:
            raise _invalid(name, getattr(settings, name), "must be at least 1", "Raise it.")
    for name in ("min_tokens", "overlap_tokens", "overlap_chars", "torn_overlap_tokens"):
        if getattr(settings, name) < 0:
            raise _invalid(name, getattr(settings, name), "must not be negative", "Use 0 or more.")
    if settings.group is not None and settings.group < 1:
        raise _invalid("group", settings.group, "must be at least 1", "Raise it.")
    room = settings.max_tokens - tokenizer.special_tokens
    if room < 1:
        raise too_small(settings.max_tokens, f"{tokenizer.special_tokens} special tokens")
    if settings.target_tokens > settings.max_tokens:
        raise _invalid(
            "target_tokens",
            settings.target_tokens,
            f"is above max_tokens ({settings.max_tokens})",
            "Lower it, or raise max_tokens.",
        )
    if settings.min_tokens > settings.target_tokens:
        raise _invalid(
            "min_tokens",
            settings.min_tokens,
            f"is above target_tokens ({settings.target_tokens})",
            "Lower it, or raise target_tokens.",
        )
    for name in ("overlap_tokens", "torn_overlap_tokens"):
        if getattr(settings, name) * 2 > room:
            raise _invalid(
                name,
                getattr(settings, name),
                f"is more than half of the {room} tokens that a chunk has for its own text",
                "Lower it, or raise max_tokens.",
            )
    if settings.overlap_chars * 2 > settings.max_chars:
        raise _invalid(
            "overlap_chars",
            settings.overlap_chars,
            f"is more than half of max_chars ({settings.max_chars})",
            "Lower it, or raise max_chars.",
        )


def check_plain_sizes(text: str, size: int, overlap: int) -> None:
    """Raise ``SettingsError`` unless ``text`` can be cut by these sizes."""
    if not isinstance(text, str):
        raise SettingsError(
            "invalid-window", f"The text is {type(text).__name__}, not str.", "Decode it first."
        )
    for name, value in (("size", size), ("overlap", overlap)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise SettingsError(
                "invalid-window", f"{name} = {value!r} is not a whole number.", "Give an int."
            )
    if size < 1:
        raise SettingsError("invalid-window", f"size = {size} is below 1.", "Raise size.")
    if not 0 <= overlap < size:
        raise SettingsError(
            "invalid-window",
            f"overlap = {overlap} is not between 0 and size - 1 ({size - 1}).",
            "Lower overlap, or raise size.",
        )


def too_small(max_tokens: int, what: str) -> SettingsError:
    """The error for a limit that cannot hold even ``what``."""
    return SettingsError(
        "max-tokens-too-small",
        f"max_tokens = {max_tokens} leaves no room beside {what}.",
        "Raise max_tokens.",
    )


def _invalid(name: str, value: int, problem: str, remedy: str) -> SettingsError:
    return SettingsError("invalid-chunk-size", f"{name} = {value} {problem}.", remedy)
