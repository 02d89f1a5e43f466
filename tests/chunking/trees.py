"""Documents with any tree of blocks, as a reader that nobody knows yet might make them."""

from __future__ import annotations

import random
import re

from merestone.types import JSON, Block, BlockKind, Document, ExtractionSettings, Layer

LIMITS = ExtractionSettings()

_LEAVES: tuple[BlockKind, ...] = (
    "heading",
    "paragraph",
    "list_item",
    "table_row",
    "code",
    "quote",
    "caption",
    "formula",
    "record",
    "cell_output",
    "symbol",
    "rule",
)
_HOLDERS: tuple[BlockKind, ...] = (
    "list",
    "list_item",
    "table",
    "quote",
    "definition",
    "record",
    "symbol",
    "figure",
    "footnote",
)
_SPANS = ("header", "lead_in", "signature", "caption", "term", "content")
_DEPTH = 12


def any_tree(text: str, seed: int, name: str = "doc") -> Document:
    """``text`` with a tree of blocks that keeps the rules of trees, the rest drawn by chance.

    Every character that is not white space is in a block at the top level, and what is not body
    stands at the end, as every reader has it.
    """
    draw = random.Random(seed)
    filled = [match.start() for match in re.finditer(r"\S", text)]
    if not filled or draw.random() < 0.1:
        return Document(id=name, text=text)
    body = len(filled) if draw.random() < 0.7 else draw.randrange(len(filled))
    blocks: list[Block] = []
    # Ranges are of indexes of filled characters, so that no block is blank.
    for low, high, layer in ((0, body, "body"), (body, len(filled), "note")):
        pending = [(low, high, -1, 0)]
        while pending:
            first, last, parent, depth = pending.pop()
            if first >= last:
                continue
            if parent >= 0 and draw.random() < 0.2:
                first += 1
                last -= 1
            for start, end in reversed(_parts(draw, first, last)):
                pending.append((start, end, parent, depth))
                if depth >= 0 and (start, end) != (first, last):
                    continue
                pending.pop()
                holds = end - start > 2 and depth < _DEPTH and draw.random() < 0.6
                block = _block(draw, filled, start, end, parent, layer, holds)
                blocks.append(block)
                if holds:
                    pending.append((start, end, len(blocks) - 1, depth + 1))
    return Document(id=name, text=text, blocks=tuple(blocks), title=_title(draw, text))
