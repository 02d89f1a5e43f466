"""What dialects of Markdown add to it, put so that a parser of CommonMark sees the structure.

The parser reads a copy of the source in which each mark of a dialect is overwritten, sign for sign,
by a mark of CommonMark that has the same effect: a fence around a container by a rule, the head of
an indented box by the head of a list item. Offsets stay what they are, and where such a mark has no
effect, as inside of code, it is only the copy that says something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from merestone.types import JSON

_SIGNS = ("```", "~~~", ":::", "///", "!!!", "???", "===")
"""Of which every special line holds one."""
_SPECIAL = re.compile(
    r"(?P<lead>[ \t>]*)(?P<item>(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(?:"
    r"(?P<fence>`{3,}(?=[^`\r\n]*(?:[\r\n]|\Z))|~{3,})(?P<info>[^\r\n]*)"
    r"|(?P<colons>:{3,}|/{3,})(?P<head>[^\r\n]*)"
    r"|(?P<box>!!!|\?\?\?\+?|===[!+]?)(?P<title>[ \t]*[\w\"'][^\r\n]*))"
)
_LINE_END = re.compile(r"[\r\n]")
_BOX_TITLE = re.compile(
    r"[ \t]*(?P<name>[\w-]+)(?:[ \t]+[\w-]+)*(?:[ \t]+(?:\"[^\r\n]*\"|'.*'))?\s*"
)
_TAB_TITLE = re.compile(r"[ \t]*(?:\"[^\r\n]+\"|'[^\r\n]+')\s*")
_HEAD = re.compile(r"[ \t]*\{?[ \t]*(?:#[\w-]+[ \t]+)?\.?(?P<name>[A-Za-z][\w:-]*)")
_DIRECTIVE = re.compile(r"[ \t]*\{(?P<name>[A-Za-z][\w:.-]*)\}")
_OPTION = re.compile(r"(?:\r\n|\n|\r)[ \t>]*:[\w-]+:[^\r\n]*")
_COLON_LINE = re.compile(r"(\n[ \t>]*):(?=[^\s-])")

ALERTS = frozenset(
    "note tip info warning danger caution important hint attention error success question failure "
    "bug example quote abstract summary todo seealso admonition details dropdown aside "
    "versionadded versionchanged deprecated".split()
)
"""Names of containers that are boxes beside the text."""
_BODIES = ALERTS | frozenset(
    "tab-set tab-item grid grid-item grid-item-card card topic sidebar margin exercise solution "
    "theorem proof definition lemma epigraph pull-quote container div".split()
)
"""Names of directives whose body is Markdown."""


@dataclass(frozen=True, slots=True)
class Container:
    """A part of the source that a dialect sets off."""

    start: int
    end: int
    attributes: dict[str, JSON]
    boxed: bool
    """True if it is a quote; else only the line that opens it is set off."""
    head_end: int


@dataclass(slots=True)
class Dialects:
    """The copy for the parser, and what was overwritten in it, by offset in the document."""

    text: str
    base: int = 0
    """Offset of the copy in the document's text; all other offsets count from there."""
    boxes: dict[int, dict[str, JSON]] = field(default_factory=dict)
    """Attributes of indented boxes, by where the list item begins that stands for each."""
    openings: dict[int, Container] = field(default_factory=dict)
    """Containers by where the rule begins that stands for their first line."""
    closings: dict[int, int] = field(default_factory=dict)
    """Where each container begins, by where the rule for its last line begins."""
    leaves: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """End of a piece that is no Markdown, and whether it is code, by where its rule begins."""


@dataclass(slots=True)
class _Opened:
    sign: str
    count: int
    match: re.Match[str]
    name: str


def mask_dialects(dialects: Dialects) -> None:
    """Overwrite in ``dialects.text`` the marks of dialects."""
    edits: list[tuple[int, int, str]] = []
    if _may_hold_any(dialects.text):
        _Scan(dialects, edits).run()
        dialects.text = overwritten(dialects.text, edits)
    # The parser takes ":name:" and ":::" for definitions too.
    dialects.text = _COLON_LINE.sub(r"\1x", dialects.text)


def _may_hold_any(source: str) -> bool:
    marks = (
        ":::",
        "///",
        "!!!",
        "???",
        "```{",
        "~~~{",
        "``` {",
        '=== "',
        "=== '",
        '===! "',
        '===+ "',
    )
    return any(mark in source for mark in marks)


def overwritten(text: str, edits: list[tuple[int, int, str]]) -> str:
    """``text`` with each range overwritten by a mark and spaces; line ends stay."""
    parts, position = [], 0
    for start, end, mark in sorted(edits):
        if start < position:
            continue
        parts += [text[position:start], mark]
        parts.append(re.sub(r"[^\r\n]", " ", text[start + len(mark) : end]))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _special_lines(text: str) -> Iterator[re.Match[str]]:
    """Lines that can begin or end something."""
    for start in sorted({line for signs in _SIGNS for line in _lines_with(text, signs)}):
        match = _SPECIAL.match(text, start)
        if match is not None:
            yield match


def _lines_with(text: str, signs: str) -> Iterator[int]:
    """Offsets at which the lines begin that hold ``signs``."""
    place = text.find(signs)
    position = 0
    while place >= 0:
        line = max(text.rfind("\n", position, place), text.rfind("\r", position, place))
        yield line + 1 if line >= 0 else position
        end = _LINE_END.search(text, place)
        if end is None:
            return
        position = end.end()
        place = text.find(signs, position)


class _Scan:
    """Goes through the lines that can begin or end something."""

    def __init__(self, dialects: Dialects, edits: list[tuple[int, int, str]]) -> None:
        self._dialects = dialects
        self._edits = edits
        self._fence: tuple[str, int] | None = None
        """Sign and length of the code fence that is open."""
        self._opened: list[_Opened] = []

    def run(self) -> None:
        for match in _special_lines(self._dialects.text):
            if self._fence is not None:
                self._end_fence(match)
            elif match["fence"]:
                self._read_fence(match)
            elif match["item"]:
                continue
            elif match["colons"]:
                self._read_colons(match)
            else:
                self._read_box(match)

    def _end_fence(self, match: re.Match[str]) -> None:
        assert self._fence is not None
        sign, count = self._fence
        marks = match["fence"] or ""
        if marks[:1] == sign and len(marks) >= count and not match["info"].strip():
            self._fence = None

    def _read_fence(self, match: re.Match[str]) -> None:
        marks, info = match["fence"], match["info"]
        if not info.strip() and self._close(marks[0], len(marks), match):
            return
        directive = _DIRECTIVE.match(info)
        name = directive["name"].lower() if directive else ""
        if name in _BODIES and not match["item"]:
            self._opened.append(_Opened(marks[0], len(marks), match, name))
        else:
            self._fence = (marks[0], len(marks))

    def _read_colons(self, match: re.Match[str]) -> None:
        marks, head = match["colons"], match["head"]
        if not head.strip():
            self._close(marks[0], 0, match)
            return
        named = _HEAD.match(head)
        if named is not None:
            self._opened.append(_Opened(marks[0], 0, match, named["name"].lower()))

    def _close(self, sign: str, count: int, match: re.Match[str]) -> bool:
        """Close the innermost container that this mark can close."""
        places = range(len(self._opened) - 1, max(-1, len(self._opened) - 50), -1)
        for place in places:
            opened = self._opened[place]
            if opened.sign == sign and (count == 0 or opened.count <= count):
                del self._opened[place:]
                self._write(opened, match)
                return True
        return False

    def _write(self, opened: _Opened, closing: re.Match[str]) -> None:
        first, head_end = _marks_start(opened.match), opened.match.end()
        last, end = _marks_start(closing), closing.end()
        bare = opened.name.removeprefix("callout-")
        attributes: dict[str, JSON] = {"directive": opened.name}
        if bare in ALERTS:
            attributes = {"alert": bare, **attributes}
        boxed = bare in ALERTS or opened.sign in "`~"
        while option := _OPTION.match(self._dialects.text, head_end):
            head_end = option.end()
        base = self._dialects.base
        container = Container(first + base, end + base, attributes, boxed, head_end + base)
        self._dialects.openings[first + base] = container
        self._dialects.closings[last + base] = first + base
        self._edits += [(first, head_end, "***"), (last, end, "***")]

    def _read_box(self, match: re.Match[str]) -> None:
        box, title = match["box"], match["title"]
        start = match.start("box")
        if box.startswith("==="):
            if not _TAB_TITLE.fullmatch(title):
                return
            attributes: dict[str, JSON] = {"directive": "tab"}
        else:
            named = _BOX_TITLE.fullmatch(title)
            if named is None:
                return
            name = named["name"].lower()
            attributes = {"alert": name, "directive": name}
        # An item of a kind that is rare, so that it is no part of another list, with an empty
        # heading, so that its first line ends there. Its body is indented by four.
        self._dialects.boxes[start + self._dialects.base] = attributes
        self._edits.append((start, match.end(), "1)  #"))


def _marks_start(match: re.Match[str]) -> int:
    return match.start("fence") if match["fence"] else match.start("colons")
