"""Where one may cut, how good each place is, and what cutting what should stay whole costs.

A boundary has a reason and a strength from 0 to 1. The price of a cut falls with its strength and
rises by a surcharge for each range it would tear: surcharges are prices and not bans, so that a
limit can always be met.
"""

from __future__ import annotations

from merestone.types import BlockKind, Edge

DOCUMENT = Edge("document", 1.0)
BLOCK = Edge("block", 0.6)
LIST_ITEM = Edge("list_item", 0.5)
TABLE_ROW = Edge("table_row", 0.5)
RECORD = Edge("record", 0.5)
LINE = Edge("line", 0.4)
SENTENCE = Edge("sentence", 0.35)
CLAUSE = Edge("clause", 0.25)
WORD = Edge("word", 0.15)
GRAPHEME = Edge("grapheme", 0.05)
CODE_POINT = Edge("code_point", 0.0)


def section(level: int) -> Edge:
    """The boundary before a heading of ``level``; 0.95 for level 1, less for deeper ones."""
    return Edge("section", max(0.65, 1.0 - 0.05 * level))


HEADING_SURCHARGE = 50.0
"""Cutting a heading off from what it heads."""
LEAD_IN_SURCHARGE = 8.0
"""Cutting a lead-in off from its list, code or table. Less than a block, since a lead-in can go
along as context."""
TERM_SURCHARGE = 12.0
"""Cutting the term of a definition off from what defines it."""

_WHOLE: dict[BlockKind, float] = {
    "paragraph": 10.0,
    "list": 6.0,
    "list_item": 10.0,
    "table": 10.0,
    "code": 10.0,
    "quote": 10.0,
    "caption": 10.0,
    "formula": 10.0,
    "definition": 12.0,
    "footnote": 10.0,
    "front_matter": 10.0,
    "record": 10.0,
    "cell_output": 4.0,
    "symbol": 10.0,
}


def whole_surcharge(kind: BlockKind) -> float:
    """Price of a cut inside a block of ``kind`` that would fit into one chunk."""
    return _WHOLE.get(kind, 0.0)


def price(edge: Edge) -> float:
    """Price of a cut at ``edge`` where it tears nothing."""
    return 1.0 - edge.strength
