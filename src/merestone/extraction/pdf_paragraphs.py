"""Paragraphs from lines: where one ends, and where one goes on over a column or a page.

There is nothing in a PDF that says where a paragraph ends. What tells is what a reader sees: the
space between lines, indents, a last line that is short, a change of type size or weight, a mark of
a list.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_lists import Marker, marker_of
from merestone.extraction.pdf_tables import Item, Table

PartKind = Literal["paragraph", "heading", "list_item", "code", "caption", "footnote"]

_TERMINAL = re.compile(r"[.!?:;。！？؟…][\"'”’»)\]]*$")
_SENTENCE_END = re.compile(r"[.!?。！？؟…][\"'”’»)\]]*$")
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*[\divxlc]+$|(?:…\s?){2,}\s*[\divxlc]+$")
_INDENT = 0.8
"""em; a smaller difference is a matter of letter shapes."""
_MAX_INDENT = 5.0
_PITCH_SLACK = 1.25
_LEAST_JOINED = 20
"""Characters; what is shorter is a number or a label, not the first half of a paragraph."""
_SHORT = 1.5
"""em that a last line stays short of the edge beyond what the next word would have taken."""


@dataclass(slots=True)
class Part:
    """Lines that are one block."""

    lines: list[Line]
    kind: PartKind = "paragraph"
    level: int | None = None
    """Of a heading, from 1."""
    marker: Marker | None = None
    left: float = 0.0
    right: float = 0.0
    """Edges of the column in which the last line stands."""

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        weights: Counter[float] = Counter()
        for line in self.lines:
            weights[line.size] += len(line.text)
        return max(weights, key=lambda size: (weights[size], size))

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def page(self) -> int:
        return self.lines[0].page


Block = Part | Table
"""What the body of a document is made of, in reading order."""


@dataclass(slots=True)
class Typography:
    """How the body of a document is set."""

    size: float = 10.0
    font: str = ""
    bold: bool = False
    """True if most of the body is bold, so that bold says nothing."""
    indents: bool = False
    """True if paragraphs begin with an indent."""
    pitches: dict[float, float] = field(default_factory=dict)
    """Distance of baselines within a paragraph, by type size rounded to half points."""

    def pitch(self, size: float) -> float:
        known = self.pitches.get(_half(size))
        return known if known is not None else 1.35 * size


def _half(value: float) -> float:
    return round(value * 2) / 2


@dataclass(slots=True)
class _Stretch:
    """Lines one below the other in one column of one page, and the column's edges."""

    lines: list[Line]
    left: float = 0.0
    right: float = 0.0


def measure_body(lines: Sequence[Line]) -> Typography:
    """Size, font and weight of most characters. Lines are needed in no order."""
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    bold = total = 0
    for line in lines:
        weight = len(line.text)
        sizes[_half(line.size)] += weight
        fonts[line.style.font] += weight
        bold += weight if line.bold else 0
        total += weight
    if not total:
        return Typography()
    return Typography(sizes.most_common(1)[0][0], fonts.most_common(1)[0][0], 2 * bold > total)


def divide(items: Sequence[Item], typography: Typography) -> list[Block]:
    """Blocks of the lines and tables of all pages, in reading order; none goes on over a page.

    Completes ``typography`` with what only lines in reading order tell.
    """
    groups = _stretches(items)
    stretches = [group for group in groups if isinstance(group, _Stretch)]
    _measure_edges(stretches)
    typography.pitches = _pitches(stretches)
    typography.indents = _uses_indents(stretches)
    found: list[Block] = []
    for group in groups:
        if isinstance(group, Table):
            found.append(group)
        else:
            found.extend(_divide_stretch(group, typography))
    return found


# Stretches


def _stretches(items: Sequence[Item]) -> list[_Stretch | Table]:
    groups: list[_Stretch | Table] = []
    for item in items:
        last = groups[-1] if groups else None
        if isinstance(item, Table):
            groups.append(item)
        elif isinstance(last, _Stretch) and _goes_on_below(last.lines[-1], item):
            last.lines.append(item)
        else:
            groups.append(_Stretch([item]))
    return groups


def _goes_on_below(before: Line, line: Line) -> bool:
    if before.page != line.page or before.upright != line.upright:
        return False
    if not line.upright:
        return before.style.angle == line.style.angle
    if line.baseline < before.baseline - 0.5 * line.size:
        return False
    return line.box.x0 < before.box.x1 and before.box.x0 < line.box.x1


def _measure_edges(stretches: Sequence[_Stretch]) -> None:
    """Set the edges; a stretch of few lines takes those of a longer one that begins alike."""
    for stretch in stretches:
        stretch.left, stretch.right = _edges(stretch.lines)
    longest = sorted(
        (stretch for stretch in stretches if len(stretch.lines) >= 4),
        key=lambda stretch: -len(stretch.lines),
    )
    for stretch in stretches:
        if len(stretch.lines) >= 4:
            continue
        size = stretch.lines[0].size
        for model in longest:
            if abs(model.left - stretch.left) <= size and model.right >= stretch.right - size:
                stretch.left, stretch.right = model.left, max(model.right, stretch.right)
                break
        else:
            around = [model.right for model in longest if model.left <= stretch.left + size]
            stretch.right = max([stretch.right, *around])


def _edges(lines: Sequence[Line]) -> tuple[float, float]:
    """The left edge that most lines share and the right one that at least two reach."""
    starts: Counter[int] = Counter()
    for line in lines:
        starts[round(line.box.x0 / 3)] += len(line.text)
    common = starts.most_common(1)[0][0]
    left = min(line.box.x0 for line in lines if abs(round(line.box.x0 / 3) - common) <= 1)
    ends = sorted((line.box.x1 for line in lines), reverse=True)
    em = lines[0].size
    for end, following in pairwise(ends):
        if end - following <= em:
            return left, end
    return left, ends[0]


def _pitches(stretches: Sequence[_Stretch]) -> dict[float, float]:
    """The most frequent step from a line that reaches the edge to the next, by type size."""
    steps: dict[float, Counter[float]] = defaultdict(Counter)
    for stretch in stretches:
        for line, following in pairwise(stretch.lines):
            step = following.baseline - line.baseline
            if (
                _half(line.size) == _half(following.size)
                and 0.8 * line.size <= step <= 2.6 * line.size
                and line.box.x1 >= stretch.right - 3 * line.size
            ):
                steps[_half(line.size)][round(step * 2) / 2] += 1
    return {
        size: min(counts, key=lambda step: (-counts[step], step))
        for size, counts in steps.items()
        if max(counts.values()) >= 2
    }


def _uses_indents(stretches: Sequence[_Stretch]) -> bool:
    indented = 0
    flush = 0
    for stretch in stretches:
        for line, following in pairwise(stretch.lines):
            if _is_flush(following, stretch) and not _is_flush(line, stretch):
                indent = line.box.x0 - stretch.left
                indented += _INDENT * line.size < indent < _MAX_INDENT * line.size
            elif _is_flush(line, stretch) and _is_flush(following, stretch):
                flush += 1
    return indented >= 3 and 25 * indented >= flush


def _is_flush(line: Line, stretch: _Stretch) -> bool:
    return line.box.x0 - stretch.left <= 0.5 * line.size


# Where a paragraph ends


def _divide_stretch(stretch: _Stretch, typography: Typography) -> list[Part]:
    parts: list[Part] = []
    items: list[tuple[float, Marker]] = []
    """Marks of the items that are open, with where they stand."""
    lines = stretch.lines
    for index, line in enumerate(lines):
        marker = marker_of(line) if line.upright and not line.mono else None
        part = parts[-1] if parts else None
        following = lines[index + 1] if index + 1 < len(lines) else None
        begins = part is None or _begins(part, line, following, marker, items, stretch, typography)
        if part is not None and not begins:
            part.lines.append(line)
            continue
        if marker is not None:
            items.append((line.box.x0, marker))
        elif part is not None and not _is_gap(part.lines[-1], line, typography):
            items.clear()
        parts.append(Part([line], marker=marker, left=stretch.left, right=stretch.right))
    return parts


def _begins(
    part: Part,
    line: Line,
    following: Line | None,
    marker: Marker | None,
    items: Sequence[tuple[float, Marker]],
    stretch: _Stretch,
    typography: Typography,
) -> bool:
    """True if ``line`` begins a new block after ``part``."""
    last = part.lines[-1]
    if not line.upright:
        return False
    if last.hyphen is not None:
        return line.baseline - last.baseline > 2.5 * typography.pitch(line.size)
    if (last.level, last.entry) != (line.level, line.entry):
        return True
    if line.level is not None:
        return line.baseline - last.baseline > 2 * line.size
    if _is_set_otherwise(last, line) or _is_gap(last, line, typography):
        return True
    if last.mono and line.mono:
        return False
    if marker is not None and _is_item(last, line, marker, items, stretch):
        return True
    if _LEADERS.search(last.text):
        return True
    return _is_indented_anew(part, line, following, stretch, typography) or _ends_short(
        last, line, stretch
    )


def _is_set_otherwise(last: Line, line: Line) -> bool:
    if abs(last.size - line.size) > max(0.6, 0.07 * max(last.size, line.size)):
        return True
    if last.mono != line.mono and (last.mono or line.mono):
        return len(last.runs) > 1 or len(line.runs) > 1
    if last.bold != line.bold:
        return not (_starts_lower(line) and not _TERMINAL.search(last.text))
    return False


def _is_gap(last: Line, line: Line, typography: Typography) -> bool:
    pitch = typography.pitch(line.size)
    slack = 2.4 if last.mono and line.mono else _PITCH_SLACK
    return line.baseline - last.baseline > slack * pitch + 0.5


def _is_item(
    last: Line,
    line: Line,
    marker: Marker,
    items: Sequence[tuple[float, Marker]],
    stretch: _Stretch,
) -> bool:
    """True if a mark at the start of a line is one, and no word or number of prose."""
    if not marker.weak:
        return True
    em = line.size
    for place, other in reversed(items):
        if abs(place - line.box.x0) <= 1.2 * em and marker.follows(other):
            return True
    starts = marker.is_first or not marker.ordered
    moved = abs(line.box.x0 - last.box.x0) > 0.5 * em
    introduced = last.text.endswith(":")
    ended = _SENTENCE_END.search(last.text) and last.box.x1 < stretch.right - 2 * em
    return starts and bool(introduced or (moved and marker.ordered) or ended)


def _is_indented_anew(
    part: Part,
    line: Line,
    following: Line | None,
    stretch: _Stretch,
    typography: Typography,
) -> bool:
    em = line.size
    last = part.lines[-1]
    if len(part.lines) > 1:
        shift = line.box.x0 - part.lines[1].box.x0
        if _is_centred(last, line):
            return False
        if part.marker is not None and abs(part.lines[1].box.x0 - part.lines[0].box.x0) < 0.5 * em:
            return shift > _INDENT * em
        return abs(shift) > _INDENT * em and abs(shift) < 12 * em
    shift = line.box.x0 - last.box.x0
    if part.marker is not None:
        return shift < -0.5 * em
    if shift > _INDENT * em:
        return not _is_centred(last, line) and not _hangs(
            last, line, following, stretch, typography
        )
    if shift < -_INDENT * em:
        indented = last.box.x0 - stretch.left <= _MAX_INDENT * em
        return not indented and not _is_centred(last, line)
    return False


def _is_centred(one: Line, other: Line) -> bool:
    middle = abs((one.box.x0 + one.box.x1) - (other.box.x0 + other.box.x1)) / 2
    return middle <= 0.7 * other.size


def _hangs(
    last: Line,
    line: Line,
    following: Line | None,
    stretch: _Stretch,
    typography: Typography,
) -> bool:
    """True if an indented line goes on with an entry whose first line stands out to the left."""
    em = line.size
    ends = bool(_SENTENCE_END.search(last.text))
    if last.box.x1 < stretch.right - 2 * em and ends:
        return False
    if (
        following is not None
        and not _is_gap(line, following, typography)
        and abs(following.box.x0 - line.box.x0) <= 0.5 * em
    ):
        return not (ends and typography.indents)
    return not (ends and not _starts_lower(line) and typography.indents)


def _ends_short(last: Line, line: Line, stretch: _Stretch) -> bool:
    """True if the first word of ``line`` would have stood at the end of the line before."""
    first = line.runs[0]
    room = stretch.right - last.box.x1 - (first.x1 - first.x0)
    if _starts_lower(line):
        return False
    if room > _SHORT * line.size and _TERMINAL.search(last.text):
        return True
    width = stretch.right - stretch.left
    both_short = room > 0.4 * width and line.box.x1 < stretch.right - 0.15 * width
    return both_short and abs(line.box.x0 - last.box.x0) <= 0.3 * line.size


def _starts_lower(line: Line) -> bool:
    first = line.text[:1]
    return first.islower()


# Where a paragraph goes on


def join(blocks: Sequence[Block], typography: Typography) -> list[Block]:
    """``blocks`` with paragraphs put together that a column or a page parts.

    What stands between the two halves (notes, a figure's caption, a table) comes after them.
    """
    found: list[Block] = []
    open_at: int | None = None
    """Index in ``found`` of the last paragraph of the body."""
    for block in blocks:
        if isinstance(block, Part) and _is_body(block, typography):
            if open_at is not None:
                before = found[open_at]
                assert isinstance(before, Part)
                if (
                    len(before.text) >= _LEAST_JOINED
                    and (
                        _is_parted(before, block)
                        or (open_at < len(found) - 1 and _is_below(before, block, typography))
                    )
                    and _goes_on(before, block, typography)
                ):
                    before.lines.extend(block.lines)
                    before.left, before.right = block.left, block.right
                    continue
            open_at = len(found)
        elif isinstance(block, Part) and block.kind == "heading":
            open_at = None
        found.append(block)
    return found


def _is_body(part: Part, typography: Typography) -> bool:
    return (
        part.kind in ("paragraph", "list_item", "code")
        and part.lines[0].upright
        and abs(part.size - typography.size) <= 0.6
        and not (part.bold and not typography.bold)
    )


def _is_parted(before: Part, part: Part) -> bool:
    """True if a column or a page ends between the two."""
    last, line = before.lines[-1], part.lines[0]
    if last.page != line.page:
        return line.page - last.page == 1
    return line.baseline < last.baseline or line.box.x0 > last.box.x1


def _is_below(before: Part, part: Part, typography: Typography) -> bool:
    """True if nothing stands between the two on the page, whatever was drawn between them."""
    last, line = before.lines[-1], part.lines[0]
    step = line.baseline - last.baseline
    return _goes_on_below(last, line) and step <= _PITCH_SLACK * typography.pitch(line.size)


def _goes_on(before: Part, part: Part, typography: Typography) -> bool:
    last, line = before.lines[-1], part.lines[0]
    if part.marker is not None and (part.marker.ordered or not part.marker.weak):
        return False
    if last.mono or line.mono:
        return last.mono and line.mono
    if last.hyphen is not None:
        return True
    ends = bool(_SENTENCE_END.search(last.text))
    full = last.box.x1 >= before.right - 2 * line.size
    if _starts_lower(line):
        return full or not ends
    if not full:
        return False
    if not ends and not last.text.endswith((":", ";")):
        return True
    flush = line.box.x0 - part.left <= 0.5 * line.size
    return ends and typography.indents and flush and before.marker is None
