"""What happens to an input with more tokens than the model reads: never a silent loss."""

from __future__ import annotations

from merestone.types import EmbedderError, EmbeddingSettings, SettingsError, Tokenizer

ON_OVERLONG = ("error", "truncate", "window")
MODES = ("plain", "late", "plain+late")
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
    if settings.mode not in MODES:
        raise SettingsError(
            "bad-embedding-mode",
            f"embedding.mode is {settings.mode!r}.",
            f"Choose one of {', '.join(MODES)}.",
        )


def input_too_long(text: str, tokens: int, limit: int) -> EmbedderError:
    """The error for a text of ``tokens`` tokens, special tokens included."""
    return EmbedderError(
        "input-too-long",
        f"A text of {tokens} tokens is beyond the embedder's limit of {limit}: "
        f"{beginning(text)!r}.",
        "Lower chunking.max_tokens to the limit, or set embedding.on_overlong to "
        '"truncate" or "window".',
    )


def beginning(text: str) -> str:
    """Enough of a text to know it by."""
    return text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")


def windows(length: int, size: int) -> list[tuple[int, int]]:
    """Ranges of ``size`` tokens that cover ``length`` tokens, each half over the one before.

    The last one ends at ``length`` and overlaps more where need be, so that all are full: a
    short rest would count as much in their mean as a full window.
    """
    if length <= size:
        return [(0, length)]
    starts = [*range(0, length - size, max(1, size // 2)), length - size]
    return [(start, start + size) for start in starts]


def text_windows(text: str, tokenizer: Tokenizer, size: int) -> list[str]:
    """Parts of ``text`` of at most ``size`` tokens that cover it, each half over the one before,
    for a model that takes text and no tokens.

    A part cut out of its text may have more tokens than it had there; then it is made shorter.
    """
    starts = [*tokenizer.starts(text), len(text)]
    starts[0] = 0
    parts: list[str] = []
    first, count = 0, len(starts) - 1
    while first < count:
        end = min(count, first + size)
        part = text[starts[first] : starts[end]]
        while end > first + 1 and tokenizer.counts([part])[0] > size:
            end -= 1
            part = text[starts[first] : starts[end]]
        if part:
            parts.append(part)
        if end == count:
            break
        first += max(1, (end - first) // 2)
    return parts or [text]
