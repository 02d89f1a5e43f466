"""Lines of a text, as editors count them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

_LINE_END = re.compile(r"\r\n|\n|\r")


def line_starts(text: str) -> tuple[int, ...]:
    """Offsets at which the lines of ``text`` begin; the first is 0.

    LF, CRLF and a lone CR end a line and nothing else does: ``str.splitlines`` also breaks at
    vertical tabs, form feeds and others, which editors and compilers do not count. The empty
    rest behind a final line end is not a line.
    """
    if "\r" in text:
        starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    else:
        lengths = (len(line) + 1 for line in text.split("\n"))
        starts = list(accumulate(lengths, initial=0))[:-1]
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    return tuple(starts)


def line_of(starts: Sequence[int], offset: int) -> int:
    """Number (from 1) of the line that holds ``offset``."""
    return bisect_right(starts, offset)
