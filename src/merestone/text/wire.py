"""Documents as JSON, for the store and for worker processes.

Every value comes back as it was. JSON in ASCII holds lone surrogates and NUL as escapes. Only the
two halves of a surrogate pair, side by side as two code points, would be read as the one character
that they encode. A text, into which offsets point, is parted between them; in a title, metadata
or an attribute they become that character.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

from merestone.types import (
    JSON,
    Block,
    Document,
    DocumentWarning,
    Page,
    Segment,
    Segments,
    Status,
    StoredSegments,
    Word,
)

_PLAIN = ("id", "version", "source_hash", "uri", "title", "media_type", "language")
_BLOCKS, _SEGMENTS = b',"blocks":[', b',"segments":['
_OF_PAGE = 7
"""Values of a page. Libraries made before words had their own place hold them as one more."""
_INSIDE_PAIR = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


def block_to_json(block: Block) -> list[JSON]:
    """A block as the list of its fields."""
    return [
        block.kind,
        block.start,
        block.end,
        block.level,
        block.parent,
        block.layer,
        dict(block.attributes),
    ]


def structure_to_json(document: Document) -> dict[str, JSON]:
    """All of ``document`` but its text and what a record of it holds."""
    starts = document.line_starts
    return {
        "status": str(document.status),
        "encoding": document.encoding,
        "blocks": [block_to_json(block) for block in document.blocks],
        "words": [page.words for page in document.pages],
        "segments": list(document.segments.items),
        "pages": [_page_to_json(page) for page in document.pages],
        # Lengths of lines, not offsets: they repeat, so they compress.
        "lines": [*starts[:1], *(after - before for before, after in pairwise(starts))],
        "warnings": [[warning.code, warning.message] for warning in document.warnings],
    }


def without_blocks(written: bytes) -> bytes:
    """What :func:`structure_to_json` gave, as JSON, without its blocks and the words of its pages,
    which are most of it.

    Inside texts quotes are escaped, so the keys stand only where they are keys: before the blocks
    there are only texts, behind the segments only texts, numbers and lists.
    """
    first, last = written.find(_BLOCKS), written.rfind(_SEGMENTS)
    return written if first < 0 or last < first else written[:first] + written[last:]


def with_structure(
    document: Document, parts: Mapping[str, Any], *, blocks: bool = True
) -> Document:
    """``document`` with what :func:`structure_to_json` gave, or all of it but the blocks and the
    words of pages; segments are then made when they are asked for. Raises ``ValueError``,
    ``KeyError`` or ``TypeError`` for parts of another shape."""
    segments: Sequence[Segment] = StoredSegments(parts["segments"])
    return replace(
        document,
        status=Status(parts["status"]),
        encoding=parts["encoding"],
        blocks=tuple(Block(*block) for block in parts["blocks"]) if blocks else (),
        segments=Segments(tuple(segments) if blocks else segments),
        pages=_pages_from_json(parts["pages"], parts.get("words")),
        line_starts=tuple(accumulate(parts["lines"])),
        warnings=tuple(DocumentWarning(*warning) for warning in parts["warnings"]),
    )


def document_to_json(document: Document) -> dict[str, JSON]:
    """All of ``document``."""
    return {
        **{name: getattr(document, name) for name in _PLAIN},
        "text": _INSIDE_PAIR.split(document.text),
        "metadata": dict(document.metadata),
        "structure": structure_to_json(document),
    }


def document_from_json(parts: Mapping[str, Any]) -> Document:
    """The document that :func:`document_to_json` was given."""
    plain = {name: parts[name] for name in _PLAIN}
    document = Document(**plain, text="".join(parts["text"]), metadata=parts["metadata"])
    return with_structure(document, parts["structure"])


def _page_to_json(page: Page) -> list[JSON]:
    return [
        page.number,
        page.label,
        page.width,
        page.height,
        page.rotation,
        page.chars,
        page.needs_ocr,
    ]


def _pages_from_json(pages: Sequence[Any], words: Sequence[Any] | None) -> tuple[Page, ...]:
    found = []
    for parts, here in zip(pages, [()] * len(pages) if words is None else words, strict=True):
        *plain, own = parts if len(parts) > _OF_PAGE else (*parts, here)
        found.append(replace(Page(*plain), words=tuple(map(Word._make, own))))
    return tuple(found)
