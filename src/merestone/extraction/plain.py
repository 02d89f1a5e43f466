"""Formats that are read as they stand: plain text, source code, configuration, records."""

from __future__ import annotations

import re

from merestone.extraction.blocks import with_lead_ins, with_leftovers
from merestone.extraction.encoding import decode
from merestone.extraction.media_types import LANGUAGES, PROSE_TYPES, RECORD_TYPES
from merestone.extraction.plain_layout import layout_blocks
from merestone.extraction.plain_records import record_blocks
from merestone.extraction.source_text import text_document
from merestone.types import Block, Document, ExtractionSettings, RawDocument

# Lines that hold something, up to the next blank one; their indentation belongs to them.
_GROUP = re.compile(r"[^\r\n]*\S[^\r\n]*(?:(?:\r\n|\n|\r)[^\r\n]*\S[^\r\n]*)*")


class PlainExtractor:
    """Reads what is text and has no reader of its own."""

    name = "plain"
    revision = 1
    media_types = frozenset({*PROSE_TYPES, *RECORD_TYPES, *LANGUAGES})
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        return text_document(raw, decoded, _blocks(decoded.text, raw.media_type or "text/plain"))


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


EXTRACTOR = PlainExtractor()
