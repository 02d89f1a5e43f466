"""What a reader sees as one character: grapheme clusters of Unicode TR29."""

from __future__ import annotations

from collections.abc import Iterator

from apsw import unicode

_WINDOW = 1024
_HALF_FLAGS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
"""Code points looked at before an offset. No writing has a cluster near that size."""

_JOIN_FROM_AFAR = ("क\u094d", "\U0001f469\u200d", "\U0001f1e6")
"""A consonant, a picture and half a flag, each ready to be joined by another of its kind."""


def grapheme_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Offsets at which the grapheme clusters of ``text[start:end]`` end, ascending.

    ``start`` and ``end`` count as boundaries, also inside a cluster. The last offset given is
    ``end``; an empty range gives none.
    """
    piece = text[start:end]
    next_break = unicode.grapheme_next_break
    before = 0
    while before < len(piece):
        after = next_break(piece, before)
        if after - before > 2 and piece[after - 1] == "\n":
            # apsw 3.54 joins a prepended mark to CRLF; by GB5 nothing joins a control.
            yield start + after - 2
        yield start + after
        before = after


def grapheme_boundary_before(text: str, offset: int) -> int:
    """The largest grapheme cluster boundary that is at most ``offset``.

    Costs the same at any place of any text: it looks at most 1024 code points back. In a cluster
    or a row of flags longer than that, 1024 code points before ``offset`` count as a boundary.
    """
    if offset <= 0:
        return 0
    if offset >= len(text):
        return len(text)
    lowest = max(0, offset - _WINDOW)
    start = offset
    while start > lowest and not _surely_parts(text, start):
        start -= 1
    if start == lowest:
        start = _flags_before(text, start)
    boundary = start
    # Whether a cluster ends at ``offset`` depends on what is before it and on one code point
    # after it; a longer piece would cost more in a text that is one endless cluster.
    for boundary_after in grapheme_ends(text, start, offset + 1):
        if boundary_after > offset:
            break
        boundary = boundary_after
    return boundary


def _flags_before(text: str, offset: int) -> int:
    """``offset``, or one less if it would part the halves of a flag; looks 4 windows back."""
    start = offset
    while start > max(0, offset - 4 * _WINDOW) and text[start - 1] in _HALF_FLAGS:
        start -= 1
    return offset - (offset - start) % 2


def _surely_parts(text: str, offset: int) -> bool:
    """True if a cluster ends at ``offset`` whatever else stands before it.

    The rules that look further back than one code point either join behind a code point that
    extends a cluster (GB9c behind a mark, GB11 behind a joiner) or count flags (GB12, GB13), whose
    halves never part as a pair. What extends a cluster extends any letter. And they join only what
    is a consonant, a picture or half a flag, which all join behind a code point of their kind.
    """
    before, after = text[offset - 1], text[offset]
    next_break = unicode.grapheme_next_break
    if next_break(before + after, 0) != 1:
        return False
    return next_break("a" + before, 0) == 1 or all(
        next_break(ahead + after, 0) == len(ahead) for ahead in _JOIN_FROM_AFAR
    )
