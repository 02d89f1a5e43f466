"""Plots with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from merestone.evaluation.report.front import Point
from merestone.evaluation.report.labels import place_labels
from merestone.evaluation.report.markup import Markup
from merestone.evaluation.report.svg import INK, MUTED, PAPER, colour_of, drawing, marker_of
from merestone.evaluation.report.views import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Mark(NamedTuple):
    """A mean with its interval, of the run with this number and letter."""

    series: int
    letter: str
    mean: float
    low: float
    high: float


def interval_plot(
    name: str, rows: Sequence[tuple[str, Sequence[Mark]]], *, unit: str, zero: bool = False
) -> Markup:
    """Marks by row, the first row on top. ``zero`` draws the line of no difference; ``unit`` says
    what the axis counts, ``%`` that its numbers are shares."""
    count = sum(max(len(marks), 1) for _, marks in rows)
    height = 58 + 17 * count + 12 * len(rows)
    with drawing(name, height) as (axes, written):
        at, ticks = 0.0, []
        for _, marks in rows:
            first = at
            for mark in marks:
                _draw_mark(axes, mark, at)
                at += 1
            ticks.append((first + max(at - 1, first)) / 2)
            at = max(at, first + 1) + 0.7
        axes.set_yticks(ticks, [text for text, _ in rows])
        axes.set_ylim(at - 0.7 - 0.35, -0.65)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        _scale(axes, [mark for _, marks in rows for mark in marks], unit, zero)
        axes.grid(axis="x")
    return written[0]


def front_plot(points: Sequence[Point], letters: Sequence[str]) -> Markup:
    """Quality against the tokens that it takes; a line through those that nothing beats."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    with drawing("front", 300) as (axes, written):
        best = [point for point in points if point.on_front]
        axes.plot(
            [point.tokens for point in best],
            [point.quality.mean for point in best],
            color=MUTED,
            linewidth=1.2,
            linestyle=(0, (4, 3)),
            zorder=1,
        )
        several = len(letters) > 1
        for point in points:
            colour = colour_of(point.column)
            axes.plot(
                [point.tokens] * 2,
                [point.quality.low, point.quality.high],
                color=colour,
                linewidth=1.2,
                alpha=0.45 if several else 1,
                zorder=2,
            )
            axes.plot(
                [point.tokens],
                [point.quality.mean],
                marker=marker_of(point.column),
                color=colour,
                markersize=7.5,
                markeredgecolor=PAPER,
                zorder=4 if point.on_front else 3,
            )
        axes.set_xscale("log")
        low, high = min(p.tokens for p in points), max(p.tokens for p in points)
        axes.set_xlim(low / 1.25, high * 1.9)
        axes.xaxis.set_major_locator(FixedLocator(_round_numbers(low / 1.25, high * 1.9)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.0f} %"))
        axes.yaxis.set_major_locator(FixedLocator(_tenths(points)))
        axes.set_ylim(
            max(min(p.quality.low for p in points) - 0.08, -0.02),
            min(max(p.quality.high for p in points) + 0.05, 1.06),
        )
        axes.set_xlabel("tokens served for a question")
        axes.grid()
        # What nothing beats first, from the dearest on; of several runs only that is named.
        named = [*reversed(best), *(p for p in points if not p.on_front and not several)]
        place_labels(
            axes,
            [
                (
                    f"{letters[point.column]} {label(point.view)}"
                    if several
                    else label(point.view),
                    (point.tokens, point.quality.mean),
                )
                for point in named
            ],
            [(point.tokens, point.quality.mean) for point in points],
        )
    return written[0]


def _draw_mark(axes: Axes, mark: Mark, at: float) -> None:
    colour = colour_of(mark.series)
    axes.plot([mark.low, mark.high], [at, at], color=colour, linewidth=2, solid_capstyle="butt")
    axes.plot(
        [mark.mean],
        [at],
        marker=marker_of(mark.series),
        color=colour,
        markersize=7.5,
        markeredgecolor=PAPER,
    )
    if mark.letter:
        axes.annotate(
            mark.letter,
            (mark.high, at),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
            color=MUTED,
            annotation_clip=False,
        )


def _scale(axes: Axes, marks: Sequence[Mark], unit: str, zero: bool) -> None:
    """Limits that leave room for the letters, and ticks in the unit."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low = min((mark.low for mark in marks), default=0.0)
    high = max((mark.high for mark in marks), default=1.0)
    if zero:
        reach = max(abs(low), abs(high), 0.01) * 1.12
        axes.set_xlim(-reach, reach)
        axes.axvline(0, color=INK, linewidth=1)
    else:
        start = 0.0 if low < 0.5 * high or unit != "%" else max(low - 0.08, 0.0)
        axes.set_xlim(start, high + (high - start) * 0.06 or 1)
    by, digits = (100, 0) if unit == "%" else (1, 0)
    if by * (axes.get_xlim()[1] - axes.get_xlim()[0]) < 5:
        digits = 1
    sign = "+" if zero else ""
    suffix = " %" if unit == "%" and not zero else ""
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(
            lambda value, _: (
                f"{value * by:{sign if abs(value) > 1e-9 else ''},.{digits}f}{suffix}".replace(
                    "-", "−"
                )
            )
        )
    )
    if zero:
        axes.set_xlabel("percentage points" if unit == "%" else unit)


def _tenths(points: Sequence[Point]) -> list[float]:
    """Shares from 0 to 1 at even distances, close enough for what the points span."""
    span = 1 - min(point.quality.low for point in points)
    step = 0.05 if span < 0.25 else 0.1 if span < 0.6 else 0.2
    return [n * step for n in range(round(1 / step) + 1)]


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 … between the limits, not more than a narrow axis has room for."""
    found: list[float] = [
        step * 10.0**power
        for power in range(8)
        for step in (1, 2, 5)
        if low <= step * 10**power <= high
    ]
    return found[:: (len(found) + 4) // 5] if found else [low]
