"""What an examination of the vectors' index found, as values and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple

from merestone.types import JSON

WORTHWHILE_MS = 5.0
"""What a graph has to save of a query to be worth its memory, its building and what it misses."""

FEWEST_ROWS = 2_000
"""Below these a query takes so little that what both grow by is lost in the clock's noise: from so
few nothing is said of other sizes."""


class Times(NamedTuple):
    """CPU milliseconds of one query, over all queries."""

    median: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True)
class FilteredMeasure:
    """Searching among a part of the rows, as the library would."""

    share: float
    """Of the rows, that the filter lets through: whole documents, drawn at random."""
    times: Times
    recall_10: float
    recall_50: float
    asks_graph: bool
    """False: all rows are scanned, since so few pass that it costs less."""


@dataclass(frozen=True, slots=True)
class IndexMeasure:
    """One way of finding the nearest vectors."""

    index: str
    """``exact`` or ``hnsw``."""
    links: int
    """0 for the exact scan, as ``width``."""
    width: int
    times: Times
    recall_10: float
    """Share of the exact best 10 that were found, mean over the queries."""
    recall_50: float
    bytes: int
    """Of memory, besides the rows themselves, which every way needs."""
    build_seconds: float
    """CPU seconds, all cores together."""
    filtered: tuple[FilteredMeasure, ...]

    @property
    def name(self) -> str:
        """As a person would call it."""
        if self.index == "exact":
            return "exact scan"
        return f"hnsw, {self.links} links, width {self.width}"


@dataclass(frozen=True, slots=True)
class Growth:
    """CPU milliseconds of a query by the number of rows: a scan grows with it, a graph with its
    logarithm. Each is a line through the medians at two sizes."""

    rows: tuple[int, int]
    """The sizes that were measured."""
    scan: tuple[float, float]
    """Of no rows, and of each row."""
    graph: tuple[float, float]
    """Of one row, and of each factor of e."""


@dataclass(frozen=True, slots=True)
class IndexExamination:
    """The answer of ``doctor --index``."""

    rows: int
    """Vectors that were searched."""
    stored: int
    """Vectors of the library: more, if some were held out or it is larger than was asked for."""
    dimension: int
    queries: int
    queries_from: str
    """``questions`` of the library, or ``noise``: stored vectors that were held out, moved a
    little."""
    candidates: int
    """Rows that each search finds, as ``retrieval.candidates`` says."""
    target: float
    measures: tuple[IndexMeasure, ...]
    chosen: IndexMeasure
    growth: Growth | None
    """``None``: there are fewer than :data:`FEWEST_ROWS`, which tell nothing of other sizes."""
    equal_from: int | None
    """Rows from which on a graph takes less of a query than the scan; ``None``: never, or it
    can't be told."""
    pays_from: int | None
    """Rows from which on it saves :data:`WORTHWHILE_MS`; ``None`` likewise."""

    @property
    def exact(self) -> IndexMeasure:
        """The scan of all rows."""
        return self.measures[0]

    @property
    def findings(self) -> tuple[str, ...]:
        """What follows, in words."""
        return tuple(_findings(self))

    @property
    def settings(self) -> dict[str, JSON]:
        """The table ``[retrieval]`` that chooses what was chosen."""
        if self.chosen.index == "exact":
            return {"index": "exact"}
        return {
            "index": "hnsw",
            "hnsw_links": self.chosen.links,
            "hnsw_width": self.chosen.width,
        }

    def to_json(self) -> dict[str, JSON]:
        found: dict[str, JSON] = {**asdict(self), "findings": list(self.findings)}
        found["measures"] = [_shown(measure) for measure in self.measures]
        found["chosen"] = self.settings
        return found


def _shown(measure: IndexMeasure) -> dict[str, JSON]:
    times: JSON = measure.times._asdict()
    filtered: list[JSON] = [
        {**asdict(each), "times": each.times._asdict()} for each in measure.filtered
    ]
    return {**asdict(measure), "times": times, "filtered": filtered}


def _findings(found: IndexExamination) -> list[str]:
    exact, chosen = found.exact, found.chosen
    scan = f"{exact.times.median:.1f} ms of CPU a query at {found.rows:,} chunks"
    graphs = [each for each in found.measures[1:] if reaches(each, found.target)]
    told: list[str] = []
    if chosen.index == "exact" and not graphs:
        told.append(
            f"The exact scan is right for you: {scan}, and no graph that was tried found "
            f"{found.target:.0%} of the nearest."
        )
    elif chosen.index == "exact":
        best = min(graphs, key=lambda each: each.times.median)
        told.append(
            f"The exact scan is right for you: {scan}. The best graph ({best.name}) takes "
            f"{best.times.median:.1f} ms and finds {best.recall_50:.1%} of the nearest 50; saving "
            f"less than {WORTHWHILE_MS:.0f} ms is not worth what it costs to build and to keep."
        )
    else:
        told.append(
            f"A graph pays: {chosen.name} takes {chosen.times.median:.1f} ms of CPU a query "
            f"instead of {exact.times.median:.1f}, finds {chosen.recall_10:.1%} of the nearest 10 "
            f"and {chosen.recall_50:.1%} of the nearest 50, takes {chosen.bytes / 1e6:,.0f} MB "
            f"more, and {chosen.build_seconds:,.0f} s of CPU to build."
        )
        told.append(
            f'Set index = "hnsw", hnsw_links = {chosen.links} and hnsw_width = {chosen.width} in '
            "[retrieval], then sync."
        )
    if found.growth is None:
        told.append(
            f"From which size on a graph pays can't be told from {found.rows:,} vectors; "
            f"{FEWEST_ROWS:,} are the least."
        )
    elif found.pays_from is None:
        told.append("By how both grow, a graph would pay at no size.")
    else:
        told.append(
            f"By how both grow, a graph saves {WORTHWHILE_MS:.0f} ms a query from about "
            f"{_rounded(found.pays_from):,} chunks on."
        )
    if found.queries_from == "noise":
        told.append(
            "There are no questions to go by: queries were stored vectors, held out and moved a "
            "little, for which graphs do better than for real questions as a rule."
        )
    return told


def reaches(measure: IndexMeasure, target: float) -> bool:
    """True if no fewer than that share of the nearest 10, and of the nearest 50, are found."""
    return min(measure.recall_10, measure.recall_50) >= target


def _rounded(number: int) -> int:
    """Two digits of ``number``: the fit tells no more."""
    return round(number, -max(0, len(str(number)) - 2))
