"""Writing a document's text once, by appending, with its way back to the source."""

from __future__ import annotations

from merestone.types import Segment, SegmentKind, Segments, Span


class TextBuilder:
    """Collects pieces of text and where each came from.

    Every append returns the span it got. Nothing is ever inserted before what stands, so spans
    that were handed out stay true.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._segments: list[Segment] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def copy(self, text: str, source_start: int, page: int | None = None) -> Span:
        """Append ``text``, which stands at ``source_start`` in the source, character for
        character."""
        return self._append(text, source_start, source_start + len(text), "copy", page)

    def replace(
        self, text: str, source_start: int, source_end: int, page: int | None = None
    ) -> Span:
        """Append ``text`` in place of the source range."""
        if not text:
            return self.delete(source_start, source_end, page)
        return self._append(text, source_start, source_end, "replace", page)

    def insert(self, text: str) -> Span:
        """Append ``text`` that the source does not have, such as a separator."""
        return self._append(text, 0, 0, "insert", None)

    def delete(self, source_start: int, source_end: int, page: int | None = None) -> Span:
        """Record that the source range has no text."""
        return self._append("", source_start, source_end, "delete", page)

    def _append(
        self, text: str, source_start: int, source_end: int, kind: SegmentKind, page: int | None
    ) -> Span:
        start = self._length
        if text:
            self._parts.append(text)
            self._length += len(text)
        elif kind != "delete" or source_start == source_end:
            return Span(start, start)
        previous = self._segments[-1] if self._segments else None
        if (
            previous is not None
            and previous.kind == kind
            and previous.page == page
            and kind in ("copy", "insert")
            and (kind == "insert" or previous.source_end == source_start)
        ):
            self._segments[-1] = previous._replace(
                end=self._length, source_end=source_end if kind == "copy" else 0
            )
        else:
            self._segments.append(
                Segment(start, self._length, source_start, source_end, kind, page)
            )
        return Span(start, self._length)

    def text(self) -> str:
        """All that was appended."""
        return "".join(self._parts)

    def segments(self) -> Segments:
        """The map of :meth:`text` to its source."""
        return Segments(tuple(self._segments))
