"""Drawings as SVG that takes its colours and its font from the page. Extra ``eval``.

Every one is 360 units wide with letters of 12, so that it can be read on a phone without being
scaled. The same figures give the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from merestone.evaluation.report.markup import Markup
from merestone.types import SettingsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 360
_UNIT = 72
"""Units of an SVG by matplotlib in its inch."""
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
_VARIABLES = {
    "#010203": "var(--ink)",
    "#010204": "var(--muted)",
    "#010205": "var(--grid)",
    "#010206": "var(--paper)",
    **{f"#01030{n}": f"var(--series-{n})" for n in range(8)},
}
"""Colours that are drawn, and the property of the page that stands for each in the SVG."""
INK, MUTED, GRID, PAPER = list(_VARIABLES)[:4]
_SERIES = list(_VARIABLES)[4:]
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 12,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 11,
    "ytick.labelsize": 12,
    "axes.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
}


def swatch(series: int) -> Markup:
    """The mark of a run, as it stands in the plots, for a legend."""
    shapes = {
        "o": '<circle cx="7" cy="7" r="5"/>',
        "s": '<rect x="2.5" y="2.5" width="9" height="9"/>',
        "^": '<path d="M7 1.5 12.5 12H1.5z"/>',
        "D": '<path d="M7 .8 13.2 7 7 13.2.8 7z"/>',
        "v": '<path d="M7 12.5 1.5 2h11z"/>',
        "P": '<path d="M5 1.5h4V5h3.5v4H9v3.5H5V9H1.5V5H5z"/>',
        "X": ('<path d="M4 1.5 7 4.5l3-3L12.5 4l-3 3 3 3-2.5 2.5-3-3-3 3L1.5 10l3-3-3-3z"/>'),
        "p": '<path d="M7 1 13 5.500 10.7 12.5H3.3L1 5.5z"/>',
    }
    shape = shapes[marker_of(series)]
    return Markup(
        f'<svg class="swatch" viewBox="0 0 14 14" aria-hidden="true" '
        f'fill="var(--series-{series % len(_SERIES)})">{shape}</svg>'
    )


def require_plots() -> None:
    """Raise ``SettingsError`` with code ``extra-missing`` unless plots can be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise SettingsError(
            "extra-missing",
            "The plots of a page are drawn by matplotlib, which is not installed.",
            "Install it with: pip install 'merestone[eval]'. Markdown and JSON need no plots.",
        ) from error


@contextmanager
def drawing(name: str, height: float) -> Iterator[tuple[Axes, list[Markup]]]:
    """Axes to draw on, and the list that the SVG is put into at the end."""
    require_plots()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    written: list[Markup] = []
    # The salt makes ids of one page different from plot to plot, and equal from run to run.
    with rc_context({**_SETTINGS, "svg.hashsalt": name}):
        figure = Figure(figsize=(_WIDTH / _UNIT, height / _UNIT), layout="constrained")
        axes = figure.subplots()
        axes.set_axisbelow(True)
        axes.set_facecolor("none")
        yield axes, written
        out = io.StringIO()
        figure.savefig(
            out,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    written.append(_inline(out.getvalue()))


def colour_of(series: int) -> str:
    return _SERIES[series % len(_SERIES)]


def marker_of(series: int) -> str:
    return _MARKERS[series % len(_MARKERS)]


def _inline(svg: str) -> Markup:
    """The drawing without what only a file needs, in the page's colours and font."""
    body = svg[svg.index("<svg") :]
    for pattern, meant in _REPLACED:
        body = pattern.sub(meant, body)
    for drawn, variable in _VARIABLES.items():
        body = body.replace(drawn, variable)
    return Markup(body.strip())


_REPLACED = [
    (re.compile(r"<metadata>.*?</metadata>", re.S), ""),
    # A rule for `*` would reach the whole page.
    (re.compile(r"<style.*?</style>", re.S), ""),
    (re.compile(r'(<g) id="[\w.]+_\d+"'), r"\1"),
    (re.compile(r" font-family: [^;\"]+;?"), ""),
    (re.compile("xlink:href"), "href"),
    (
        re.compile(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>'),
        r'<svg class="plot" viewBox="\1" aria-hidden="true" focusable="false">',
    ),
    (re.compile(r"\n\s*"), "\n"),
]
