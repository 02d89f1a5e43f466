"""The strategy ``fixed``: windows of one size with overlap, blind to structure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import ClassVar

from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.finishing import Piece, finish, trim
from merestone.chunking.limits import check_settings, too_small
from merestone.chunking.plain_pieces import PlainPieces
from merestone.text.graphemes import grapheme_boundary_before
from merestone.types import (
    ChunkingSettings,
    Cutting,
    Document,
    Edge,
    Embedder,
    SettingsError,
    Span,
    Tokenizer,
)

_WINDOW = Edge("window", 0.0)


class FixedChunker:
    """Windows of ``max_tokens`` (special tokens included) or ``max_chars``, whichever is reached
    first, each repeating ``overlap_tokens`` or ``overlap_chars`` of the one before.

    A window ends behind white space where there is any in its second half, else at a grapheme.
    There is no context: this is the baseline that others are held against.
    """

    name: ClassVar[str] = "fixed"
    revision: ClassVar[int] = 2

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        check_settings(settings, tokenizer)
        if settings.overlap_tokens and settings.overlap_chars:
            raise SettingsError(
                "invalid-chunk-size",
                "overlap_tokens and overlap_chars are both set.",
                "Set one of them.",
            )
        plain = PlainPieces(document, tokenizer)
        pieces: list[Piece] = []
        for low, high in _windows(document, settings, tokenizer):
            start, end = trim(document.text, low, high)
            if start < end:
                pieces.append(plain.piece(start, end, _WINDOW))
        config = chunking_fingerprint(self, settings, tokenizer)
        return Cutting(finish(document, pieces, config), ())


CHUNKER = FixedChunker()


def _windows(
    document: Document, settings: ChunkingSettings, tokenizer: Tokenizer
) -> Iterator[Span]:
    text, end = document.text, document.body_end
    room = settings.max_tokens - tokenizer.special_tokens
    token_starts = tokenizer.starts(text[:end])
    start = reached = 0
    while start < end:
        at = bisect_left(token_starts, start)
        by_tokens = token_starts[at + room] if at + room < len(token_starts) else end
        high = max(start + 1, min(by_tokens, start + settings.max_chars, end))
        cut = _fitted(text, start, high, end, room, settings.max_tokens, tokenizer)
        if cut <= reached:
            # The overlap left no room for anything new.
            start = reached
            continue
        reached = cut
        yield Span(start, cut)
        if cut >= end:
            return
        first = min(trim(text, start, cut)[0], cut - 1)
        if settings.overlap_tokens:
            index = bisect_left(token_starts, cut)
            # A window that max_chars ended may hold few tokens: it is not repeated as a whole.
            held = index - bisect_left(token_starts, first)
            index -= min(settings.overlap_tokens, held // 2)
            following = token_starts[index] if index < len(token_starts) else cut
        else:
            following = cut - settings.overlap_chars
        resumed = _resume(text, max(first + 1, min(following, cut)), cut)
        # Where the overlap would tear the window's first grapheme, there is none.
        start = resumed if resumed > first else cut


def _fitted(
    text: str, start: int, high: int, end: int, room: int, max_tokens: int, tokenizer: Tokenizer
) -> int:
    """Largest good end at or before ``high`` with at most ``room`` tokens. A cut inside a word
    changes its tokens, so each window is counted by itself."""
    while True:
        cut = _good_end(text, start, high, end)
        # Counted as it will be cut out: a space before a word can be a token of its own.
        first, last = trim(text, start, cut)
        if tokenizer.counts([text[first:last]])[0] <= room:
            return cut
        if cut - start <= 1:
            raise too_small(max_tokens, f"the tokens of the one character {text[start]!r}")
        high = cut - max(1, (cut - start) // 16)


def _good_end(text: str, start: int, high: int, end: int) -> int:
    if high >= end:
        return end
    for offset in range(high, start + (high - start) // 2, -1):
        if text[offset - 1].isspace():
            return offset
    cut = grapheme_boundary_before(text, high)
    return cut if cut > start else high


def _resume(text: str, offset: int, cut: int) -> int:
    """Where the next window begins: at a word where one begins before ``cut``."""
    if offset == cut or text[offset - 1].isspace():
        return offset
    for later in range(offset, cut):
        if text[later].isspace():
            return later + 1
    return grapheme_boundary_before(text, offset) if offset < cut else offset
