"""Where the words of Unicode TR29 part."""

from __future__ import annotations

from apsw import unicode

_LOOK = 64
"""Code points looked at on each side. Keeps the cost the same in a text without spaces."""


def is_inside_word(text: str, offset: int) -> bool:
    """True if a word goes on at ``offset``: no white space is beside it, and TR29 parts nothing
    there. A sign of a script without spaces is a word of its own to TR29."""
    if not 0 < offset < len(text) or text[offset].isspace():
        return False
    lowest = max(0, offset - _LOOK)
    start = offset
    while start > lowest and not text[start - 1].isspace():
        start -= 1
    if start == offset:
        return False
    piece = text[start : offset + _LOOK]
    boundary = 0
    while boundary < offset - start:
        boundary = unicode.word_next_break(piece, boundary)
    return boundary > offset - start
