"""The blocks of the body of a Markdown text, from a parser's events."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from merestone.extraction.blocks import BlockTree
from merestone.extraction.markdown_dialects import Dialects, mask_dialects
from merestone.extraction.markdown_mdx import mask_mdx
from merestone.extraction.markdown_tables import write_html_table
from merestone.text.code_points import code_points
from merestone.types import JSON

_MARKER = re.compile(r"[-+*]|\d{1,9}[.)]")
_HEADING_ID = re.compile(r"\s*(?:\{:?[ \t]*[#.][^{}\n]*\}|\{/\*[ \t]*#[^{}\n]*\*/\})\s*\Z")
_CLOSING = re.compile(r"[ \t]#+[ \t]*\Z")
_CALLOUT = re.compile(r">[ \t]*\[!(?P<name>[\w-]+)[^\]\r\n]*\]")
_LINE = re.compile(r"[^\r\n]*")
_BOX_INDENT = 4
"""Columns by which the body of an indented box is set off."""

_ENCLOSING = frozenset(
    {"BlockQuote", "Item", "Box", "FootnoteDefinition", "DefinitionListDefinition"}
)
_MARKED = frozenset({"BlockQuote", "Item", "List"})
_INLINE_TAGS = frozenset(
    {"Emphasis", "Strong", "Strikethrough", "Link", "Image", "Superscript", "Subscript"}
)
_INLINE_TEXT = frozenset({"Code", "InlineMath", "InlineHtml", "FootnoteReference"})


@dataclass(slots=True)
class _Definition:
    """The entry of a definition list that is being read."""

    handle: int = -1
    end: int = 0


@dataclass(slots=True)
class _OpenContainer:
    start: int
    end: int
    handle: int
    depth: int
    """Elements of the parser that are open around it."""


class BodyReader:
    """Turns the parser's events into blocks. The parser nests as deeply as the source does, so
    what is open is kept in lists and nothing here calls itself."""

    def __init__(self, text: str, start: int, tree: BlockTree, *, mdx: bool) -> None:
        self._text = text
        self._mdx = mdx
        self._tree = tree
        self._dialects = Dialects(text[start:], start)
        self._open: list[tuple[str, int, int]] = []
        """Tag, handle of its block (-1: none) and end of each element that is open."""
        self._containers: list[_OpenContainer] = []
        self._enclosed = 0
        self._items = 0
        self._heading = -1
        self._watches_words = False
        """True where inline events matter: in headings, and in boxes without a paragraph."""
        self._box_text = -1
        """Paragraph for the words that stand in a box without one."""
        self._box_end = 0
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
            | known.ENABLE_DEFINITION_LIST
        )
        dialects = self._dialects
        if self._mdx:
            mask_mdx(dialects)
        mask_dialects(dialects)
        offsets = code_points(dialects.text.encode("utf-8"), dialects.base)
        event: Any
        for event, place in pyromark.events_with_range(dialects.text, options=options):
            # Most events are inline: they matter in few places, and cost nothing elsewhere.
            if event.__class__ is str:
                if event == "Rule":
                    self._read_rule(offsets[place["start"]], offsets[place["end"]])
            elif "Text" in event:
                if self._watches_words:
                    self._note_words(offsets[place["start"]], offsets[place["end"]])
            elif "End" in event:
                value = event["End"]
                if value.__class__ is not str or value not in _INLINE_TAGS:
                    self._end()
            elif "Start" in event:
                value = event["Start"]
                name = value if value.__class__ is str else next(iter(value))
                if name not in _INLINE_TAGS:
                    details = None if value is name else value[name]
                    self._begin(name, details, offsets[place["start"]], offsets[place["end"]])
                elif self._watches_words:
                    self._note_words(offsets[place["start"]], offsets[place["end"]])
            elif "DisplayMath" in event:
                self._formula = (offsets[place["start"]], offsets[place["end"]])
                self._note_words(*self._formula)
            elif self._watches_words and not _INLINE_TEXT.isdisjoint(event):
                self._note_words(offsets[place["start"]], offsets[place["end"]])
        self._close_containers(0, len(self._text))

    def _begin(self, name: str, value: Any, start: int, end: int) -> None:
        self._settle(start, name)
        if name in _MARKED:
            start = self._past_indent(start)
        handle = -1
        match name:
            case "Paragraph":
                self._formula, self._paragraph_start = None, start
                handle = self._tree.open("paragraph", start)
            case "Heading" if start - _BOX_INDENT in self._dialects.boxes and self._in_box():
                pass
            case "Heading":
                handle = self._begin_heading(int(value["level"][1]), start, end)
            case "BlockQuote":
                handle = self._begin_quote(value, start)
            case "CodeBlock":
                handle = self._begin_code(value, start)
            case "HtmlBlock":
                handle = self._tree.open("paragraph", start, attributes={"html": True})
            case "List" if start in self._dialects.boxes:
                pass
            case "List":
                handle = self._tree.open("list", start, attributes={"ordered": value is not None})
            case "Item" if start in self._dialects.boxes:
                name = "Box"
                handle = self._tree.open("quote", start, attributes=self._dialects.boxes[start])
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
        self._enclosed += name in _ENCLOSING
        self._open.append((name, handle, end))
        self._watches_words = self._heading >= 0 or name == "Box"

    def _end(self) -> None:
        name, handle, end = self._open.pop()
        self._close_containers(len(self._open) + 1, end)
        self._enclosed -= name in _ENCLOSING
        match name:
            case "Item":
                self._items -= 1
            case "Box":
                self._close_box_text()
            case "Heading" if handle >= 0 and handle == self._heading:
                self._end_heading()
            case "Paragraph":
                self._mark_formula(handle, end)
            case "HtmlBlock":
                self._end_html(handle, end)
            case "DefinitionListDefinition":
                self._definitions[-1].end = end
            case "DefinitionList":
                self._close_definition()
                self._definitions.pop()
        self._tree.close(handle, end)
        self._watches_words = self._heading >= 0 or self._in_box()

    def _settle(self, start: int, name: str) -> None:
        """Close what ends where the element ``name`` begins."""
        if self._box_text >= 0:
            self._close_box_text()
        if self._containers and self._containers[-1].end <= start:
            self._close_containers(0, start, ended=True)
        if self._within("DefinitionList") and not name.startswith("DefinitionList"):
            # The parser lets a definition list run on over what comes behind it.
            self._close_definition()

    def _past_indent(self, start: int) -> int:
        """``start`` without the blanks that the parser may count to a block."""
        while self._text[start : start + 1] in (" ", "\t"):
            start += 1
        return start

    def _within(self, name: str) -> bool:
        return bool(self._open) and self._open[-1][0] == name

    def _in_box(self) -> bool:
        return self._within("Box")

    # Containers of dialects

    def _read_rule(self, start: int, end: int) -> None:
        """A rule of the source, or one that stands for the mark of a dialect."""
        dialects = self._dialects
        self._settle(start, "Rule")
        start = self._past_indent(start)
        if start in dialects.openings:
            self._open_container(start)
        elif start in dialects.closings:
            self._close_container(dialects.closings[start])
        elif start in dialects.leaves:
            end, is_code = dialects.leaves[start]
            if is_code:
                self._tree.add("code", start, end, attributes={"language": "javascript"})
            else:
                self._tree.add("paragraph", start, end, attributes={"html": True})
        else:
            self._tree.add("rule", start, end)

    def _open_container(self, start: int) -> None:
        container = self._dialects.openings[start]
        attributes = container.attributes
        if not container.boxed:
            self._tree.add("paragraph", start, container.head_end, attributes=attributes)
            return
        handle = self._tree.open("quote", start, attributes=attributes)
        opened = _OpenContainer(start, container.end, handle, len(self._open))
        self._containers.append(opened)
        self._enclosed += 1

    def _close_container(self, start: int) -> None:
        """Close the container that begins at ``start``, if it is still open."""
        if any(opened.start == start for opened in self._containers[-1:]):
            self._drop_container(self._containers[-1].end)

    def _close_containers(self, depth: int, end: int, *, ended: bool = False) -> None:
        """Close those that were opened inside of ``depth`` elements; with ``ended`` only those
        that end up to ``end``."""
        while self._containers and self._containers[-1].depth >= depth:
            if ended and self._containers[-1].end > end:
                return
            self._drop_container(min(end, self._containers[-1].end))

    def _drop_container(self, end: int) -> None:
        self._tree.close(self._containers.pop().handle, end)
        self._enclosed -= 1

    def _close_box_text(self) -> None:
        self._tree.close(self._box_text, self._box_end)
        self._box_text = -1

    def _close_definition(self) -> None:
        self._tree.close(self._definitions[-1].handle, self._definitions[-1].end)
        self._definitions[-1].handle = -1

    # Blocks

    def _begin_heading(self, level: int, start: int, end: int) -> int:
        if self._enclosed:
            return self._tree.open("paragraph", start)
        handle = self._tree.open("heading", start, level=level, attributes={"content": [end, end]})
        self._heading = handle
        return handle

    def _end_heading(self) -> None:
        """Leave out of the heading's words what closes it, and the name that a brace behind them
        gives it."""
        heading = self._tree.draft(self._heading)
        self._heading = -1
        if heading is None:
            return
        start, end = heading.attributes["content"]
        if self._text.startswith("#", heading.start):
            # CommonMark 0.31.2, section 4.2. The parser takes no tab for white space here.
            line = _LINE.match(self._text, end)
            closing = _CLOSING.search(self._text, start - 1, line.end() if line else end)
            if closing is not None and closing.start() < end:
                words = self._text[start : max(start, closing.start())]
                end = start + len(words.rstrip(" \t"))
                heading.attributes["content"] = [start, end]
        named = _HEADING_ID.search(self._text[start:end])
        if named is not None:
            heading.attributes["content"] = [start, start + named.start()]

    def _begin_quote(self, alert: str | None, start: int) -> int:
        if alert is None:
            callout = _CALLOUT.match(self._text, start)
            alert = callout["name"] if callout else None
        attributes = {"alert": alert.lower()} if alert else None
        return self._tree.open("quote", start, attributes=attributes)

    def _begin_code(self, kind: Any, start: int) -> int:
        info = "" if kind == "Indented" else kind["Fenced"]
        language = info.split(None, 1)[0].strip("{}.") if info.strip() else ""
        if kind == "Indented":
            if self._mdx:
                # In MDX indentation follows the tags around and makes no code.
                return self._tree.open("paragraph", start)
            while start > 0 and self._text[start - 1] in " \t":
                start -= 1
        if language == "math":
            return self._tree.open("formula", start)
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

    def _end_html(self, handle: int, end: int) -> None:
        block = self._tree.draft(handle)
        if block is not None:
            write_html_table(self._tree, self._text, block, block.start, end)

    def _note_words(self, start: int, end: int) -> None:
        """Words of the heading that is open, or of a box."""
        heading = self._tree.draft(self._heading)
        if heading is not None:
            content = heading.attributes["content"]
            first = min(content[0], start)
            last = end if content[0] == content[1] else max(content[1], end)
            heading.attributes["content"] = [first, last]
        elif self._in_box():
            if self._box_text < 0:
                self._box_text = self._tree.open("paragraph", start)
            self._box_end = end

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
