"""Formats that are read as they stand: plain text, chats, source code, configuration."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from merestone.extraction.blocks import with_lead_ins, with_leftovers
from merestone.extraction.chat import chat_blocks
from merestone.extraction.encoding import decode
from merestone.extraction.media_types import LANGUAGES, PROSE_TYPES
from merestone.extraction.plain_layout import layout_blocks
from merestone.extraction.source_code_languages import BY_MEDIA_TYPE
from merestone.extraction.source_text import text_document
from merestone.types import Block, Document, ExtractionSettings, RawDocument

# Lines that hold something, up to the next blank one; their indentation belongs to them.
_GROUP = re.compile(r"(?<![^\r\n])[^\r\n]*\S[^\r\n]*(?:(?:\r\n|\n|\r)[^\r\n]*\S[^\r\n]*)*")


_LONGEST_TITLE = 200
_CHAT_TYPES = frozenset({"text/plain", "text/vtt", "application/x-subrip"})
_READ_ELSEWHERE = frozenset({"application/json", "application/x-ipynb+json", *BY_MEDIA_TYPE})


class PlainExtractor:
    """Reads what is text and has no reader of its own."""

    name = "plain"
    revision = 2
    media_types = frozenset({*PROSE_TYPES, *LANGUAGES}) - _READ_ELSEWHERE
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        blocks = _blocks(decoded.text, raw.media_type or "text/plain")
        document = text_document(raw, decoded, blocks)
        return replace(document, title=_manual_title(document))


def _blocks(text: str, media_type: str) -> tuple[Block, ...]:
    if media_type in LANGUAGES:
        return code_blocks(text, LANGUAGES[media_type])
    turns = chat_blocks(text) if media_type in _CHAT_TYPES else ()
    if turns:
        return with_leftovers(text, turns)
    found = layout_blocks(text, structured=media_type == "text/plain")
    return with_lead_ins(text, with_leftovers(text, found))


def code_blocks(text: str, language: str) -> tuple[Block, ...]:
    """A ``code`` block for each group of lines that blank lines part."""
    return tuple(
        Block(
            "code",
            match.start(),
            match.start() + len(match[0].rstrip()),
            attributes={"language": language},
        )
        for match in _GROUP.finditer(text)
    )


def _manual_title(document: Document) -> str | None:
    """What a manual page says under NAME: the command and what it does."""
    headings = [block for block in document.blocks if block.kind == "heading"]
    for block, following in pairwise(headings):
        if document.text[block.start : block.end].strip() == "NAME":
            title = " ".join(document.text[block.end : following.start].split())
            return title if 0 < len(title) <= _LONGEST_TITLE else None
    return None


EXTRACTOR = PlainExtractor()
