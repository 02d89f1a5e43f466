"""HTML source to a stream of elements and text in which every element is closed, with places.

The tags and texts come from the tokenizer in source order, and elements are closed where the
standard says that a tag implies it. No tree is built, so depth costs nothing, and no text is moved
away from where it stands in the source (as a tree builder moves text out of tables).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from merestone.extraction.html_elements import (
    ASIDE_CLASSES,
    BLOCK,
    BOILERPLATE,
    BOILERPLATE_CLASSES,
    BOILERPLATE_ROLES,
    CELLS,
    CLOSES_PARAGRAPH,
    HEAD_ONLY,
    HEADINGS,
    LINES,
    LISTS,
    SCOPES,
    SECTIONING,
    STOPS_ITEM,
    TABLE_PARTS,
    VOID,
    WITHOUT_TEXT,
)
from merestone.text.lines import line_starts

_EMPTY_RAW = re.compile(
    r"<(?=(?:script|style|title|textarea|iframe|noframes|noembed|xmp)\b[^<>]*/>)\w", re.IGNORECASE
)
_XHTML = re.compile(r"\s*<\?xml|.{,300}<!doctype html public[^>]*xhtml", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Element:
    """One element: its name in lower case and its attributes."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    boilerplate: bool = False
    """True for navigation and the like; for ``form`` only known when it is closed."""
    layout: bool = False
    """True for a table that only lays out the page; only known when it is closed."""
    has_header: bool = False
    has_heading: bool = False
    close: int = -1
    """Place of its :class:`Close` among the events."""

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    @property
    def is_aside(self) -> bool:
        """True for a box set apart from the text, such as a note or a warning."""
        if self.name not in ("div", "section", "details"):
            return False
        named = {name.lower() for name in self.classes} | {self.attributes.get("role", "")}
        return bool(named & ASIDE_CLASSES)


@dataclass(frozen=True, slots=True)
class Open:
    element: Element


@dataclass(frozen=True, slots=True)
class Close:
    element: Element


@dataclass(frozen=True, slots=True)
class Characters:
    """Source characters as they stand, or one character reference with what it stands for."""

    start: int
    end: int
    decoded: str | None = None


Event = Open | Close | Characters


def read_events(source: str, *, xhtml: bool = False) -> list[Event]:
    """The elements and texts of ``source``, with offsets in it. Comments and tags are left out."""
    xhtml = xhtml or _XHTML.match(source) is not None
    # The tokenizer counts in a source whose line ends are LF. Giving it one of the same length
    # makes its places those of the source itself; texts are taken from the source.
    prepared = source.replace("\r\n", " \n").replace("\r", "\n")
    if xhtml:
        # In XML these can be empty; in HTML their text runs on to an end tag that never comes.
        prepared = _EMPTY_RAW.sub("<x", prepared)
    stream = _Stream(xhtml=xhtml)
    for token, place in _tokens(prepared):
        stream.take(token, place)
    return stream.finish()


def _tokens(prepared: str) -> Iterator[tuple[Any, int]]:
    import turbohtml

    starts = line_starts(prepared + "\n.")
    for token in turbohtml.tokenize(prepared, resolve_references=False, capture_source=True):
        yield token, starts[token.line - 1] + token.col


class _Places:
    """Where on the stack the open elements of some kind are, innermost last."""

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}

    def push(self, key: str, place: int) -> None:
        self._places.setdefault(key, []).append(place)

    def pop(self, key: str) -> None:
        self._places[key].pop()

    def last(self, key: str) -> int:
        """Place of the innermost one, -1 if none is open."""
        places = self._places.get(key)
        return places[-1] if places else -1


# Groups of elements whose innermost one is asked for. The names cannot be element names.
_GROUPS = {
    "#scope": SCOPES,
    "#item": STOPS_ITEM,
    "#block": BLOCK | SCOPES | LINES | CELLS,
    "#heading": HEADINGS,
    "#cell": CELLS,
    "#part": TABLE_PARTS,
    "#section": SECTIONING,
    "#foreign": frozenset({"svg", "math"}),
    "#table": frozenset({"table", "template", "html"}),
    "#list": LISTS,
}
_MEMBERSHIP: dict[str, tuple[str, ...]] = {
    name: tuple(group for group, names in _GROUPS.items() if name in names)
    for names in _GROUPS.values()
    for name in names
}


class _Stream:
    """Keeps the stack of open elements and closes those that a tag ends without saying so.

    Each question to the stack ("is a paragraph open, and no table opened since?") is answered by
    comparing two places, so that a deep stack is never walked.
    """

    def __init__(self, *, xhtml: bool) -> None:
        self._xhtml = xhtml
        self._events: list[Event] = []
        self._stack: list[Element] = []
        self._places = _Places()

    def take(self, token: Any, place: int) -> None:
        match int(token.type):
            case 0:
                if token.data.strip():
                    self._leave_head()
                self._events.append(Characters(place, place + len(token.data)))
            case 5:
                self._leave_head()
                end = place + len(token.source)
                self._events.append(Characters(place, end, token.data))
            case 1:
                attributes = {name: value or "" for name, value in reversed(token.attrs or ())}
                self._start(token.tag, attributes, self_closing=token.self_closing)
            case 2:
                self._end(token.tag)

    def finish(self) -> list[Event]:
        """All events, after closing what is still open."""
        self._close_to(0)
        return self._events

    def _leave_head(self) -> None:
        head = self._places.last("head")
        if head == len(self._stack) - 1 and head >= 0:
            self._close_to(head)

    def _start(self, name: str, attributes: dict[str, str], *, self_closing: bool) -> None:
        if name not in HEAD_ONLY:
            self._leave_head()
        if name in ("html", "body", "head") and self._places.last(name) >= 0:
            return
        if name == "body" and self._places.last("head") >= 0:
            self._close_to(self._places.last("head"))
        self._imply_ends(name)
        element = Element(name, attributes)
        self._mark(element)
        self._events.append(Open(element))
        foreign = self._places.last("#foreign") >= 0
        if name in VOID or (self_closing and (self._xhtml or foreign or name in ("svg", "math"))):
            self._close(element)
            return
        place = len(self._stack)
        self._stack.append(element)
        for key in (name, *_MEMBERSHIP.get(name, ())):
            self._places.push(key, place)

    def _imply_ends(self, name: str) -> None:
        last = self._places.last
        if name in CLOSES_PARAGRAPH and last("p") > last("#scope"):
            self._close_to(last("p"))
        if name == "li" and last("li") > last("#item"):
            self._close_to(last("li"))
        elif name in ("dt", "dd"):
            entry = max(last("dt"), last("dd"))
            if entry > last("#item"):
                self._close_to(entry)
        elif name in HEADINGS and last("#heading") == len(self._stack) - 1 >= 0:
            self._close_to(last("#heading"))
        elif name in ("option", "optgroup") and last("option") == len(self._stack) - 1 >= 0:
            self._close_to(last("option"))
        elif name in CELLS:
            self._close_in_table(last("#cell"), last("caption"))
            if last("table") >= 0 and last("tr") < last("table"):
                self._start("tr", {}, self_closing=False)
        elif name == "tr":
            self._close_in_table(last("tr"), last("caption"))
        elif name in TABLE_PARTS:
            self._close_in_table(last("#part"), last("tr"), last("caption"))

    def _close_in_table(self, *places: int) -> None:
        """Close the outermost of these elements that are open in the innermost table."""
        inside = [place for place in places if place > self._places.last("#table")]
        if inside:
            self._close_to(min(inside))

    def _end(self, name: str) -> None:
        if name in ("html", "body"):
            return
        last = self._places.last
        if name == "br":
            self._start("br", {}, self_closing=False)
            return
        place = last("#heading") if name in HEADINGS else last(name)
        if name in CELLS or name == "tr" or name in TABLE_PARTS or name == "caption":
            barrier = last("#table")
        elif name in SCOPES or name in WITHOUT_TEXT:
            barrier = -1
        elif name == "li":
            barrier = max(last("#scope"), last("#list"))
        elif name in BLOCK or name in LINES or name == "select":
            barrier = last("#scope")
        else:
            barrier = last("#block")
        if place >= 0 and place > barrier:
            self._close_to(place)

    def _close_to(self, place: int) -> None:
        """Close the element at this place of the stack and all inside it."""
        while len(self._stack) > place:
            element = self._stack.pop()
            for key in (element.name, *_MEMBERSHIP.get(element.name, ())):
                self._places.pop(key)
            self._close(element)

    def _close(self, element: Element) -> None:
        if element.name == "table":
            self._judge_table(element)
        elif element.name == "form" and not element.boilerplate:
            # Some pages are one form from top to bottom.
            element.boilerplate = not element.has_heading
        element.close = len(self._events)
        self._events.append(Close(element))

    def _judge_table(self, element: Element) -> None:
        """A table that holds headings but no header cells lays out the page. So does one around
        such a table."""
        if element.attributes.get("role", "").lower() in ("presentation", "none") or (
            element.has_heading and not element.has_header
        ):
            element.layout = True
        if element.layout and element.has_heading:
            self._tell("table", "has_heading")

    def _tell(self, name: str, what: str) -> None:
        place = self._places.last(name)
        if place >= 0:
            setattr(self._stack[place], what, True)

    def _mark(self, element: Element) -> None:
        """Note what is known of an element when it is opened, and tell those around it."""
        name, attributes = element.name, element.attributes
        if name in HEADINGS:
            self._tell("table", "has_heading")
        if name in HEADINGS or name in SECTIONING:
            self._tell("form", "has_heading")
        if name in ("th", "thead", "caption"):
            self._tell("table", "has_header")
        element.boilerplate = (
            name in BOILERPLATE
            or (name in ("header", "footer") and self._places.last("#section") < 0)
            or ("hidden" in attributes and name not in ("html", "body"))
            or attributes.get("role", "").strip().lower() in BOILERPLATE_ROLES
            or any(part in BOILERPLATE_CLASSES for part in element.classes)
        )
