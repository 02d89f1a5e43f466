"""Checking the sizes that were asked for."""

from __future__ import annotations

from merestone.types import ChunkingSettings, SettingsError, Tokenizer


def check_settings(settings: ChunkingSettings, tokenizer: Tokenizer) -> None:
    """Raise ``SettingsError`` for sizes that cannot be met together."""
    for name in ("max_tokens", "target_tokens", "max_chars"):
        if getattr(settings, name) < 1:
            raise _invalid(name, getattr(settings, name), "must be at least 1", "Raise it.")
    for name in ("min_tokens", "overlap_tokens", "overlap_chars"):
        if getattr(settings, name) < 0:
            raise _invalid(name, getattr(settings, name), "must not be negative", "Use 0 or more.")
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
    if settings.overlap_tokens * 2 > room:
        raise _invalid(
            "overlap_tokens",
            settings.overlap_tokens,
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


def too_small(max_tokens: int, what: str) -> SettingsError:
    """The error for a limit that cannot hold even ``what``."""
    return SettingsError(
        "max-tokens-too-small",
        f"max_tokens = {max_tokens} leaves no room beside {what}.",
        "Raise max_tokens.",
    )


def _invalid(name: str, value: int, problem: str, remedy: str) -> SettingsError:
    return SettingsError("invalid-chunk-size", f"{name} = {value} {problem}.", remedy)
