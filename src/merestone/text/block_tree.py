"""Whether the blocks of a document are a tree over its text, whoever read it."""

from __future__ import annotations

from collections.abc import Sequence

from merestone.types import Block, Document

SPAN_ATTRIBUTES = ("content", "term", "header", "caption", "lead_in", "signature")
"""Attributes of blocks that hold a range of the text."""


def fault_in_blocks(document: Document) -> str | None:
    """What is wrong with the blocks, as a sentence without its end; ``None`` if nothing is.

    They have to be ranges of the text in document order, a parent before its children and around
    them, brothers one behind the other.
    """
    length = len(document.text)
    reached: dict[int | None, int] = {}
    previous = 0
    for index, block in enumerate(document.blocks):
        named = f"block {index} ({block.kind}, {block.start}-{block.end})"
        if not 0 <= block.start < block.end <= length:
            return f"{named} is no range of the text, which has {length} characters"
        if block.start < max(previous, reached.get(block.parent, 0)):
            return f"{named} begins before the block that it follows, or inside it"
        if block.parent is not None and not _holds(document.blocks, index, block):
            return f"{named} does not lie in its parent, block {block.parent}"
        for name in SPAN_ATTRIBUTES:
            is_mark = block.kind == "table_row" and name == "header"
            if not is_mark and not _is_range(block.attributes.get(name), length):
                return f"{named} has {name} = {block.attributes[name]!r}, which is no range"
        previous = block.start
        reached[block.parent] = block.end
    return None


def _holds(blocks: Sequence[Block], index: int, block: Block) -> bool:
    if block.parent is None or not 0 <= block.parent < index:
        return False
    parent = blocks[block.parent]
    return parent.start <= block.start and block.end <= parent.end and parent.layer == block.layer


def _is_range(value: object, length: int) -> bool:
    if value is None:
        return True
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    start, end = value
    return isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= length
