"""What a PDF page holds: runs of characters, and the lines and images that are drawn on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from merestone.types import SegmentKind


class Piece(NamedTuple):
    """Text and the character indexes ``[start, end)`` of the page that it stands for."""

    text: str
    start: int
    end: int
    kind: SegmentKind


class Space(NamedTuple):
    """A white space character that the page really holds."""

    text: str
    place: int
    """Its character index."""


class Rectangle(NamedTuple):
    """Points from the top left; ``y`` grows downwards."""

    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, x: float, y: float, margin: float = 0.0) -> bool:
        return (
            self.x0 - margin <= x <= self.x1 + margin and self.y0 - margin <= y <= self.y1 + margin
        )


class Rule(NamedTuple):
    """A straight line that is drawn on the page."""

    horizontal: bool
    at: float
    """Its y if horizontal, else its x."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Style:
    """How characters are set. ``size`` is in points as shown; ``angle`` in degrees as shown,
    counter-clockwise."""

    font: str
    size: float
    bold: bool
    italic: bool
    mono: bool
    angle: int
    invisible: bool
    pale: bool
    """Filled with white or with nothing: to be seen only before a background."""
    marked_content: int
    """Its number in the page's tagged content; -1 outside."""


@dataclass(slots=True)
class Run:
    """Characters of one visual line with no space among them.

    Coordinates are of the page turned so that most of its text is upright
    (:meth:`PageContent.shown` leads back to the page as shown).
    """

    pieces: list[Piece]
    style: Style
    """Of its first character."""
    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    spaces: tuple[Space, ...] = ()
    """Real white space before it."""
    parted: bool = True
    """True if a space, real or seen by PDFium in a gap, stands before it."""
    begins_line: bool = False
    """True if PDFium broke the line before it."""
    hyphen: int | None = None
    """Index of the line-end hyphen behind it."""
    hidden: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def box(self) -> Rectangle:
        return Rectangle(self.x0, self.y0, self.x1, self.y1)


class CellTag(NamedTuple):
    """The place of marked content in a tagged table; numbers count within the page."""

    table: int
    row: int
    cell: int
    header: bool


@dataclass(slots=True)
class PageTags:
    """Tags of one page, by number of marked content."""

    headings: dict[int, int] = field(default_factory=dict)
    """Level from 1."""
    cells: dict[int, CellTag] = field(default_factory=dict)
    shapes: dict[int, list[int]] = field(default_factory=dict)
    """Number of cells of each row of each table."""
    known: set[int] = field(default_factory=set)
    """Every number that the tree mentions."""


@dataclass(slots=True)
class PageContent:
    """What stands on one page. Width and height are of the page as shown."""

    number: int
    label: str | None
    width: float
    height: float
    rotation: int
    runs: list[Run] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    tags: PageTags = field(default_factory=PageTags)
    images: int = 0
    chars: int = 0
    """Characters that are not white space."""
    turn: int = 0
    """Quarter turns clockwise from the page as shown to the page with its text upright."""
    failed: bool = False

    @property
    def upright_size(self) -> tuple[float, float]:
        """Width and height after :attr:`turn`."""
        return (self.height, self.width) if self.turn % 2 else (self.width, self.height)

    def shown(self, box: Rectangle) -> Rectangle:
        """``box`` on the page as shown, within its edges, in hundredths of a point."""
        width, height = self.upright_size
        turned = turn_box(box, width, height, -self.turn % 4)
        return Rectangle(
            round(min(max(turned.x0, 0.0), self.width), 2),
            round(min(max(turned.y0, 0.0), self.height), 2),
            round(min(max(turned.x1, 0.0), self.width), 2),
            round(min(max(turned.y1, 0.0), self.height), 2),
        )


class Placement(NamedTuple):
    """The way from PDF user space to the page turned upright."""

    left: float
    top: float
    width: float
    height: float
    quarters: int

    def point(self, x: float, y: float) -> tuple[float, float]:
        return turn_point(x - self.left, self.top - y, self.width, self.height, self.quarters)

    def box(self, left: float, bottom: float, right: float, top: float) -> Rectangle:
        ax, ay = self.point(left, bottom)
        bx, by = self.point(right, top)
        return Rectangle(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by))


def turn_point(
    x: float, y: float, width: float, height: float, quarters: int
) -> tuple[float, float]:
    """A point of a ``width`` × ``height`` page after quarter turns clockwise."""
    if quarters == 1:
        return height - y, x
    if quarters == 2:
        return width - x, height - y
    if quarters == 3:
        return y, width - x
    return x, y


def turn_box(box: Rectangle, width: float, height: float, quarters: int) -> Rectangle:
    """A box of a ``width`` × ``height`` page after quarter turns clockwise."""
    ax, ay = turn_point(box.x0, box.y0, width, height, quarters)
    bx, by = turn_point(box.x1, box.y1, width, height, quarters)
    return Rectangle(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by))
