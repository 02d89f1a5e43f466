"""How much of a text a cutting holds, holds again, or leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.chunking.passages import Passage, merged
from merestone.text.white_space import filled, stripped
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
        edges = [stripped(text, *gap) for gap in self.gaps]
        self.uncovered = [Span(start, stop) for start, stop in edges if start < stop]
        self.body = filled(text[:end])
        self.covered = sum(filled(text[first:last]) for first, last in held)
        self.dropped = sum(filled(text[first:last]) for first, last in known) - self.covered
        self.repeated = sum(filled(text[first:last]) for first, last in own) - self.covered
