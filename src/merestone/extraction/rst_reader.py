"""The blocks of a reStructuredText source.

The markup is that of the reStructuredText specification of docutils, with the directives of Sphinx.
Where a source breaks the rules the reader takes what its author sees: lines that hang are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from merestone.extraction.blocks import MAX_DEPTH, BlockTree
from merestone.extraction.rst_directives import (
    Directive,
    language_of,
    read_directive,
)
from merestone.extraction.rst_lines import BLANK, Lines, width
from merestone.extraction.rst_tables import (
    Table,
    csv_cells,
    csv_table,
    grid_table,
    list_table,
    simple_table,
    write_table,
)
from merestone.types import JSON, Block, BlockKind, Span

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*")
_BULLET = re.compile(r"(?P<marker>[-+*•‣⁃])(?:\s+|$)")
_ENUMERATOR = re.compile(
    r"(?P<marker>(?P<open>\(?)(?:\d+|[a-zA-Z]|[ivxlcdm]+|[IVXLCDM]+|#)(?P<close>[.)]))(?:\s+|$)"
)
_FIELD = re.compile(r":(?![:\s])(?P<name>(?:[^:\\]|\\.|:(?![`\s]|$))*)(?<!\s):(?:\s+|$)")
_OPTION_NAME = (
    r"(?:-[a-zA-Z0-9?](?: ?(?:[a-zA-Z][\w-]*|<[^<>]+>))?"
    r"|--?[a-zA-Z][\w-]*(?:[ =](?:[a-zA-Z][\w-]*|<[^<>]+>))?|/[A-Z](?: ?\w[\w-]*)?)"
)
_OPTION = re.compile(rf"(?P<names>{_OPTION_NAME}(?:, {_OPTION_NAME})*)(?:\s{{2,}}|$)")
_EXPLICIT = re.compile(r"\.\.(?:\s+|$)")
_DIRECTIVE = re.compile(r"(?P<name>(?!_)\w+(?:[-._+:]\w+)*) ?::(?:\s+|$)")
_SUBSTITUTION = re.compile(r"\|(?P<name>(?!\s)[^|]+)(?<!\s)\|\s")
_TARGET = re.compile(r"_(?!\s)(?P<name>`[^`]*`|(?:[^:\\]|\\.|:(?!\s|$))*):(?:\s+|$)")
_ANONYMOUS = re.compile(r"__(?:\s+|$)")
_FOOTNOTE = re.compile(r"\[(?P<label>\d+|#[\w.:+-]*|\*|\w[\w.:+-]*)\](?:\s+|$)")
_LINE_BLOCK = re.compile(r"\|(?:\s+|$)")

_MAX_FRAMES = 3 * MAX_DEPTH
"""Indentation deeper than this is not looked into; it needs no block of its own."""

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(slots=True)
class _Frame:
    """Lines that are being read, all of them inside one block."""

    index: int
    last: int
    base: int
    """Columns that its blocks are indented by."""
    handle: int = -1
    """Block to close at its end; -1: none."""
    sections: bool = False
    """True where headings are headings."""
    glossary: bool = False
    item: int = -1
    """Line at which an item begins; if one paragraph fills it, that is the item itself."""
    captioned: int = -1
    """Figure whose caption the first paragraph is."""
    items: int = 0
    """Lists around it."""
    list_handle: int = -1
    list_sign: str = ""
    list_end: int = 0


class RstReader:
    """Goes through the lines once. What is open is kept in a list and nothing here calls itself."""

    def __init__(self, text: str, first_line: int, lines: Lines, tree: BlockTree) -> None:
        self._text = text
        self._lines = lines
        self._tree = tree
        self._frames = [_Frame(first_line, len(lines), 0, sections=True)]
        self._styles: list[str] = []
        """Adornment of the headings of each level, an overline marked by a second sign."""
        self._language: str | None = None
        """Language of literal blocks, as the last highlight directive says."""
        self._explicit: tuple[tuple[re.Pattern[str], Callable[..., None]], ...] = (
            (_DIRECTIVE, self._read_directive),
            (_FOOTNOTE, self._read_footnote),
            (_TARGET, self._read_target),
            (_SUBSTITUTION, self._read_substitution),
        )

    def read(self) -> tuple[Block, ...]:
        """All blocks of the text."""
        lines, frames = self._lines, self._frames
        while frames:
            frame = frames[-1]
            frame.index = lines.filled_from(frame.index, frame.last)
            if frame.index >= frame.last:
                self._leave(frames.pop())
            else:
                self._read_block(frame)
        return self._tree.blocks(self._text)

    def _leave(self, frame: _Frame) -> None:
        self._close_list(frame)
        if frame.handle >= 0:
            self._tree.close(frame.handle, self._lines.ends[frame.last - 1])

    def _close_list(self, frame: _Frame) -> None:
        if frame.list_handle >= 0:
            self._tree.close(frame.list_handle, frame.list_end)
        frame.list_handle, frame.list_sign = -1, ""

    def _enter(self, first: int, last: int, handle: int, *, items: int) -> _Frame:
        """Read lines ``[first, last)`` next, then close ``handle``."""
        first = self._lines.filled_from(first, last)
        base = self._lines.lowest(first, last)
        self._frames.append(_Frame(first, last, base, handle, items=items))
        return self._frames[-1]

    # One block

    def _read_block(self, frame: _Frame) -> None:
        lines = self._lines
        index, indent = frame.index, lines.indents[frame.index]
        frame.base = min(frame.base, indent)
        words = lines.words[index]
        if indent > frame.base:
            self._close_list(frame)
            self._read_indented(frame)
            return
        if self._begins_item(frame, words):
            return
        self._close_list(frame)
        if words[0].isalnum() or not self._read_marked(frame, words):
            self._read_text(frame)

    def _read_marked(self, frame: _Frame, words: str) -> bool:
        """Read a block that a sign other than a list's begins."""
        match = _EXPLICIT.match(words) or _ANONYMOUS.match(words)
        if match is not None:
            self._read_explicit(frame, match)
            return True
        match = _FIELD.match(words)
        if match is not None:
            self._read_entry(frame, match.span("name"), match.end())
            return True
        match = _OPTION.match(words)
        if match is not None and (match.end() < len(words) or self._hangs(frame)):
            self._read_entry(frame, match.span("names"), match.end())
            return True
        if words == ">>>" or words.startswith(">>> "):
            last = self._lines.blank_from(frame.index, frame.last)
            self._add_code(frame.index, last, "pycon")
            frame.index = last
            return True
        if _LINE_BLOCK.match(words):
            self._add_paragraph(frame, self._lines.blank_from(frame.index, frame.last))
            return True
        return self._read_table(frame) or self._read_ruled(frame, words)

    def _hangs(self, frame: _Frame) -> bool:
        """True if the line below is indented deeper."""
        following = frame.index + 1
        return (
            following < frame.last
            and self._lines.indents[frame.index] < self._lines.indents[following] < BLANK
        )

    def _read_indented(self, frame: _Frame) -> None:
        """What is indented is a quote, or, if it begins with other markup, that markup."""
        lines, index = self._lines, frame.index
        last = lines.end_of(index + 1, frame.last, frame.base + 1)
        frame.index = last
        words = lines.words[index]
        handle = -1
        if not self._is_markup(words):
            handle = self._tree.open("quote", lines.places[index])
            if handle < 0:
                return
        elif len(self._frames) >= _MAX_FRAMES:
            return
        base = min(lines.indents[index], lines.lowest(index + 1, last))
        self._frames.append(_Frame(index, last, base, handle, items=frame.items))

    @staticmethod
    def _is_markup(words: str) -> bool:
        patterns = (_BULLET, _ENUMERATOR, _EXPLICIT, _FIELD, _OPTION)
        return words.startswith(">>> ") or any(pattern.match(words) for pattern in patterns)

    # Lists and entries

    def _begins_item(self, frame: _Frame, words: str) -> bool:
        """Read an item, if the line begins one."""
        match = _BULLET.match(words)
        sign = match["marker"] if match else ""
        if match is None:
            match = _ENUMERATOR.match(words)
            if match is None or not self._may_be_item(frame):
                return False
            sign = match["open"] + match["close"]
        lines, index = self._lines, frame.index
        place, margin = lines.places[index], lines.indents[index]
        last = lines.end_of(index + 1, frame.last, margin + 1)
        if frame.list_handle < 0 or frame.list_sign != sign:
            self._close_list(frame)
            ordered = sign not in "-+*•‣⁃"
            frame.list_handle = self._tree.open("list", place, attributes={"ordered": ordered})
            frame.list_sign = sign
        frame.index, frame.list_end = last, lines.ends[last - 1]
        attributes = {"marker": match["marker"]}
        level = frame.items + 1
        handle = self._tree.open("list_item", place, level=level, attributes=attributes)
        if handle >= 0:
            lines.move(index, match.end())
            self._enter_moved(frame, index, last, handle, level).item = index
        return True

    def _may_be_item(self, frame: _Frame) -> bool:
        """True unless the line below goes on with the sentence that an enumerator seems to begin,
        such as the one of a name's initial."""
        lines, following = self._lines, frame.index + 1
        if following >= frame.last or not lines.words[following]:
            return True
        indent = lines.indents[following]
        if indent != lines.indents[frame.index]:
            return True
        return _ENUMERATOR.match(lines.words[following]) is not None

    def _enter_moved(
        self, frame: _Frame, index: int, last: int, handle: int, items: int | None = None
    ) -> _Frame:
        """Read on behind the marker that line ``index`` was moved over, then close ``handle``."""
        lines = self._lines
        items = frame.items if items is None else items
        if not lines.words[index]:
            return self._enter(index + 1, last, handle, items=items)
        self._frames.append(_Frame(index, last, lines.indents[index], handle, items=items))
        return self._frames[-1]

    def _enter_body(self, frame: _Frame, index: int, last: int, handle: int) -> None:
        """As :meth:`_enter_moved`, where the lines below decide the indentation."""
        lines = self._lines
        below = lines.lowest(lines.filled_from(index + 1, last), last)
        if lines.words[index] and below < BLANK:
            lines.indents[index] = below
        self._enter_moved(frame, index, last, handle)

    def _read_entry(self, frame: _Frame, term: tuple[int, int], length: int) -> None:
        """Read a definition whose term is that part of its first line, and whose body begins
        ``length`` signs on."""
        lines, index = self._lines, frame.index
        place = lines.places[index]
        frame.index = last = lines.end_of(index + 1, frame.last, lines.indents[index] + 1)
        attributes = {"term": [place + term[0], place + term[1]]}
        handle = self._tree.open("definition", place, attributes=attributes)
        if handle < 0:
            return
        lines.move(index, length)
        self._enter_body(frame, index, last, handle)

    # Text

    def _read_text(self, frame: _Frame) -> None:
        lines, index, following = self._lines, frame.index, frame.index + 1
        words = lines.words[index]
        if following < frame.last and lines.words[following]:
            if self._is_underlined(frame):
                self._add_heading(frame, index, following + 1, words, lines.words[following][0])
                return
            if lines.indents[following] > frame.base and not words.endswith("::"):
                self._read_definition(frame, following)
                return
        last = following
        while last < frame.last and lines.words[last] and lines.indents[last] <= frame.base:
            last += 1
        if frame.glossary and last < frame.last and lines.words[last]:
            self._read_definition(frame, last)
            return
        self._add_paragraph(frame, last)

    def _is_underlined(self, frame: _Frame) -> bool:
        lines, index = self._lines, frame.index
        rule = lines.words[index + 1]
        if rule[0] not in _PUNCTUATION or not _ADORNMENT.fullmatch(rule):
            return False
        if lines.indents[index + 1] != lines.indents[index]:
            return False
        return len(rule) >= 4 or (rule != "::" and len(rule) >= width(lines.words[index]))

    def _add_heading(self, frame: _Frame, index: int, last: int, words: str, style: str) -> None:
        """Write lines ``[index, last)`` as a heading, which they are in sections only."""
        lines = self._lines
        frame.index = last
        start, end = lines.places[index], lines.ends[last - 1]
        if not frame.sections:
            self._tree.add("paragraph", start, end)
            return
        if style not in self._styles:
            self._styles.append(style)
        level = self._styles.index(style) + 1
        place = lines.ends[last - 2] - len(words)
        attributes = {"content": [place, place + len(words)]}
        self._tree.add("heading", start, end, level=level, attributes=attributes)

    def _read_ruled(self, frame: _Frame, words: str) -> bool:
        """Read a heading between two lines, or a rule."""
        lines, index, last = self._lines, frame.index, frame.last
        if not _ADORNMENT.fullmatch(words):
            return False
        if index + 1 >= last or not lines.words[index + 1]:
            if len(words) < 4:
                return False
            self._tree.add("rule", lines.places[index], lines.ends[index])
            frame.index = index + 1
            return True
        title = lines.words[index + 1]
        if index + 2 < last and lines.words[index + 2] == words:
            if len(words) < 4 and len(words) < width(title):
                return False
            self._add_heading(frame, index, index + 3, title, words[0] * 2)
            return True
        return False

    def _read_definition(self, frame: _Frame, body: int) -> None:
        """Read a term, which lies in the lines above ``body``, and what is indented below it."""
        lines, index = self._lines, frame.index
        frame.index = last = lines.end_of(body, frame.last, frame.base + 1)
        start = lines.places[index]
        attributes = {"term": [start, lines.ends[body - 1]]}
        handle = self._tree.open("definition", start, attributes=attributes)
        if handle >= 0:
            self._enter(body, last, handle, items=frame.items)

    def _add_paragraph(self, frame: _Frame, last: int) -> None:
        """Write the frame's next lines up to ``last`` as a paragraph, and the literal block that
        it announces."""
        lines, index = self._lines, frame.index
        frame.index = last
        start, end = lines.places[index], lines.ends[last - 1]
        literal_last = 0
        if lines.words[last - 1].endswith("::"):
            literal_last = self._literal_end(frame, last)
        alone = literal_last > 0 and last - index == 1 and lines.words[index] == "::"
        kind: BlockKind = "paragraph"
        if frame.captioned >= 0:
            figure = self._tree.draft(frame.captioned)
            if figure is not None:
                figure.attributes["caption"] = [start, end]
            kind, frame.captioned = "caption", -1
        fills = frame.item == index and lines.filled_from(last, frame.last) >= frame.last
        if not alone and not fills:
            self._tree.add(kind, start, end)
        if literal_last:
            first = index if alone else lines.filled_from(last, literal_last)
            self._add_code(first, literal_last, self._language)
            frame.index = literal_last

    def _literal_end(self, frame: _Frame, last: int) -> int:
        """Number of the line behind the literal block that follows line ``last - 1``; 0 if none
        does."""
        lines = self._lines
        first = lines.filled_from(last, frame.last)
        if first >= frame.last:
            return 0
        if lines.indents[first] > frame.base:
            return lines.end_of(first, frame.last, frame.base + 1)
        sign = lines.words[first][0]
        if first == last or sign not in _PUNCTUATION or lines.indents[first] < frame.base:
            return 0
        end = lines.blank_from(first, frame.last)
        quoted = all(words[0] == sign for words in lines.words[first:end])
        return end if quoted else 0

    def _add_code(
        self, first: int, last: int, language: str | None, caption: Span | None = None
    ) -> None:
        lines = self._lines
        if lines.words[first].startswith(">>>"):
            language = "pycon"
        attributes: dict[str, JSON] = {"language": language} if language else {}
        if caption is not None:
            attributes["caption"] = list(caption)
        # The indentation of the first line is part of the code, a marker before it is not.
        before = self._text[lines.starts[first] : lines.places[first]]
        start = lines.places[first] if before.strip() else lines.starts[first]
        self._tree.add("code", start, lines.ends[last - 1], attributes=attributes)

    def _read_table(self, frame: _Frame) -> bool:
        lines, index = self._lines, frame.index
        table = grid_table(lines, index, frame.last) or simple_table(lines, index, frame.last)
        if table is None:
            return False
        handle = self._tree.open("table", lines.places[index])
        write_table(self._tree, lines, index, table, handle)
        self._tree.close(handle, lines.ends[table.last - 1])
        frame.index = table.last
        return True

    # Explicit markup

    def _read_explicit(self, frame: _Frame, mark: re.Match[str]) -> None:
        lines, index = self._lines, frame.index
        words = lines.words[index]
        frame.index = last = lines.end_of(index + 1, frame.last, lines.indents[index] + 1)
        if words.startswith("__"):
            self._add_plain(index, last, {"target": ""})
            return
        for pattern, action in self._explicit:
            match = pattern.match(words, mark.end())
            if match is not None:
                action(frame, match, index, last)
                return
        if words == ".." and index + 1 < last and not lines.words[index + 1]:
            # An empty comment; what is indented below it does not belong to it.
            frame.index = last = index + 1
        self._add_plain(index, last, {"comment": True})

    def _add_plain(self, index: int, last: int, attributes: dict[str, JSON]) -> None:
        start, end = self._lines.places[index], self._lines.ends[last - 1]
        self._tree.add("paragraph", start, end, attributes=attributes)

    def _read_target(self, frame: _Frame, match: re.Match[str], index: int, last: int) -> None:
        frame.index = last = self._lines.blank_from(index, last)
        self._add_plain(index, last, {"target": match["name"].strip("`_")})

    def _read_substitution(
        self, frame: _Frame, match: re.Match[str], index: int, last: int
    ) -> None:
        self._add_plain(index, last, {"substitution": match["name"]})

    def _read_footnote(self, frame: _Frame, match: re.Match[str], index: int, last: int) -> None:
        place = self._lines.places[index]
        attributes = {"label": match["label"].lstrip("#") or match["label"]}
        handle = self._tree.open("footnote", place, attributes=attributes)
        if handle >= 0:
            self._lines.move(index, match.end())
            self._enter_body(frame, index, last, handle)

    def _read_directive(self, frame: _Frame, match: re.Match[str], index: int, last: int) -> None:
        lines = self._lines
        place = lines.places[index]
        lines.move(index, match.end())
        directive = read_directive(lines, match["name"], index, last)
        argument = self._text[directive.argument.start : directive.argument.end]
        bare = directive.name
        if bare == "highlight":
            words = argument.split()
            self._language = words[0] if words and words[0] not in ("none", "default") else None
        empty = lines.filled_from(directive.body, last) >= last
        end = lines.ends[last - 1]
        named: dict[str, JSON] = {"directive": bare}
        match directive.kind:
            case "code":
                language = language_of(directive, argument) or self._default_language(bare)
                attributes = {**named, "language": language} if language else named
                self._add_leaf("code", place, end, attributes, directive.options.get("caption"))
            case "formula":
                self._add_leaf("formula", place, end, named)
            case "image":
                self._add_leaf("figure", place, end, named)
            case "figure":
                handle = self._tree.open("figure", place, attributes=named)
                if handle >= 0:
                    self._enter(directive.body, last, handle, items=frame.items).captioned = handle
            case "table" | "list_table" | "csv_table":
                self._read_table_directive(frame, directive, place, named)
            case "object" if argument.strip():
                attributes = {"term": list(directive.argument), **named}
                handle = self._tree.open("definition", place, attributes=attributes)
                if handle >= 0:
                    self._enter(directive.body, last, handle, items=frame.items)
            case "admonition" | "change" as kind:
                self._read_admonition(frame, directive, place, kind)
            case "glossary" | "transparent" as kind if not empty:
                self._tree.add("paragraph", place, lines.ends[directive.body - 1], attributes=named)
                inner = self._enter(directive.body, last, -1, items=frame.items)
                inner.sections, inner.glossary = frame.sections, kind == "glossary"
            case "opaque":
                self._add_leaf("paragraph", place, end, named)
            case _ if empty:
                self._add_leaf("paragraph", place, end, named)
            case _:
                handle = self._tree.open("quote", place, attributes=named)
                if handle >= 0:
                    self._enter(directive.body, last, handle, items=frame.items)

    def _default_language(self, name: str) -> str | None:
        return self._language if name in ("code", "code-block", "sourcecode") else None

    def _add_leaf(
        self,
        kind: BlockKind,
        start: int,
        end: int,
        attributes: dict[str, JSON],
        caption: Span | None = None,
    ) -> None:
        if caption is not None:
            attributes = {**attributes, "caption": list(caption)}
        self._tree.add(kind, start, end, attributes=attributes)

    def _read_admonition(self, frame: _Frame, directive: Directive, place: int, kind: str) -> None:
        """A note in a box: its text may begin behind its name."""
        lines, first, last = self._lines, directive.first, directive.last
        attributes = {"alert": directive.name, "directive": directive.name}
        handle = self._tree.open("quote", place, attributes=attributes)
        if handle < 0:
            return
        titled = directive.name == "admonition"
        versions = kind == "change" and len(lines.words[first].split()) <= 2
        if titled:
            self._enter(directive.body, last, handle, items=frame.items)
        elif not directive.options:
            begin = first + 1 if versions or not lines.words[first] else first
            if begin == first:
                self._enter_body(frame, first, last, handle)
            else:
                self._enter(begin, last, handle, items=frame.items)
        else:
            self._enter(directive.body, last, handle, items=frame.items)
            if not versions and lines.words[first]:
                self._enter_body(frame, first, directive.argument_last, -1)

    def _read_table_directive(
        self, frame: _Frame, directive: Directive, place: int, named: dict[str, JSON]
    ) -> None:
        lines, last = self._lines, directive.last
        first = lines.filled_from(directive.body, last)
        table = self._directed_table(directive, first)
        if table is None:
            if first >= last:
                self._add_leaf("paragraph", place, lines.ends[last - 1], named)
                return
            handle = self._tree.open("quote", place, attributes=named)
            if handle >= 0:
                self._enter(first, last, handle, items=frame.items)
            return
        attributes = dict(named)
        if directive.argument.end > directive.argument.start:
            attributes["caption"] = list(directive.argument)
        handle = self._tree.open("table", place, attributes=attributes)
        if "header" in directive.options and directive.kind == "csv_table":
            self._add_header_option(directive, table, handle)
        write_table(self._tree, lines, first, table, handle)
        self._tree.close(handle, lines.ends[last - 1])

    def _directed_table(self, directive: Directive, first: int) -> Table | None:
        lines, last = self._lines, directive.last
        if first >= last:
            return None
        headers = self._number(directive, "header-rows")
        if directive.kind == "list_table":
            return list_table(lines, first, last, headers)
        if directive.kind == "csv_table":
            return csv_table(self._text, lines, first, last, headers, self._delimiter(directive))
        return grid_table(lines, first, last) or simple_table(lines, first, last)

    def _option(self, directive: Directive, name: str) -> str:
        span = directive.options.get(name)
        return self._text[span.start : span.end].strip() if span else ""

    def _number(self, directive: Directive, name: str) -> int:
        value = self._option(directive, name)
        return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 0

    def _delimiter(self, directive: Directive) -> str:
        named = {"tab": "\t", "space": " "}
        value = self._option(directive, "delim")
        return named.get(value, value if len(value) == 1 else ",")

    def _add_header_option(self, directive: Directive, table: Table, handle: int) -> None:
        """The header of a CSV table that stands in an option."""
        span = directive.options["header"]
        draft = self._tree.draft(handle)
        if draft is None or span.start >= span.end:
            return
        cells = [list(cell) for cell in csv_cells(self._text, *span, self._delimiter(directive))]
        table.headers = 0
        draft.attributes["header"] = list(span)
        attributes = {"header": True, "cells": cells}
        self._tree.add("table_row", *span, attributes=attributes)
