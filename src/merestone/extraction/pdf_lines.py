"""Visual lines of a PDF page, made from its runs by where they stand."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from merestone.extraction.pdf_page import Rectangle, Run, Style

WIDE_GAP = 1.0
"""In em: a gap wider than this may part two columns or two cells. Spaces of a justified line
hardly reach it, gutters of narrow columns exceed it."""
_SAME_BASELINE = 0.3
_RIGHT_TO_LEFT = ("R", "AL")


class Line:
    """Runs that stand side by side, in the order of the page's content.

    ``parts`` are the runs between wide gaps. Coordinates are of the page turned upright.
    """

    def __init__(self, page: int, parts: list[list[Run]], upright: bool = True) -> None:
        self.page = page
        self.parts = parts
        self.runs = [run for part in parts for run in part]
        self.upright = upright
        self.number = 0
        """Number among the visual lines of the page, from 0."""
        self.level: int | None = None
        """Level of the heading that it is, or is part of, if known from tags or outline."""
        self.entry = 0
        """Tells headings of the same level apart that stand one below the other."""
        self.gapped = False
        """True if it was put together again of three or more parts: likely a table's header."""
        runs = self.runs
        self.box = Rectangle(
            min(run.x0 for run in runs),
            min(run.y0 for run in runs),
            max(run.x1 for run in runs),
            max(run.y1 for run in runs),
        )
        sizes: Counter[float] = Counter()
        baselines: Counter[float] = Counter()
        for run in runs:
            weight = sum(len(piece.text) for piece in run.pieces)
            sizes[run.style.size] += weight
            baselines[round(run.baseline, 1)] += weight
        self.size = _heaviest(sizes)
        """Type size of most of its characters."""
        self.baseline = _heaviest(baselines)

    @cached_property
    def text(self) -> str:
        """Words with one space between them; a line-end hyphen is not part of it."""
        return join_runs(self.runs)

    @property
    def max_size(self) -> float:
        return max(run.style.size for run in self.runs)

    @property
    def hyphen(self) -> int | None:
        """Index of the hyphen at its end, which parts a word."""
        return self.runs[-1].hyphen

    @cached_property
    def bold(self) -> bool:
        """True if all its letters and digits are set in a bold font."""
        return all(run.style.bold for run in self._worded_runs())

    @cached_property
    def italic(self) -> bool:
        return all(run.style.italic for run in self._worded_runs())

    @cached_property
    def mono(self) -> bool:
        return all(run.style.mono for run in self.runs)

    def _worded_runs(self) -> list[Run]:
        runs = self.runs
        return [run for run in runs if any(char.isalnum() for char in run.text)] or runs

    @cached_property
    def style(self) -> Style:
        """The style of most of its characters."""
        weights: Counter[Style] = Counter()
        for run in self.runs:
            weights[run.style] += len(run.text)
        return weights.most_common(1)[0][0]

    def part_of(self, runs: list[Run]) -> Line:
        """Some of the runs as a line with the number of this one."""
        line = Line(self.page, [runs], self.upright)
        line.number, line.level, line.entry = self.number, self.level, self.entry
        return line

    def split(self) -> list[Line]:
        """One line a part, all with the number of this one."""
        return [self.part_of(part) for part in self.parts]

    def flatten(self) -> list[Line]:
        """The line without wide gaps; parts that PDFium holds apart become lines of their own."""
        self.gapped = len(self.parts) >= 3
        groups: list[list[Run]] = []
        for part in self.parts:
            if groups and not part[0].begins_line:
                groups[-1].extend(part)
            else:
                groups.append(list(part))
        self.parts = groups
        return self.split() if len(groups) > 1 else [self]


def _heaviest(weights: Counter[float]) -> float:
    if len(weights) == 1:
        return next(iter(weights))
    return max(weights, key=lambda value: (weights[value], value))


def join_runs(runs: Iterable[Run]) -> str:
    """Text of the runs with one space where words part."""
    words: list[str] = []
    for run in runs:
        if words and not run.parted:
            words[-1] += run.text
        else:
            words.append(run.text)
    return " ".join(words)


def gather_lines(runs: Sequence[Run], page: int, upright_angle: int = 0) -> list[Line]:
    """The visual lines of a page, in the order of its content.

    ``upright_angle`` is the angle, as shown, of text that stands upright in the runs' coordinates.
    """
    lines: list[Line] = []
    parts: list[list[Run]] = []
    for run in runs:
        gap = _gap_before(run, parts, upright_angle) if parts else None
        if gap is None:
            if parts:
                lines.append(_numbered(page, parts, upright_angle, len(lines)))
            parts = [[run]]
        elif gap > WIDE_GAP * max(run.style.size, parts[-1][-1].style.size):
            parts.append([run])
        else:
            parts[-1].append(run)
    if parts:
        lines.append(_numbered(page, parts, upright_angle, len(lines)))
    return lines


def _numbered(page: int, parts: list[list[Run]], upright_angle: int, number: int) -> Line:
    line = Line(page, parts, parts[0][0].style.angle == upright_angle)
    line.number = number
    return line


def _gap_before(run: Run, parts: list[list[Run]], upright_angle: int) -> float | None:
    """Points between the end of a line and a run that goes on with it; ``None`` if none does."""
    last = parts[-1][-1]
    if last.hyphen is not None or run.style.angle != last.style.angle:
        return None
    if run.style.angle != upright_angle:
        return None if run.begins_line else 0.0
    before = [run for part in parts[-2:] for run in part[-3:]]
    if not any(_same_row(other, run) for other in before):
        return None
    size = max(run.style.size, last.style.size)
    right_to_left = _is_right_to_left(run) or (_is_right_to_left(last) and run.x1 < last.x0 + size)
    gap = last.x0 - run.x1 if right_to_left else run.x0 - last.x1
    if gap < -0.5 * size and (run.begins_line or run.parted):
        return None
    return gap


def _same_row(last: Run, run: Run) -> bool:
    """True if two runs share a baseline, or one is raised or lowered beside the other."""
    size = max(last.style.size, run.style.size)
    if abs(last.baseline - run.baseline) <= _SAME_BASELINE * size:
        return True
    if abs(last.baseline - run.baseline) > 0.6 * size:
        return False
    overlap = min(last.y1, run.y1) - max(last.y0, run.y0)
    return overlap > 0.5 * min(last.y1 - last.y0, run.y1 - run.y0)


def _is_right_to_left(run: Run) -> bool:
    text = run.text
    return not text.isascii() and any(
        unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in text
    )
