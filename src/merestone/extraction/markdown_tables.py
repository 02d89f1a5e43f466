"""Tables beyond those with bars: written in HTML, and the captions of all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from merestone.extraction.blocks import BlockTree, Draft
from merestone.types import JSON, Block

_TABLE = re.compile(r"\s*<table\b[^>]*>(?P<inside>.*)</table\s*>\s*\Z", re.IGNORECASE | re.DOTALL)
_ROW_START = re.compile(r"<tr\b[^>]*>", re.IGNORECASE)
_CELL_START = re.compile(r"<(?P<kind>t[hd])\b[^>]*>", re.IGNORECASE)
_CELL_END = re.compile(r"</t[hd]\s*>|<t[hd]\b|</tr\s*>", re.IGNORECASE)
_CAPTION = re.compile(r"<caption\b[^>]*>(?P<words>.*?)</caption\s*>", re.IGNORECASE | re.DOTALL)
_ANY_TABLE = re.compile(r"</?table\b", re.IGNORECASE)
_ROW_END = re.compile(r"</tr\s*>", re.IGNORECASE)
_SECTION = re.compile(r"</?(?:thead|tbody|tfoot|table)\b[^>]*>", re.IGNORECASE)

_WORDS_OF_CAPTION = re.compile(
    r"(?:[*_]{0,3}(?:Table|Tab\.|Tabelle|Tableau|Tabla|Tabella|Tabela|表)[ \t]*"
    r"[\w.\-–]{0,12}[*_]{0,3}[ \t]*[:.：][*_]{0,3}|:)[ \t]+\S"
)
_LONGEST_CAPTION = 500


def write_html_table(tree: BlockTree, text: str, draft: Draft, start: int, end: int) -> None:
    """Make the open block ``draft``, a block of HTML, a table with rows, if it is one table."""
    match = _TABLE.match(text, start, end)
    if match is None or _ANY_TABLE.search(text, *match.span("inside")):
        return
    first, last = match.span("inside")
    begins = [row.start() for row in _ROW_START.finditer(text, first, last)]
    if not begins:
        return
    draft.kind = "table"
    draft.attributes = {"columns": 0}
    caption = _CAPTION.search(text, first, begins[0])
    if caption is not None:
        draft.attributes["caption"] = list(caption.span("words"))
    header = True
    for begin, following in zip(begins, [*begins[1:], last], strict=True):
        cells, all_heads = _cells(text, begin, following)
        header = header and all_heads
        draft.attributes["columns"] = max(draft.attributes["columns"], len(cells))
        stop = _row_end(text, begin, following)
        if header and following != last:
            draft.attributes["header"] = [begins[0], stop]
        attributes: dict[str, JSON] = {"header": header, "cells": cells}
        tree.add("table_row", begin, stop, attributes=attributes)


def _cells(text: str, start: int, end: int) -> tuple[list[JSON], bool]:
    """Spans of the cells of a row, and whether each is a head."""
    cells: list[JSON] = []
    all_heads = True
    for match in _CELL_START.finditer(text, start, end):
        closing = _CELL_END.search(text, match.end(), end)
        cells.append([match.end(), closing.start() if closing else end])
        all_heads = all_heads and match["kind"].lower() == "th"
    return cells, all_heads and bool(cells)


def _row_end(text: str, start: int, end: int) -> int:
    """Where a row ends, without the tags of the sections of a table behind it."""
    closing = _ROW_END.search(text, start, end)
    if closing is not None:
        return closing.end()
    section = _SECTION.search(text, start, end)
    return section.start() if section is not None else end


def with_captions(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """``blocks`` with ``caption`` on each table that a line just above or below it names."""
    if not any(block.kind == "table" for block in blocks):
        return tuple(blocks)
    found = list(blocks)
    previous: dict[int | None, int] = {}
    """By parent, the last block that was seen."""
    for index, block in enumerate(blocks):
        before = previous.get(block.parent)
        previous[block.parent] = index
        last_row = _last_row(blocks, block, index)
        if last_row is not None and _is_caption(text, found[last_row], "table_row"):
            _name(found, last_row, found[last_row].parent)
        if before is None:
            continue
        if block.kind == "table" and _is_caption(text, found[before], "paragraph"):
            _name(found, before, index)
        named = "caption" in found[before].attributes
        if blocks[before].kind == "table" and not named and _is_caption(text, block, "paragraph"):
            _name(found, index, before)
    return tuple(found)


def _last_row(blocks: Sequence[Block], block: Block, index: int) -> int | None:
    """``index`` if that is the last row of its table."""
    if block.kind != "table_row" or block.attributes.get("header"):
        return None
    following = blocks[index + 1] if index + 1 < len(blocks) else None
    return None if following is not None and following.parent == block.parent else index


def _is_caption(text: str, block: Block, kind: str) -> bool:
    if block.kind != kind or block.end - block.start > _LONGEST_CAPTION or block.layer != "body":
        return False
    if kind == "table_row" and "|" in text[block.start : block.end]:
        return False
    return _WORDS_OF_CAPTION.match(text, block.start, block.end) is not None


def _name(found: list[Block], caption: int, table: int | None) -> None:
    if table is None or "caption" in found[table].attributes:
        return
    block, named = found[caption], found[table]
    found[caption] = replace(block, kind="caption", attributes={})
    attributes = {**named.attributes, "caption": [block.start, block.end]}
    found[table] = replace(named, attributes=attributes)
