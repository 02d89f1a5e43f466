"""Pieces of strategies that are blind to structure: no context, one unit."""

from __future__ import annotations

from bisect import bisect_right

from merestone.chunking import boundaries
from merestone.chunking.finishing import Piece
from merestone.chunking.render import flat
from merestone.types import Document, Edge, Tokenizer, Unit


class PlainPieces:
    """Makes the pieces of one document, in order."""

    def __init__(self, document: Document, tokenizer: Tokenizer) -> None:
        self._document = document
        self._tokenizer = tokenizer
        self._end = document.body_end
        self._starts: list[int] = []
        self._paths: list[tuple[str, ...]] = []
        path: list[tuple[int, str]] = []
        for block in document.blocks:
            if block.kind == "heading" and block.layer == "body":
                level = block.level or 1
                while path and path[-1][0] >= level:
                    path.pop()
                low, high = block.attributes.get("content") or (block.start, block.end)
                path.append((level, flat(document.text[low:high])))
                self._starts.append(block.start)
                self._paths.append(tuple(words for _, words in path))

    def piece(self, start: int, end: int, edge: Edge, following: Edge | None = None) -> Piece:
        """The piece ``[start, end)`` that begins at ``edge`` and ends at ``following``."""
        text = self._document.text[start:end]
        above = bisect_right(self._starts, start)
        return Piece(
            start=start,
            end=end,
            tokens=self._tokenizer.counts([text])[0] + self._tokenizer.special_tokens,
            kind="text",
            boundary_start=boundaries.DOCUMENT if start == 0 else edge,
            boundary_end=boundaries.DOCUMENT if end >= self._end else (following or edge),
            heading_path=self._paths[above - 1] if above else (),
            units=(Unit(start, end, "sentence", "section", start, end),),
        )
