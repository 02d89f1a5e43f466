"""Plain windows of characters, as textbooks have them."""

from __future__ import annotations

from typing import TypedDict

from merestone.chunking.limits import check_plain_sizes


class Window(TypedDict):
    """``text`` is ``source[start:end]``, in code points."""

    start: int
    end: int
    text: str


def windows(text: str, size: int, overlap: int = 0) -> list[Window]:
    """Cut ``text`` into windows of ``size`` code points that repeat ``overlap`` of them.

    Each next start is the previous end less the overlap; the last window ends at the end of the
    text. An empty text has no windows. Raises :class:`SettingsError`, a ``ValueError``, unless
    ``size`` is at least 1 and ``0 <= overlap < size``.
    """
    check_plain_sizes(text, size, overlap)
    found: list[Window] = []
    start = 0
    while text:
        end = min(len(text), start + size)
        found.append({"start": start, "end": end, "text": text[start:end]})
        if end == len(text):
            break
        start = end - overlap
    return found
