"""Ends of passages that announce what is not in them: a bare heading, the mark of a note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from merestone.retrieval.passages import Span
from merestone.retrieval.surroundings import placed

_OPENER = re.compile(
    r"""[ \t]*(?:
    (?:!!!|\?\?\?\+?)[ \t]+\S.*       # admonition of Python-Markdown: !!! note
    |:{3,}[ \t]*[^:\s].*             # of Docusaurus, VitePress, Pandoc and MyST: ::: tip
    |\.\.[ \t]+[\w:.-]+::.*           # directive of reStructuredText: .. note::
    |>[ \t]*\[![A-Za-z]+\][+-]?.*     # of GitHub and Obsidian: > [!NOTE]
    )""",
    re.VERBOSE,
)
_CLOSER = re.compile(r"[ \t]*:{3,}[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`\n]*)")


def closed(span: Span, text: str) -> Span:
    """``span`` of the document ``text`` without headings and marks that stand at its end with
    nothing of theirs behind them. One that is nothing else stays whole."""
    end = span.end
    while True:
        shorter = _without_heading(span, end)
        shorter = _without_mark(text, span.start, shorter)
        shorter = span.start + len(text[span.start : shorter].rstrip())
        if shorter <= span.start:
            return span
        if shorter == end:
            break
        end = shorter
    if end == span.end:
        return span
    chunks = tuple(chunk for chunk in span.chunks if chunk.start < end)
    return replace(span, end=end, chunks=chunks)


def _without_heading(span: Span, end: int) -> int:
    """Where the last unit begins, if that is a heading; else ``end``."""
    near = [chunk for chunk in span.chunks if chunk.start < end][-2:]
    units = placed(near, span.start, end)
    return units[-1].unit.start if units and units[-1].unit.kind == "heading" else end


def _without_mark(text: str, start: int, end: int) -> int:
    """Where the last line begins, if all it does is to open a block; else ``end``."""
    lines = text[start:end].rstrip().splitlines(keepends=True)
    if not lines:
        return end
    last = lines[-1].rstrip()
    begin = start + sum(map(len, lines[:-1]))
    if _OPENER.fullmatch(last):
        return begin
    if _CLOSER.fullmatch(last):
        # It belongs to what it closes, if that is here.
        return end if any(_OPENER.fullmatch(line.rstrip()) for line in lines[:-1]) else begin
    return begin if _opens_fence(lines) else end


def _opens_fence(lines: Sequence[str]) -> bool:
    """True if the last line opens a fence. What closes one is as long as its opener, of the same
    sign, and alone."""
    opened = ""
    is_new = False
    for line in lines:
        fence = _FENCE.fullmatch(line.rstrip())
        is_new = fence is not None and not opened
        if fence is None:
            continue
        if not opened:
            opened = fence[1]
        elif fence[1].startswith(opened) and not fence[2].strip():
            opened = ""
    return is_new
