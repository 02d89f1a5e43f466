"""Records of CSV, tab-separated and JSON lines files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from merestone.extraction.blocks import trimmed
from merestone.types import Block

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_DELIMITERS = ",;\t|"


def record_blocks(text: str, media_type: str) -> tuple[Block, ...]:
    """One ``record`` block for each record: a line, or the lines that quotes hold together."""
    if media_type == "application/jsonl":
        spans = _lines(text, 0)
    else:
        delimiter = "\t" if media_type == "text/tab-separated-values" else _delimiter(text)
        spans = _quoted_records(text, delimiter)
    found = (trimmed(text, start, end) for start, end in spans)
    return tuple(Block("record", *span) for span in found if span.start < span.end)


def _lines(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Start and end, line end included, of each line from ``position`` on."""
    while position < len(text):
        match = _LINE.match(text, position)
        end = match.end() if match else len(text)
        yield position, end
        position = end


def _delimiter(text: str) -> str:
    """The sign that stands most often in the first lines that are not blank."""
    head = [text[start:end] for (start, end), _ in zip(_lines(text, 0), range(10), strict=False)]
    return max(_DELIMITERS, key=lambda sign: sum(line.count(sign) for line in head))


def _quoted_records(text: str, delimiter: str) -> Iterator[tuple[int, int]]:
    """Records by the rules of RFC 4180: a field that begins with a quote may hold line ends.

    A quote that is never closed is taken for an ordinary sign, and so are all behind it.
    """
    record = 0
    quoted = False
    for start, end in _lines(text, 0):
        quoted = _is_open_after(text, start, end, delimiter, quoted)
        if not quoted:
            yield record, end
            record = end
    yield from _lines(text, record)


def _is_open_after(text: str, start: int, end: int, delimiter: str, quoted: bool) -> bool:
    """True if a quoted field is still open behind ``text[start:end]``."""
    place = start
    while place < end:
        if quoted:
            closing = text.find('"', place, end)
            if closing < 0:
                return True
            doubled = text.startswith('"', closing + 1)
            place = closing + (2 if doubled else 1)
            quoted = doubled
        elif text.startswith('"', place):
            quoted, place = True, place + 1
        else:
            found = text.find(delimiter, place, end)
            if found < 0:
                return False
            place = found + 1
    return quoted
