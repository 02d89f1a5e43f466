"""What holds for every document, whatever it was read from."""

from __future__ import annotations

from merestone.extraction import read_document
from merestone.types import Block, Document, ExtractionSettings, RawDocument

SPANS = ("content", "term", "header", "caption", "lead_in", "signature")


def read(data: bytes | str, name: str, **settings: object) -> Document:
    """The document that a file of this name and content is."""
    raw = data.encode() if isinstance(data, str) else data
    return read_document(RawDocument(name, raw), ExtractionSettings(**settings))  # type: ignore[arg-type]


def text_of(document: Document, block: Block) -> str:
    return document.text[block.start : block.end]


def texts(document: Document, kind: str, layer: str = "body") -> list[str]:
    """Texts of all blocks of a kind, in order."""
    chosen = [b for b in document.blocks if b.kind == kind and b.layer == layer]
    return [text_of(document, block) for block in chosen]


def outline(document: Document) -> list[tuple[str, str]]:
    """Kind and text of each block of the body."""
    return [(b.kind, text_of(document, b)) for b in document.blocks if b.layer == "body"]


def attribute(document: Document, block: Block, name: str) -> str:
    start, end = block.attributes[name]
    return document.text[start:end]


def check(document: Document, source: str | None = None) -> None:
    """Assert the invariants; ``source`` is the decoded file, its byte order mark included."""
    text = document.text
    covered = bytearray(len(text))
    ends: dict[int | None, int] = {}
    previous = 0
    for index, block in enumerate(document.blocks):
        assert 0 <= block.start < block.end <= len(text), block
        assert block.start >= previous, "not in document order"
        previous = block.start
        assert block.start >= ends.get(block.parent, 0), "siblings overlap"
        ends[block.parent] = block.end
        if block.parent is None:
            covered[block.start : block.end] = b"\1" * (block.end - block.start)
        else:
            parent = document.blocks[block.parent]
            assert block.parent < index
            assert parent.start <= block.start
            assert block.end <= parent.end
            assert parent.layer == block.layer
        if block.layer != "body":
            assert block.start >= document.body_end
        for name in SPANS:
            span = block.attributes.get(name)
            if isinstance(span, list):
                assert 0 <= span[0] <= span[1] <= len(text), (name, block)
        for start, end in block.attributes.get("cells", ()):
            assert 0 <= start <= end <= len(text)
        assert text[block.end - 1].strip(), "white space at the end"
    for place, sign in enumerate(text):
        assert covered[place] or not sign.strip(), f"{sign!r} at {place} is in no block"
    position = 0
    for segment in document.segments.items:
        assert segment.start == position
        position = segment.end
        if segment.kind == "copy" and source is not None and segment.page is None:
            assert (
                text[segment.start : segment.end]
                == (source[segment.source_start : segment.source_end])
            )
    if document.segments.items:
        assert position == len(text)
    assert not any("\ud800" <= sign <= "\udfff" for sign in text)
