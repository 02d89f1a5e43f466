"""Whether what was found seems to answer the question, in words."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.retrieval.relevance import shown_relevance
from merestone.types import Hit, Passage, Verdict


def told_verdict(verdict: Verdict | None, found: Sequence[Hit] | Sequence[Passage]) -> list[str]:
    """A line where it is not sure. That nothing answers is among the notes already, and of an
    answer there is nothing to be said."""
    if verdict != "unsure":
        return []
    best = max((each.relevance for each in found if each.relevance is not None), default=None)
    figure = "" if best is None else f": the best has a relevance of {shown_relevance(best)}"
    return [f"It is not sure that this answers the question{figure}."]
