"""Plain windows of characters, as textbooks have them."""

from __future__ import annotations

from typing import TypedDict

from merestone.types import SettingsError


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
    if not isinstance(text, str):
        raise SettingsError(
            "invalid-window", f"The text is {type(text).__name__}, not str.", "Decode it first."
        )
    for name, value in (("size", size), ("overlap", overlap)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise SettingsError(
                "invalid-window", f"{name} = {value!r} is not a whole number.", "Give an int."
            )
    if size < 1:
        raise SettingsError("invalid-window", f"size = {size} is below 1.", "Raise size.")
    if not 0 <= overlap < size:
        raise SettingsError(
            "invalid-window",
            f"overlap = {overlap} is not between 0 and size - 1 ({size - 1}).",
            "Lower overlap, or raise size.",
        )
    found: list[Window] = []
    start = 0
    while text:
        end = min(len(text), start + size)
        found.append({"start": start, "end": end, "text": text[start:end]})
        if end == len(text):
            break
        start = end - overlap
    return found
