"""Formats that are read as they stand: plain text, source code, configuration, records."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from merestone.extraction.blocks import with_lead_ins, with_leftovers
from merestone.extraction.encoding import decode
from merestone.extraction.media_types import LANGUAGES, PROSE_TYPES, RECORD_TYPES
from merestone.extraction.plain_layout import layout_blocks
from merestone.extraction.plain_records import record_blocks
from merestone.extraction.source_text import text_document
from merestone.types import Block, Document, ExtractionSettings, RawDocument

# Lines that hold something, up to the next blank one; their indentation belongs to them.
_GROUP = re.compile(r"[^\r\n]*\S[^\r\n]*(?:(?:\r\n|\n|\r)[^\r\n]*\S[^\r\n]*)*")


_LONGEST_TITLE = 200


class PlainExtractor:
    """Reads what is text and has no reader of its own."""

    name = "plain"
    revision = 1
    media_types = frozenset({*PROSE_TYPES, *RECORD_TYPES, *LANGUAGES})
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        blocks = _blocks(decoded.text, raw.media_type or "text/plain")
        document = text_document(raw, decoded, blocks)
        return replace(document, title=_manual_title(document))


def _blocks(text: str, media_type: str) -> tuple[Block, ...]:
    if media_type in RECORD_TYPES:
        return with_leftovers(text, record_blocks(text, media_type))
    if media_type in LANGUAGES:
        attributes = {"language": LANGUAGES[media_type]}
        return tuple(
            Block(
                "code", match.start(), match.start() + len(match[0].rstrip()), attributes=attributes
            )
            for match in _GROUP.finditer(text)
        )
    found = layout_blocks(text, structured=media_type == "text/plain")
    return with_lead_ins(text, with_leftovers(text, found))


def _manual_title(document: Document) -> str | None:
    """What a manual page says under NAME: the command and what it does."""
    headings = [block for block in document.blocks if block.kind == "heading"]
    for block, following in pairwise(headings):
        if document.text[block.start : block.end].strip() == "NAME":
            title = " ".join(document.text[block.end : following.start].split())
            return title if 0 < len(title) <= _LONGEST_TITLE else None
    return None


EXTRACTOR = PlainExtractor()
