"""Labels of points in a plot, none of which lies on another or on a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from merestone.evaluation.report.svg import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_PLACES = ((6, 10, "left"), (6, -11, "left"), (-6, 10, "right"), (-6, -11, "right"))
"""Where a label may stand beside its point, in points, the best place first."""
_WIDER = 1.1
"""The reader's font may be wider than the one that is measured."""
_POINT = 4.0
"""Half the width of a point, in pixels of the drawing."""

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""


def place_labels(
    axes: Axes,
    labels: Sequence[tuple[str, tuple[float, float]]],
    points: Sequence[tuple[float, float]],
) -> list[str]:
    """Write ``labels``, each beside its place, the most important first; those that were written.
    One that fits nowhere is left out. The limits of ``axes`` have to be set."""
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    taken = [_around(axes, point) for point in points]
    frame = axes.get_window_extent()
    written = []
    for text, place in labels:
        for right, up, side in _PLACES:
            found = _label(axes, text, place, (right, up), side)
            box = _box(found)
            inside = frame.x0 <= box[0] and box[2] <= frame.x1
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                written.append(text)
                break
            found.remove()
    return written


def _label(
    axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], side: str
) -> Annotation:
    return axes.annotate(
        text,
        place,
        xytext=offset,
        textcoords="offset points",
        fontsize=10.5,
        color=INK,
        ha=side,
        va="center",
        zorder=5,
    )


def _box(label: Annotation) -> Box:
    found = label.get_window_extent()
    more = (_WIDER - 1) * found.width / 2
    return found.x0 - more, found.y0, found.x1 + more, found.y1


def _around(axes: Axes, point: tuple[float, float]) -> Box:
    x, y = axes.transData.transform(point)
    return x - _POINT, y - _POINT, x + _POINT, y + _POINT


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
