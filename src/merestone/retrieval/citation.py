"""Saying where a passage stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from merestone.retrieval.links import link_to
from merestone.types import JSON, Chunk, Citation, Snapshot

_LONGEST_EDITION = 32
_AROUND = 32
"""Code points quoted before and after, as the text-quote selector wants them."""


@dataclass(frozen=True, slots=True)
class Cited:
    """What a citation needs of a document."""

    text: str
    title: str | None
    uri: str = ""
    edition: str = ""
    media_type: str = ""
    editor: str = ""
    """The form of links to files, see :func:`~merestone.retrieval.links.link_to`."""

    def linked(self, citation: Citation) -> Citation:
        """``citation`` of this document, with what opens its source there."""
        link = link_to(citation, self.media_type, self.text, self.editor)
        return replace(citation, link=link)


class CitedDocuments:
    """Texts and titles of one snapshot's documents, each read once."""

    def __init__(self, snapshot: Snapshot, editor: str = "") -> None:
        self._snapshot = snapshot
        self._editor = editor
        self._read: dict[str, Cited] = {}

    def of(self, document: str) -> Cited:
        """The document of that id, which has chunks and so has a text."""
        if document not in self._read:
            text = self._snapshot.text(document)
            record = self._snapshot.record(document)
            assert text is not None
            assert record is not None
            self._read[document] = Cited(
                text,
                record.title,
                record.uri,
                _edition(record.metadata),
                record.media_type,
                self._editor,
            )
        return self._read[document]


def cite(document: Cited, chunks: Sequence[Chunk]) -> Citation:
    """The citation of one chunk, or of the span over several of one document that touch; without
    a link, which :meth:`Cited.linked` adds."""
    return cite_span(document, chunks, *reach_of(chunks), lines_of(chunks), pages_of(chunks))


def cite_span(
    document: Cited,
    chunks: Sequence[Chunk],
    start: int,
    end: int,
    lines: tuple[int, int] | None,
    pages: tuple[int, ...],
) -> Citation:
    """The citation of ``document.text[start:end]``, which ``chunks`` hold and which stands on
    these lines and pages."""
    return Citation(
        document=chunks[0].document,
        version=chunks[0].version,
        title=document.title,
        heading_path=common_path(chunks),
        pages=pages,
        lines=lines,
        start=start,
        end=end,
        quote=document.text[start:end],
        prefix=document.text[max(0, start - _AROUND) : start],
        suffix=document.text[end : end + _AROUND],
        uri=document.uri,
        edition=document.edition,
    )


def reach_of(chunks: Sequence[Chunk]) -> tuple[int, int]:
    """Where the first of ``chunks`` begins and the last ends."""
    return min([chunk.start for chunk in chunks]), max([chunk.end for chunk in chunks])


def lines_of(chunks: Sequence[Chunk]) -> tuple[int, int] | None:
    """The first and the last line of ``chunks``, where they have lines."""
    lines = [chunk.lines for chunk in chunks if chunk.lines]
    return (min(first for first, _ in lines), max(last for _, last in lines)) if lines else None


def pages_of(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """The pages that ``chunks`` stand on, in order."""
    return tuple(sorted({page for chunk in chunks for page in chunk.pages}))


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
    """The citation on one line, for people and models: the document, and its label."""
    label = citation.label
    return label if citation.title is None else f"{citation.document}: {label}"


def _edition(metadata: Mapping[str, JSON]) -> str:
    """The version that a document says it is of."""
    said = metadata.get("version")
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        return ""
    text = " ".join(str(said).split())
    return text if len(text) <= _LONGEST_EDITION else ""
