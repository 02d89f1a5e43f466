"""Text and the white space around and in it."""

from __future__ import annotations


def stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """``[start, end)`` without white space at its ends; empty at ``start`` if it is blank.

    Character by character: a slice for ``str.strip`` would copy a large range each time.
    """
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end


def filled(text: str) -> int:
    """Code points that are not white space."""
    return sum(map(len, text.split()))
