"""Markdown: CommonMark with the tables, footnotes, mathematics and definition lists of its
dialects. The text is the source itself, so everything is offsets."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.extraction.blocks import BlockTree, with_lead_ins, with_leftovers
from merestone.extraction.encoding import decode
from merestone.extraction.front_matter import read_front_matter
from merestone.extraction.markdown_reader import BodyReader
from merestone.extraction.markdown_tables import with_captions
from merestone.extraction.source_text import text_document
from merestone.types import JSON, Block, Document, ExtractionSettings, RawDocument


class MarkdownExtractor:
    """Reads Markdown, MDX and their like."""

    name = "markdown"
    revision = 4
    media_types = frozenset({"text/markdown"})
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        text = decoded.text
        front = read_front_matter(text)
        tree = BlockTree()
        if front is not None:
            tree.add("front_matter", 0, front.end)
        body_start = front.end if front is not None else 0
        BodyReader(text, body_start, tree, mdx=raw.id.lower().endswith(".mdx")).read()
        blocks = with_captions(text, with_leftovers(text, tree.blocks(text)))
        blocks = with_lead_ins(text, blocks)
        metadata = front.values if front is not None else {}
        return text_document(
            raw,
            decoded,
            blocks,
            title=_title(text, blocks, metadata),
            metadata=metadata,
        )


def _title(text: str, blocks: Sequence[Block], metadata: dict[str, JSON]) -> str | None:
    title = metadata.get("title")
    if isinstance(title, str) and title.strip():
        return title.strip()
    headings = [block for block in blocks if block.kind == "heading"]
    chosen = next((block for block in headings if block.level == 1), None)
    chosen = chosen or next(iter(headings), None)
    if chosen is None:
        return None
    start, end = chosen.attributes["content"]
    return " ".join(text[start:end].split()) or None


EXTRACTOR = MarkdownExtractor()
