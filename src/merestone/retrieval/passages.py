"""Passages: ranges of documents, cited to the line and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merestone.chunking.render import shown
from merestone.extraction.media_types import LANGUAGES
from merestone.retrieval.citation import (
    CitedDocuments,
    cite_span,
    lines_of,
    pages_of,
    place,
    reach_of,
)
from merestone.types import Chunk, Citation, ContextSpan, Document, Passage, Snapshot

_OWN_TEXT = {
    "text/markdown",
    "text/plain",
    "text/x-rst",
    "text/csv",
    "application/json",
    *LANGUAGES,
}
"""Media types whose text is the source itself, so that its lines are the source's."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of one document with the chunks that it touches."""

    document: str
    start: int
    end: int
    chunks: tuple[Chunk, ...]
    """By ordinal."""
    context: tuple[ContextSpan, ...] = ()
    also: tuple[str, ...] = ()


class Passages:
    """Makes passages of the spans of one snapshot."""

    def __init__(self, snapshot: Snapshot, documents: CitedDocuments) -> None:
        self._snapshot = snapshot
        self._documents = documents
        self._whole: dict[str, Document | None] = {}
        self._citations: dict[tuple[str, int, int, tuple[str, ...]], Citation] = {}
        """Spans are tried again at the next budget."""

    def text(self, document: str) -> str:
        return self._documents.of(document).text

    def text_of(self, span: Span) -> str:
        return self.text(span.document)[span.start : span.end]

    def passage(self, span: Span, tokens: int) -> Passage:
        """The passage of ``span``, which is shown with so many tokens."""
        citation = self.citation(span)
        return Passage(
            document=span.document,
            version=citation.version,
            start=span.start,
            end=span.end,
            text=citation.quote,
            tokens=tokens,
            heading_path=citation.heading_path,
            citation=citation,
            chunks=tuple(chunk.id for chunk in span.chunks),
            context=span.context,
            also=span.also,
        )

    def citation(self, span: Span) -> Citation:
        """Where ``span`` stands, which may be a part of its chunks only."""
        key = (span.document, span.start, span.end, tuple([chunk.id for chunk in span.chunks]))
        if key not in self._citations:
            self._citations[key] = self._cited(span)
        return self._citations[key]

    def linked(self, passage: Passage) -> Passage:
        """``passage`` with what opens its source in its citation."""
        citation = passage.citation
        return replace(passage, citation=self._documents.of(passage.document).linked(citation))

    def _cited(self, span: Span) -> Citation:
        document = self._documents.of(span.document)
        lines, pages = lines_of(span.chunks), pages_of(span.chunks)
        if (span.start, span.end) != reach_of(span.chunks):
            lines, pages = self._lines(span, lines), self._pages(span, pages)
        return cite_span(document, span.chunks, span.start, span.end, lines, pages)

    def _lines(self, span: Span, lines: tuple[int, int] | None) -> tuple[int, int] | None:
        if lines is None or lines[0] == lines[1]:
            return lines
        first = span.chunks[0]
        if first.lines is not None and self._has_own_lines(span.document):
            text, begins = self.text(span.document), first.start
            return (
                first.lines[0] + _line_breaks(text[begins : span.start]),
                first.lines[0] + _line_breaks(text[begins : span.end - 1]),
            )
        document = self._document(span.document)
        return document.lines_of(span.start, span.end) if document else lines

    def _has_own_lines(self, document: str) -> bool:
        return self._documents.of(document).media_type in _OWN_TEXT

    def _pages(self, span: Span, pages: tuple[int, ...]) -> tuple[int, ...]:
        if len(pages) < 2:
            return pages
        document = self._document(span.document)
        return document.pages_of(span.start, span.end) if document else pages

    def _document(self, document: str) -> Document | None:
        """The document without its blocks, which takes longer than its text, read once."""
        if document not in self._whole:
            self._whole[document] = self._snapshot.document(document, blocks=False)
        return self._whole[document]


def head(number: int, citation: Citation, context: Sequence[ContextSpan]) -> str:
    """What stands above a passage's text."""
    added = "".join(f"({shown(span)})\n" for span in context)
    return f"[{number}] {place(citation)}\n{added}"


def _line_breaks(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")
