"""Where one may cut, how good each place is, and what cutting what should stay whole costs.

A boundary has a reason and a strength from 0 to 1. The price of a cut falls with its strength and
rises by a surcharge for each range it would tear: surcharges are prices and not bans, so that a
limit can always be met.
"""

from __future__ import annotations

from merestone.types import Edge

DOCUMENT = Edge("document", 1.0)
BLOCK = Edge("block", 0.6)
LIST_ITEM = Edge("list_item", 0.5)
TABLE_ROW = Edge("table_row", 0.5)
RECORD = Edge("record", 0.5)
LINE = Edge("line", 0.4)
SENTENCE = Edge("sentence", 0.35)
CONTINUATION = Edge("line", 0.2)
"""A line of code at which no statement begins."""
CLAUSE = Edge("clause", 0.25)
BROKEN_SENTENCE = Edge("broken_sentence", 0.2)
"""Between two paragraphs of which the second goes on with the sentence of the first."""
LINE_END = Edge("line", 0.22)
"""A line end inside a sentence that is over the limit, as tables without marks are."""
CELL_END = Edge("line", 0.17)
"""The same before a line of numbers, which belong to the label above them."""
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
BROKEN_SENTENCE_SURCHARGE = 6.0
"""Cutting a sentence between the two paragraphs it was broken into."""
TERM_SURCHARGE = 12.0
"""Cutting the term of a definition off from what defines it."""


def price(edge: Edge) -> float:
    """Price of a cut at ``edge`` where it tears nothing."""
    return 1.0 - edge.strength
