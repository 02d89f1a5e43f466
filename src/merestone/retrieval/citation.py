"""Saying where a passage stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merestone.types import Chunk, Citation, Snapshot

_AROUND = 32
"""Code points quoted before and after, as the text-quote selector wants them."""


@dataclass(frozen=True, slots=True)
class Cited:
    """What a citation needs of a document."""

    text: str
    title: str | None


class CitedDocuments:
    """Texts and titles of one snapshot's documents, each read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._read: dict[str, Cited] = {}

    def of(self, document: str) -> Cited:
        """The document of that id, which has chunks and so has a text."""
        if document not in self._read:
            text = self._snapshot.text(document)
            record = self._snapshot.record(document)
            assert text is not None
            assert record is not None
            self._read[document] = Cited(text, record.title)
        return self._read[document]


def cite(document: Cited, chunks: Sequence[Chunk]) -> Citation:
    """The citation of one chunk, or of the span over several of one document that touch."""
    first = min(chunks, key=lambda chunk: chunk.start)
    start, end = first.start, max(chunk.end for chunk in chunks)
    lines = [chunk.lines for chunk in chunks if chunk.lines]
    return Citation(
        document=first.document,
        version=first.version,
        title=document.title,
        heading_path=common_path(chunks),
        pages=tuple(sorted({page for chunk in chunks for page in chunk.pages})),
        lines=(min(a for a, _ in lines), max(b for _, b in lines)) if lines else None,
        start=start,
        end=end,
        quote=document.text[start:end],
        prefix=document.text[max(0, start - _AROUND) : start],
        suffix=document.text[end : end + _AROUND],
    )


def common_path(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """The headings that all ``chunks`` stand under."""
    path = chunks[0].heading_path
    for chunk in chunks[1:]:
        shared = 0
        for one, other in zip(path, chunk.heading_path, strict=False):
            if one != other:
                break
            shared += 1
        path = path[:shared]
    return path


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
