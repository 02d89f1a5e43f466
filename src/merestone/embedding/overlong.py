"""What happens to an input with more tokens than the model reads: never a silent loss."""

from __future__ import annotations

from merestone.types import EmbedderError, EmbeddingSettings, SettingsError

ON_OVERLONG = ("error", "truncate", "window")
_SHOWN = 60


def check_settings(settings: EmbeddingSettings) -> None:
    """``SettingsError`` for a value that no embedder can act on."""
    if settings.on_overlong not in ON_OVERLONG:
        raise SettingsError(
            "bad-on-overlong",
            f"embedding.on_overlong is {settings.on_overlong!r}.",
            f"Choose one of {', '.join(ON_OVERLONG)}.",
        )
    if settings.batch_tokens < 1 or settings.threads < 0:
        raise SettingsError(
            "bad-embedding-size",
            f"embedding.batch_tokens is {settings.batch_tokens} and embedding.threads is "
            f"{settings.threads}.",
            "batch_tokens must be at least 1, threads at least 0 (one a core).",
        )


def input_too_long(text: str, tokens: int, limit: int) -> EmbedderError:
    """The error for a text of ``tokens`` tokens, special tokens included."""
    shown = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    return EmbedderError(
        "input-too-long",
        f"A text of {tokens} tokens is beyond the embedder's limit of {limit}: {shown!r}.",
        "Lower chunking.max_tokens to the limit, or set embedding.on_overlong to "
        '"truncate" or "window".',
    )


def windows(length: int, size: int) -> list[tuple[int, int]]:
    """Ranges of ``size`` tokens that cover ``length`` tokens, each half over the one before.

    The last one ends at ``length`` and overlaps more where need be, so that all are full: a
    short rest would count as much in their mean as a full window.
    """
    if length <= size:
        return [(0, length)]
    starts = [*range(0, length - size, max(1, size // 2)), length - size]
    return [(start, start + size) for start in starts]
