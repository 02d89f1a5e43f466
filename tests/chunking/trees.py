"""Documents with any tree of blocks, as a reader that nobody knows yet might make them."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from merestone.types import JSON, Block, BlockKind, Document, Layer

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
    layers: tuple[tuple[int, int, Layer], ...] = ((0, body, "body"), (body, len(filled), "note"))
    # Ranges are of filled characters, so that no block is blank or ends with white space.
    for low, high, layer in layers:
        pending = [(*part, None) for part in reversed(_parts(draw, low, high))]
        while pending:
            first, last, parent = pending.pop()
            holds = last - first > 2 and draw.random() < 0.5
            kind = draw.choice(_HOLDERS if holds else _LEAVES)
            start, end = filled[first], filled[last - 1] + 1
            level = draw.randrange(1, 8) if kind == "heading" else None
            attributes = _attributes(draw, start, end, filled)
            blocks.append(Block(kind, start, end, level, parent, layer, attributes))
            if holds:
                inner = (first + draw.randrange(2), last - draw.randrange(2))
                parts = [part for part in _parts(draw, *inner) if draw.random() < 0.9]
                pending += [(*part, len(blocks) - 1) for part in reversed(parts)]
    title = text[:30] if draw.random() < 0.3 else None
    return Document(id=name, text=text, blocks=tuple(blocks), title=title)


def _parts(draw: random.Random, first: int, last: int) -> list[tuple[int, int]]:
    """Up to a dozen ranges that tile ``[first, last)``."""
    if first >= last:
        return []
    inner = {draw.randrange(first, last) for _ in range(draw.randrange(12))}
    cuts = sorted({first, last, *inner})
    return list(pairwise(cuts))


def _attributes(draw: random.Random, start: int, end: int, filled: list[int]) -> dict[str, JSON]:
    """Spans as readers give them: of the block's own beginning, or of what stands before it."""
    found: dict[str, JSON] = {}
    for name in _SPANS:
        if draw.random() < 0.15:
            low = filled[draw.randrange(len(filled))] if draw.random() < 0.5 else start
            low = min(low, start)
            high = draw.randint(low, start if low < start else end)
            found[name] = [low, high]
    if "content" in found:
        found["content"] = [start, end]
    return found
