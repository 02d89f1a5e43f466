"""Which paragraphs of a PDF are captions, notes, list items or code."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_paragraphs import Block, Part, Typography
from merestone.extraction.pdf_tables import Table

_SMALLER = 0.8
"""Points by which notes are set smaller than the body, at least."""
_CAPTION = re.compile(
    r"(?:Figure|Fig\.|Table|Tab\.|Tbl\.|Listing|Algorithm|Scheme|Chart|Exhibit|Plate|"
    r"Abbildung|Abb\.|Tabelle|Tableau|Figura|Tabla)\s*(?:[A-Z]\.?)?\d+(?:\.\d+)*[a-z]?"
    r"(?P<mark>\s*[.:|–—]|$)?"
)
_NEAR = 30
"""Marks looked back and ahead for the neighbour of a number."""
_NOTE = re.compile(r"(?P<label>\d{1,3}|[*†‡§¶]{1,3})\s?\S")


def name_kinds(blocks: Sequence[Block], typography: Typography) -> None:
    """Set the kinds of the parts that are no headings."""
    parts = [block for block in blocks if isinstance(block, Part) and block.kind == "paragraph"]
    lowest = _lowest_body_lines(blocks, typography)
    for part in parts:
        if all(line.mono for line in part.lines):
            part.kind = "code"
        elif _is_caption(part, typography):
            part.kind = "caption"
        elif _is_note(part, typography, lowest[part.page]):
            part.kind = "footnote"
    _name_list_items([part for part in parts if part.kind == "paragraph"])


def is_table_caption(part: Part) -> bool:
    """True for the caption of a table."""
    return part.kind == "caption" and part.text.startswith(("Tab", "Tbl"))


def note_label(part: Part) -> str | None:
    """The number or sign at the start of a note."""
    match = _NOTE.match(part.text)
    return match["label"] if match else None


def _is_caption(part: Part, typography: Typography) -> bool:
    match = _CAPTION.match(part.text)
    if match is None or len(part.lines) > 15:
        return False
    if match["mark"] is not None:
        return True
    first = part.lines[0].runs[0].style
    return part.size < typography.size - 0.4 or (first.bold and not typography.bold)


def _lowest_body_lines(blocks: Iterable[Block], typography: Typography) -> dict[int, list[Line]]:
    """The lines that are set in the body's size, by page."""
    found: dict[int, list[Line]] = defaultdict(list)
    for block in blocks:
        if isinstance(block, Table):
            continue
        for line in block.lines:
            if line.size >= typography.size - 0.4:
                found[line.page].append(line)
    return found


def _is_note(part: Part, typography: Typography, body: Sequence[Line]) -> bool:
    """True for small print with a number at the foot of a column."""
    if part.size > typography.size - _SMALLER or not _NOTE.match(part.text):
        return False
    first = part.lines[0]
    beside = [line for line in body if line.box.x0 < first.box.x1 and first.box.x0 < line.box.x1]
    return bool(beside) and all(line.baseline < first.baseline for line in beside)


def _name_list_items(parts: Sequence[Part]) -> None:
    """A bullet makes an item. A number does where another near it carries the one before or
    after, as items of a list do even with a list inside one of them."""
    marked = [(part, part.marker) for part in parts if part.marker is not None]
    for index, (part, marker) in enumerate(marked):
        before = [other for _, other in marked[max(0, index - _NEAR) : index]]
        after = [other for _, other in marked[index + 1 : index + 1 + _NEAR]]
        if (
            not marker.weak
            or any(marker.follows(other) for other in before)
            or any(other.follows(marker) for other in after)
            or ((marker.is_first or not marker.ordered) and _hangs(part))
        ):
            part.kind = "list_item"


def _hangs(part: Part) -> bool:
    """True if the lines below the first begin further right than the mark."""
    first = part.lines[0]
    return len(part.lines) > 1 and part.lines[1].box.x0 - first.box.x0 > 0.5 * first.size
