"""The structure that a plain text shows by blank lines and indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from merestone.extraction.blocks import BlockTree
from merestone.types import Block

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\n|\r|\Z)")
_BULLET = re.compile(
    r"(?P<marker>[•‣◦▪·*+–-]|o(?= {2})|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+(?![*·•–-](?:\s|$))(?=\S)"
)
_CODE = re.compile(r"[;{}]|[=(\[|&\\]$|^[$#@/>]")
_OPTION = re.compile(r"-{1,2}[A-Za-z0-9?#@:%+][^\s,]*")
_GAP = re.compile(r"\S(?= {2,}\S|\t)")
_SENTENCE_END = (".", "!", "?", ":", ";", "。", "！", "？", ",")
_HANG = 3
"""Columns by which the text of an entry is indented against its head, at least."""
_MAX_HEADS = 8
"""Lines that the head of an entry has at most."""
_TAB = 8
_LONG_LINE = 200
"""Mean length beyond which lines are not wrapped but are paragraphs."""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    """Without white space at the end."""
    indent: int
    """Columns before the first sign."""
    words: str
    """Without white space around; empty for a blank line."""

    @property
    def place(self) -> int:
        """Offset of the first sign."""
        return self.end - len(self.words)


def layout_blocks(text: str, *, structured: bool) -> tuple[Block, ...]:
    """Blocks of ``text``: paragraphs, and where ``structured`` is asked for also lists, and the
    headings and entries of a text that is laid out like a manual page.

    A line that holds only a form feed parts nothing.
    """
    lines = _read_lines(text)
    if not structured:
        tree = BlockTree()
        for first, last in _stanzas(lines):
            _add_paragraphs(tree, lines[first:last])
        return tree.blocks(text)
    manual = _is_manual(lines)
    entries = manual or _has_entries(lines)
    return _LayoutReader(lines, manual=manual, entries=entries).blocks(text)


def _read_lines(text: str) -> list[_Line]:
    lines = []
    position = 0
    while position < len(text):
        match = _LINE.match(text, position)
        assert match is not None
        content = match[1].rstrip()
        words = content.lstrip()
        blank = content[: len(content) - len(words)]
        indent = len(blank) if "\t" not in blank else len(blank.expandtabs(_TAB))
        if words or "\f" not in match[1]:
            end = position + len(content)
            lines.append(_Line(position, end, indent - blank.count("\f"), words))
        position = match.end()
    return lines


def _stanzas(lines: Sequence[_Line]) -> Iterator[tuple[int, int]]:
    """Ranges of lines that blank lines part."""
    first = 0
    for index, line in enumerate(lines):
        if not line.words:
            if first < index:
                yield first, index
            first = index + 1
    if first < len(lines):
        yield first, len(lines)


def _add_paragraphs(tree: BlockTree, lines: Sequence[_Line]) -> None:
    """The lines as one paragraph, or as one each if they are too long to be wrapped lines."""
    length = sum(len(line.words) for line in lines)
    if len(lines) > 1 and length > _LONG_LINE * len(lines):
        for line in lines:
            tree.add("paragraph", line.place, line.end)
    elif lines:
        tree.add("paragraph", lines[0].place, lines[-1].end)


def _is_manual(lines: Sequence[_Line]) -> bool:
    """True for the layout of manual pages: headings in capitals at the margin and the rest
    indented."""
    filled = [line for line in lines if line.words]
    indented = sum(line.indent >= 3 for line in filled)
    if indented < 0.6 * len(filled):
        return False
    return sum(_is_main_heading(lines, index) for index in range(len(lines))) >= 2


def _is_main_heading(lines: Sequence[_Line], index: int) -> bool:
    line = lines[index]
    if line.indent or not line.words or line.words != line.words.upper() or len(line.words) > 80:
        return False
    if sum(sign.isalpha() for sign in line.words) < 2 or (index and lines[index - 1].words):
        return False
    following = _next_filled(lines, index)
    return following is not None and following.indent > 0


def _next_filled(lines: Sequence[_Line], index: int) -> _Line | None:
    return next((line for line in lines[index + 1 : index + 4] if line.words), None)


def _has_entries(lines: Sequence[_Line]) -> bool:
    """True if a text without headings consists to a good part of entries: a short line, and
    below it lines that are indented deeper."""
    entries = held = filled = 0
    for first, last in _stanzas(lines):
        filled += last - first
        head = lines[first]
        deeper = all(line.indent >= head.indent + _HANG for line in lines[first + 1 : last])
        short = len(head.words) <= 60 and not head.words.endswith(_SENTENCE_END)
        if last - first > 1 and deeper and short:
            entries += 1
            held += last - first
    return entries >= 3 and held >= 0.3 * filled


@dataclass(slots=True)
class _Container:
    handle: int
    kind: str
    indent: int
    """Column of its head; what belongs to it is indented deeper."""


class _LayoutReader:
    """Goes through the lines once; what is open is kept in a list."""

    def __init__(self, lines: Sequence[_Line], *, manual: bool, entries: bool) -> None:
        self._lines = lines
        self._manual = manual
        self._entries = entries
        self._tree = BlockTree()
        self._open: list[_Container] = []
        self._end = 0
        """End of the last line that was read."""

    def blocks(self, text: str) -> tuple[Block, ...]:
        """All blocks of the text."""
        for first, last in _stanzas(self._lines):
            self._read_stanza(first, last)
        self._leave(-1)
        return self._tree.blocks(text)

    def _read_stanza(self, first: int, last: int) -> None:
        index = first
        while index < last:
            line = self._lines[index]
            if self._manual and self._read_heading(index, first):
                index += 1
                first = index
                continue
            self._leave(line.indent)
            bullet = _BULLET.match(line.words) if self._may_begin_item(index, first) else None
            if bullet is not None:
                index = self._read_item(index, last, bullet)
                continue
            self._leave_list(line.indent)
            if (head := self._head_lines(index, last)) is not None:
                index = self._read_entry(index, last, *head)
            else:
                index = self._read_paragraph(index, last)

    def _read_heading(self, index: int, first: int) -> bool:
        """Write a heading, if the line is one."""
        line = self._lines[index]
        level = 0
        if _is_main_heading(self._lines, index):
            level = 1
        elif index == first and self._is_subheading(index):
            level = 2
        if level == 0:
            return False
        self._leave(-1)
        attributes = {"content": [line.place, line.end]}
        self._tree.add("heading", line.place, line.end, level=level, attributes=attributes)
        self._end = line.end
        return True

    def _is_subheading(self, index: int) -> bool:
        line = self._lines[index]
        following = _next_filled(self._lines, index)
        return (
            2 <= line.indent <= 4
            and len(line.words) <= 70
            and not line.words.endswith(_SENTENCE_END)
            and not line.words.startswith("-")
            and _BULLET.match(line.words) is None
            and following is not None
            and following.indent >= line.indent + 2
        )

    def _leave(self, indent: int) -> None:
        """Close what a line of this indentation does not belong to."""
        while self._open and indent <= self._open[-1].indent:
            if self._open[-1].kind == "list" and indent == self._open[-1].indent:
                return
            self._tree.close(self._open.pop().handle, self._end)

    def _leave_list(self, indent: int) -> None:
        """Close the list whose items begin at this column, as the line is none of them."""
        if self._in_list() and indent <= self._open[-1].indent:
            self._tree.close(self._open.pop().handle, self._end)

    def _may_begin_item(self, index: int, first: int) -> bool:
        """True unless the line goes on with a sentence of the line above it."""
        if index == first:
            return True
        before = self._lines[index - 1]
        listed = bool(self._open) and self._open[-1].kind in ("list", "list_item")
        return listed or before.words.endswith(":")

    def _in_list(self) -> bool:
        return bool(self._open) and self._open[-1].kind == "list"

    def _read_item(self, index: int, last: int, bullet: re.Match[str]) -> int:
        line = self._lines[index]
        if not self._in_list():
            ordered = any(sign.isalnum() for sign in bullet["marker"]) and bullet["marker"] != "o"
            handle = self._tree.open("list", line.place, attributes={"ordered": ordered})
            self._open.append(_Container(handle, "list", line.indent))
        level = sum(container.kind == "list" for container in self._open)
        attributes = {"marker": bullet["marker"]}
        handle = self._tree.open("list_item", line.place, level=level, attributes=attributes)
        self._open.append(_Container(handle, "list_item", line.indent))
        return self._read_body(index, last)

    def _read_body(self, index: int, last: int) -> int:
        """Take the line and those below it that go on with its text: indented deeper, or as deep
        and no beginning of their own."""
        indent = self._lines[index].indent
        self._end = self._lines[index].end
        index += 1
        while index < last and self._goes_on(index, last, indent):
            self._end = self._lines[index].end
            index += 1
        return index

    def _goes_on(self, index: int, last: int, indent: int) -> bool:
        line = self._lines[index]
        if line.indent < indent or _BULLET.match(line.words):
            return False
        if line.indent == indent:
            return not self._manual and self._open[-1].kind == "list_item"
        # An option that begins a line of running text begins no entry.
        if line.indent == self._lines[index - 1].indent:
            return True
        return self._head_lines(index, last) is None

    def _head_lines(self, index: int, last: int) -> tuple[int, int] | None:
        """Number of lines that are the head of an entry which begins here, and the offset at which
        its term ends; ``None`` if none begins."""
        if not self._entries:
            return None
        line = self._lines[index]
        option = self._manual and _OPTION.match(line.words) is not None
        below = index
        limit = min(last, index + _MAX_HEADS)
        while below + 1 < limit and self._lines[below + 1].indent == line.indent:
            below += 1
        hangs = below + 1 < last and self._lines[below + 1].indent >= line.indent + _HANG
        if option:
            gap = _GAP.search(line.words)
            if gap is not None or not hangs:
                return 1, line.place + (gap.end() if gap else self._option_end(line))
        heads = self._lines[index : below + 1]
        if hangs and self._are_heads(heads):
            return len(heads), heads[-1].end
        return None

    @staticmethod
    def _option_end(line: _Line) -> int:
        match = _OPTION.match(line.words)
        return match.end() if match else len(line.words)

    def _are_heads(self, heads: Sequence[_Line]) -> bool:
        """True for one line, or several short ones or options, that end no sentence."""
        for head in heads:
            if _OPTION.match(head.words):
                continue
            sentence = head.words.endswith((".", ":", "!", "。")) and not head.words.endswith("...")
            if sentence or _CODE.search(head.words) or (len(heads) > 1 and len(head.words) > 45):
                return False
        return True

    def _read_entry(self, index: int, last: int, count: int, term_end: int) -> int:
        head = self._lines[index]
        attributes = {"term": [head.place, term_end]}
        handle = self._tree.open("definition", head.place, attributes=attributes)
        self._open.append(_Container(handle, "definition", head.indent))
        return self._read_body(index + count - 1, last)

    def _read_paragraph(self, index: int, last: int) -> int:
        first = index
        index += 1
        while index < last and not self._breaks_paragraph(index, last, first):
            index += 1
        _add_paragraphs(self._tree, self._lines[first:index])
        self._end = self._lines[index - 1].end
        return index

    def _breaks_paragraph(self, index: int, last: int, first: int) -> bool:
        """True if the line begins a list, or leaves the entry that the paragraph is in."""
        line = self._lines[index]
        if self._open and line.indent <= self._open[-1].indent:
            return True
        introduced = self._lines[index - 1].words.endswith(":")
        if introduced and _BULLET.match(line.words):
            return True
        listed = introduced and _OPTION.match(line.words) is not None
        dedented = line.indent < self._lines[first].indent
        return (listed or dedented) and self._head_lines(index, last) is not None
