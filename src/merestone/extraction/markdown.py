"""Markdown: CommonMark with the tables, footnotes, mathematics and definition lists of its
dialects. The text is the source itself, so everything is offsets."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from merestone.extraction.blocks import BlockTree, with_lead_ins, with_leftovers
from merestone.extraction.encoding import decode
from merestone.extraction.front_matter import read_front_matter
from merestone.extraction.source_text import text_document
from merestone.types import JSON, Block, Document, ExtractionSettings, RawDocument

_MARKER = re.compile(r"[-+*]|\d{1,9}[.)]")
_HEADING_ID = re.compile(r"\s*\{[#.][^{}\n]*\}\s*\Z")
_COLON_LINE = re.compile(r"^[ \t>]*:(?=\S)", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]*")
_LEAD_BYTES = bytes(0 if 0x80 <= byte < 0xC0 else 1 for byte in range(256))

_ENCLOSING = frozenset({"BlockQuote", "Item", "FootnoteDefinition", "DefinitionListDefinition"})
_INLINE_TEXT = ("Text", "Code", "InlineMath", "DisplayMath", "InlineHtml", "FootnoteReference")


class MarkdownExtractor:
    """Reads Markdown, MDX and their like."""

    name = "markdown"
    revision = 1
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
        _BodyReader(text, body_start, tree).read()
        blocks = with_lead_ins(text, with_leftovers(text, tree.blocks(text)))
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


class _CodePoints:
    """Offsets in code points of offsets in UTF-8 bytes, counted once for the whole text."""

    def __init__(self, text: str, base: int) -> None:
        self._base = base
        self._table: array[int] | None = None
        if not text.isascii():
            leads = text.encode("utf-8").translate(_LEAD_BYTES)
            self._table = array("I", accumulate(leads, initial=0))

    def __getitem__(self, offset: int) -> int:
        return self._base + (offset if self._table is None else self._table[offset])


@dataclass(slots=True)
class _Definition:
    """The entry of a definition list that is being read."""

    handle: int = -1
    end: int = 0


class _BodyReader:
    """Turns the parser's events into blocks. The parser nests as deeply as the source does, so
    what is open is kept in lists and nothing here calls itself."""

    def __init__(self, text: str, start: int, tree: BlockTree) -> None:
        self._text = text
        self._source = text[start:]
        self._offset = _CodePoints(self._source, start)
        self._tree = tree
        self._open: list[tuple[str, int, int]] = []
        """Tag, handle of its block (-1: none) and end of each element that is open."""
        self._enclosed = 0
        self._items = 0
        self._heading = -1
        self._formula: tuple[int, int] | None = None
        """Range of the display formula seen in the current paragraph."""
        self._paragraph_start = 0
        self._definitions: list[_Definition] = []
        """One for each definition list that is open."""

    def read(self) -> None:
        import pyromark

        known = pyromark.Options
        options = (
            known.ENABLE_TABLES
            | known.ENABLE_FOOTNOTES
            | known.ENABLE_STRIKETHROUGH
            | known.ENABLE_TASKLISTS
            | known.ENABLE_MATH
            | known.ENABLE_GFM
        )
        if _COLON_LINE.search(self._source) is None:
            # The parser takes ":::" and ":name:" for definitions too.
            options |= known.ENABLE_DEFINITION_LIST
        for event, place in pyromark.events_with_range(self._source, options=options):
            start, end = self._offset[place["start"]], self._offset[place["end"]]
            if isinstance(event, str):
                if event == "Rule":
                    self._tree.add("rule", start, end)
                continue
            ((kind, value),) = event.items()
            if kind == "Start":
                self._begin(value, start, end)
            elif kind == "End":
                self._end()
            elif kind in _INLINE_TEXT:
                self._note_inline(kind, start, end)

    def _begin(self, tag: Any, start: int, end: int) -> None:
        name: str
        value: Any
        name, value = (tag, None) if isinstance(tag, str) else next(iter(tag.items()))
        handle = -1
        if self._within("DefinitionList") and not name.startswith("DefinitionList"):
            # The parser lets a definition list run on over what comes behind it.
            self._close_definition()
        match name:
            case "Paragraph":
                self._formula, self._paragraph_start = None, start
                handle = self._tree.open("paragraph", start)
            case "Heading":
                handle = self._begin_heading(int(value["level"][1]), start, end)
            case "BlockQuote":
                attributes = {"alert": value.lower()} if value else None
                handle = self._tree.open("quote", start, attributes=attributes)
            case "CodeBlock":
                handle = self._begin_code(value, start)
            case "HtmlBlock":
                handle = self._tree.open("paragraph", start, attributes={"html": True})
            case "List":
                handle = self._tree.open("list", start, attributes={"ordered": value is not None})
            case "Item":
                handle = self._begin_item(start)
            case "FootnoteDefinition":
                handle = self._tree.open("footnote", start, attributes={"label": value})
            case "DefinitionList":
                self._definitions.append(_Definition())
            case "DefinitionListTitle":
                self._close_definition()
                self._definitions[-1].handle = self._tree.open(
                    "definition", start, attributes={"term": [start, end]}
                )
                self._definitions[-1].end = end
            case "Table":
                handle = self._tree.open("table", start, attributes={"columns": len(value)})
            case "TableHead" | "TableRow":
                handle = self._begin_row(name == "TableHead", start, end)
            case "TableCell":
                self._add_cell(start, end)
            case _ if self._heading >= 0:
                self._note_inline(name, start, end)
        self._enclosed += name in _ENCLOSING
        self._open.append((name, handle, end))

    def _end(self) -> None:
        name, handle, end = self._open.pop()
        self._enclosed -= name in _ENCLOSING
        if name == "Item":
            self._items -= 1
        elif name == "Heading":
            self._heading = -1
        elif name == "Paragraph":
            self._mark_formula(handle, end)
        elif name == "DefinitionListDefinition":
            self._definitions[-1].end = end
        elif name == "DefinitionList":
            self._close_definition()
            self._definitions.pop()
        self._tree.close(handle, end)

    def _within(self, name: str) -> bool:
        return bool(self._open) and self._open[-1][0] == name

    def _close_definition(self) -> None:
        self._tree.close(self._definitions[-1].handle, self._definitions[-1].end)
        self._definitions[-1].handle = -1

    def _begin_heading(self, level: int, start: int, end: int) -> int:
        if self._enclosed:
            return self._tree.open("paragraph", start)
        handle = self._tree.open("heading", start, level=level, attributes={"content": [end, end]})
        self._heading = handle
        return handle

    def _begin_code(self, kind: Any, start: int) -> int:
        info = "" if kind == "Indented" else kind["Fenced"]
        language = info.split(None, 1)[0].strip("{}.") if info.strip() else ""
        if kind == "Indented":
            while start > 0 and self._text[start - 1] in " \t":
                start -= 1
        attributes = {"language": language} if language else {}
        return self._tree.open("code", start, attributes=attributes)

    def _begin_item(self, start: int) -> int:
        self._items += 1
        marker = _MARKER.match(self._text, start)
        attributes = {"marker": marker[0] if marker else ""}
        return self._tree.open("list_item", start, level=self._items, attributes=attributes)

    def _begin_row(self, header: bool, start: int, end: int) -> int:
        table = self._tree.draft(self._open[-1][1])
        if table is not None and header:
            delimiter = _LINE.match(self._text, end)
            table.attributes["header"] = [start, delimiter.end() if delimiter else end]
        attributes: dict[str, JSON] = {"header": header, "cells": []}
        return self._tree.open("table_row", start, attributes=attributes)

    def _add_cell(self, start: int, end: int) -> None:
        row = self._tree.draft(self._open[-1][1])
        if row is not None:
            row.attributes["cells"].append([start, end])

    def _note_inline(self, kind: str, start: int, end: int) -> None:
        if kind == "DisplayMath":
            self._formula = (start, end)
        heading = self._tree.draft(self._heading)
        if heading is None:
            return
        content = heading.attributes["content"]
        first = min(content[0], start)
        last = end if content[0] == content[1] else max(content[1], end)
        named = _HEADING_ID.search(self._text[first:last])
        heading.attributes["content"] = [first, first + named.start() if named else last]

    def _mark_formula(self, handle: int, end: int) -> None:
        """A paragraph that is one display formula and nothing else is a formula."""
        draft = self._tree.draft(handle)
        if draft is None or self._formula is None:
            return
        outside = (
            self._text[self._paragraph_start : self._formula[0]]
            + self._text[self._formula[1] : end]
        )
        if not outside.strip():
            draft.kind = "formula"


EXTRACTOR = MarkdownExtractor()
