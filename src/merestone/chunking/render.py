"""The text that an embedder reads for a chunk."""

from __future__ import annotations

import re
from collections.abc import Iterable

from merestone.text.hashing import digest
from merestone.types import Chunk, ContextSpan

REVISION = 2
"""Raised when the output of :func:`render` changes."""

PATH_SEPARATOR = " > "

_PADDING = re.compile(r"[ \t]{2,}")
_RULE = re.compile(r"[\s|:+=-]*")


def render(chunk: Chunk) -> str:
    """Title and heading path on one line, each other context span on lines of its own, a blank
    line, the chunk's text. A file's name or path never enters, so a rename embeds nothing."""
    return render_parts(chunk.context, chunk.text)


def render_parts(context: Iterable[ContextSpan], text: str) -> str:
    """:func:`render` for a chunk that is not made yet."""
    path, lines = [], []
    for span in context:
        if span.role in ("title", "heading"):
            path.append(flat(span.text))
        else:
            lines.append(shown(span))
    if path:
        lines.insert(0, PATH_SEPARATOR.join(path))
    if not lines:
        return text
    return "\n".join(lines) + "\n\n" + text


def shown(span: ContextSpan) -> str:
    """A context span as the embedder reads it: of a table's header the rows that hold words. The
    dashes below them say nothing and would cost a token each, nor does the white space that lines
    up cells."""
    if span.role != "table_header":
        return span.text
    rows = [row for row in span.text.splitlines() if not _RULE.fullmatch(row)]
    return _PADDING.sub(" ", "\n".join(rows))


def input_hash(chunk: Chunk) -> str:
    """Hash of the embedder input: with the embedder's fingerprint, the key of the cache."""
    return digest("input", render(chunk))


def flat(text: str) -> str:
    """``text`` on one line, each run of white space one space."""
    return " ".join(text.split())
