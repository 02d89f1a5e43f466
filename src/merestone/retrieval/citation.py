"""Saying where a passage stands."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.types import Citation, Document

_AROUND = 32
"""Code points quoted before and after, as the text-quote selector wants them."""


def cite(document: Document, start: int, end: int, heading_path: Sequence[str]) -> Citation:
    """The citation of ``document.text[start:end]``."""
    return Citation(
        document=document.id,
        version=document.version,
        title=document.title,
        heading_path=tuple(heading_path),
        pages=document.pages_of(start, end),
        lines=document.lines_of(start, end),
        start=start,
        end=end,
        quote=document.text[start:end],
        prefix=document.text[max(0, start - _AROUND) : start],
        suffix=document.text[end : end + _AROUND],
    )


def place(citation: Citation) -> str:
    """The citation on one line, for people: title, headings, page or lines, document."""
    parts = []
    path = list(citation.heading_path)
    if citation.title and (not path or path[0] != citation.title):
        parts.append(citation.title)
    if path:
        parts.append("§ " + " > ".join(path))
    if citation.pages:
        first, last = citation.pages[0], citation.pages[-1]
        parts.append(f"p. {first}" if first == last else f"pp. {first}–{last}")
    if citation.lines:
        first, last = citation.lines
        parts.append(f"line {first}" if first == last else f"lines {first}–{last}")
    return f"{citation.document}: {', '.join(parts)}" if parts else citation.document
