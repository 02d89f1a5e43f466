"""The front of quality against tokens: what nothing beats at the same or a lower price."""

from __future__ import annotations

from typing import NamedTuple

from merestone.evaluation.measures.spans import at
from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.views import COVERAGE, TOKENS
from merestone.evaluation.runs.values import Interval


class Point(NamedTuple):
    """A run in one of its views."""

    column: int
    view: str
    tokens: float
    """Served for a question, on average."""
    quality: Interval
    on_front: bool


def front(report: Report) -> tuple[Point, ...]:
    """Every run in every view of which both are known, by tokens; over the questions that all
    scored, since points of other questions say nothing of each other."""
    measures = {row.name: row for row in report.common_measures}
    found = []
    for view in report.views:
        quality, tokens = measures.get(at(COVERAGE, view)), measures.get(at(TOKENS, view))
        if quality is None or tokens is None:
            continue
        for place, (share, price) in enumerate(zip(quality.cells, tokens.cells, strict=True)):
            if share is not None and price is not None and price.mean > 0:
                found.append(Point(place, view, price.mean, share, False))
    found.sort(key=lambda point: (point.tokens, -point.quality.mean))
    best = -1.0
    for place, point in enumerate(found):
        if point.quality.mean > best:
            best = point.quality.mean
            found[place] = point._replace(on_front=True)
    return tuple(found)
