"""The strategy ``recursive``: separators decide where to cut, the strongest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.finishing import Piece, finish, trim
from merestone.chunking.limits import check_settings, too_small
from merestone.chunking.plain_pieces import PlainPieces
from merestone.chunking.separators import Sizes, Splitter
from merestone.types import (
    ChunkingSettings,
    Cutting,
    Document,
    Edge,
    Embedder,
    Span,
    Tokenizer,
)

_REASONS = {"\n\n": "block", "\n": "line", " ": "word", "": "grapheme"}


class RecursiveChunker:
    """Cuts at the strongest of ``separators`` that gives parts within ``max_tokens`` and
    ``max_chars``, and merges small neighbours up to them, with overlap.

    There is no context: with 1000 characters and 200 of overlap this is what most tutorials do,
    and the baseline that others are held against.
    """

    name: ClassVar[str] = "recursive"
    revision: ClassVar[int] = 2

    def cut(
        self,
        document: Document,
        settings: ChunkingSettings,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
    ) -> Cutting:
        check_settings(settings, tokenizer)
        text, special = document.text, tokenizer.special_tokens
        room = settings.max_tokens - special

        def measure(spans: Sequence[Span]) -> list[Sizes]:
            # Nothing is counted in pieces larger than max_chars, so that memory stays bounded.
            short = [span for span in spans if span.end - span.start <= settings.max_chars]
            counts = iter(tokenizer.counts([text[span.start : span.end] for span in short]))
            return [
                (
                    next(counts) if span.end - span.start <= settings.max_chars else room + 1,
                    span.end - span.start,
                )
                for span in spans
            ]

        overlap = (settings.overlap_tokens or room, settings.overlap_chars or settings.max_chars)
        if not settings.overlap_tokens and not settings.overlap_chars:
            overlap = (0, 0)
        separators = (
            settings.separators if "" in settings.separators else (*settings.separators, "")
        )
        limits = (room, settings.max_chars)
        splitter = Splitter(text, measure, limits, overlap, separators)
        plain = PlainPieces(document, tokenizer)
        pieces: list[Piece] = []
        for span, level in splitter.chunks(0, document.body_end):
            for start, end in _within(text, span, room, tokenizer):
                separator = separators[level]
                reason = _REASONS.get(separator, "separator")
                edge = Edge(reason, 0.6 * (1 - level / len(separators)))
                # Without the white space around them one may lie within the other.
                while pieces and start <= pieces[-1].start and pieces[-1].end <= end:
                    pieces.pop()
                if not pieces or pieces[-1].end < end:
                    pieces.append(plain.piece(start, end, edge))
        config = chunking_fingerprint(self, settings, tokenizer)
        return Cutting(finish(document, pieces, config), ())


CHUNKER = RecursiveChunker()


def _within(text: str, span: Span, room: int, tokenizer: Tokenizer) -> list[Span]:
    """``span`` without white space around it, or its halves where sums of counts of its parts
    said too little."""
    done: list[Span] = []
    pending = [span]
    while pending:
        start, end = trim(text, *pending.pop())
        if start >= end:
            continue
        if tokenizer.counts([text[start:end]])[0] <= room:
            done.append(Span(start, end))
        elif end - start == 1:
            raise too_small(room, f"the tokens of the one character {text[start]!r}")
        else:
            middle = text.rfind(" ", start + 1, (start + end) // 2 + 1) + 1 or (start + end) // 2
            pending += [Span(middle, end), Span(start, middle)]
    return done
