"""An examination of the vectors' index as a table and in words."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.evaluation.index.measures import IndexExamination, IndexMeasure

_HEAD = ("index", "found of 10", "of 50", "ms", "p90", "p99", "MB", "build s")


def index_table(found: IndexExamination) -> str:
    """What was measured, a way of searching a line, and what follows from it."""
    asked = {
        "questions": "questions of the library",
        "noise": "held-out vectors moved a little",
    }[found.queries_from]
    part = f" of {found.stored:,}" if found.stored > found.rows else ""
    rows = [_row(measure, measure is found.chosen) for measure in found.measures]
    lines = [
        f"{found.rows:,} vectors{part} of {found.dimension} numbers; {found.queries} {asked}; "
        f"{found.candidates} candidates each. CPU ms a query: median, p90, p99.",
        "",
        *_aligned([_head(found), *rows]),
        "",
        "Last columns: median ms where a filter lets that share of the rows pass, and what is "
        "found of the nearest 50; * all rows were scanned.",
        "",
        *found.findings,
    ]
    return "\n".join(lines)


def _head(found: IndexExamination) -> list[str]:
    return ["", *_HEAD, *(f"{each.share:.3g} passes" for each in found.exact.filtered)]


def _row(measure: IndexMeasure, is_chosen: bool) -> list[str]:
    return [
        ">" if is_chosen else "",
        measure.name,
        f"{measure.recall_10:.1%}",
        f"{measure.recall_50:.1%}",
        *(f"{value:.2f}" for value in measure.times),
        f"{measure.bytes / 1e6:,.1f}",
        f"{measure.build_seconds:,.1f}",
        *(
            f"{each.times.median:.2f} {each.recall_50:.1%}{'' if each.asks_graph else '*'}"
            for each in measure.filtered
        ),
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns under each other; the first two to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
