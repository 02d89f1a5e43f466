"""How much of a text a cutting holds, holds again, or leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.chunking.passages import Passage, merged
from merestone.types import Dropped, Span


class Coverage:
    """Characters of the body that are not white space: in passages, dropped, neither, twice."""

    def __init__(
        self, text: str, end: int, passages: Sequence[Passage], dropped: Sequence[Dropped]
    ) -> None:
        own = [(p.start, min(p.end, end)) for p in passages if p.start < end]
        left_out = [(d.start, min(d.end, end)) for d in dropped if d.start < end]
        held = merged(own)
        known = merged(sorted([*own, *left_out]))
        bounds = [0, *(offset for span in known for offset in span), end]
        self.gaps = [
            Span(start, stop)
            for start, stop in zip(bounds[::2], bounds[1::2], strict=True)
            if start < stop
        ]
        """Between and around what is in passages or dropped, blank ones included."""
        self.uncovered = [Span(*stripped(text, *gap)) for gap in self.gaps if filled(text, *gap)]
        self.body = filled(text, 0, end)
        self.covered = sum(filled(text, *span) for span in held)
        self.dropped = sum(filled(text, *span) for span in known) - self.covered
        self.repeated = sum(filled(text, *span) for span in own) - self.covered


def filled(text: str, start: int, end: int) -> int:
    """Code points of ``text[start:end]`` that are not white space."""
    return sum(map(len, text[start:end].split()))


def stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without white space at its ends."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end
