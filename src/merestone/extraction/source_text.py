"""Documents whose text is their decoded source, character for character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merestone.extraction.encoding import Decoded
from merestone.text.lines import line_starts
from merestone.types import JSON, Block, Document, RawDocument, Segments


def text_document(
    raw: RawDocument,
    decoded: Decoded,
    blocks: Sequence[Block],
    *,
    title: str | None = None,
    metadata: Mapping[str, JSON] | None = None,
) -> Document:
    """The document of a format that is text."""
    return Document(
        id=raw.id,
        text=decoded.text,
        blocks=tuple(blocks),
        segments=Segments.identity(len(decoded.text), decoded.mark),
        line_starts=source_line_starts(decoded),
        uri=raw.uri,
        title=title,
        media_type=raw.media_type or "text/plain",
        encoding=decoded.encoding,
        metadata=dict(metadata or {}),
        status=decoded.status,
        warnings=decoded.warnings,
    )


def source_line_starts(decoded: Decoded) -> tuple[int, ...]:
    """Offsets in the source, its byte order mark counted, at which lines begin."""
    starts = line_starts(decoded.text)
    return (0, *(start + decoded.mark for start in starts[1:])) if decoded.mark else starts
