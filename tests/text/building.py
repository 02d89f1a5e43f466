"""Texts with segments, and beside each character the source positions it was made from."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from merestone.text.builder import TextBuilder
from merestone.types import Segments, Span

Position = tuple[int | None, int]
"""A page, or none, and the index of a source character on it."""


class Built(NamedTuple):
    text: str
    segments: Segments
    sources: list[set[Position]]
    """Of each code point of the text; empty for inserted ones."""
    spans: list[Span]
    """What each call of the builder gave."""
    pieces: list[str]


class _Piece(NamedTuple):
    kind: str
    text: str
    source: tuple[int, int]
    page: int | None


@st.composite
def built(draw: st.DrawFn) -> Built:
    """Every kind of piece, over pages, in the order of the source, the reverse or any."""
    builder = TextBuilder()
    sources: list[set[Position]] = []
    spans: list[Span] = []
    pieces = draw(_pieces())
    for piece in pieces:
        spans.append(_append(builder, piece))
        own = {(piece.page, position) for position in range(*piece.source)}
        if piece.kind == "copy":
            sources.extend({(piece.page, position)} for position in range(*piece.source))
        else:
            sources.extend(set() if piece.kind == "insert" else own for _ in piece.text)
    texts = [piece.text for piece in pieces]
    return Built(builder.text(), builder.segments(), sources, spans, texts)


@st.composite
def _pieces(draw: st.DrawFn) -> list[_Piece]:
    pages = draw(st.sampled_from([[None], [1, 2], [None, 3]]))
    used: dict[int | None, int] = {}
    pieces: list[_Piece] = []
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["copy", "copy", "replace", "insert", "delete"]))
        text = "" if kind == "delete" else draw(st.text("ab😀", max_size=4))
        page = None if kind == "insert" else draw(st.sampled_from(pages))
        first = used.get(page, 0) + draw(st.sampled_from([0, 0, 2]))
        size = {"copy": len(text), "insert": 0}.get(kind, draw(st.integers(1, 4)))
        used[page] = first + size
        pieces.append(_Piece(kind, text, (first, first + size), page))
    order = draw(st.sampled_from(["source", "reversed", "any"]))
    if order == "any":
        return draw(st.permutations(pieces))
    return pieces[::-1] if order == "reversed" else pieces


def _append(builder: TextBuilder, piece: _Piece) -> Span:
    if piece.kind == "copy":
        return builder.copy(piece.text, piece.source[0], piece.page)
    if piece.kind == "replace":
        return builder.replace(piece.text, *piece.source, piece.page)
    if piece.kind == "insert":
        return builder.insert(piece.text)
    return builder.delete(*piece.source, piece.page)
