"""Definitions and statements of source code, as a walk over its syntax tree finds them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from merestone.extraction.source_code_languages import Definition, Language
from merestone.extraction.source_code_parsing import load_grammar
from merestone.types import Span

if TYPE_CHECKING:
    import tree_sitter

_MAX_NESTING = 32
"""Definitions nested deeper are statements of the one around them."""

_LONG_FUNCTION = 2_000
"""Code points above which the functions inside a function are symbols of their own."""
_LONG_COMMENT = 400
"""Code points above which the paragraphs of a comment are places to cut."""
_FEW_LINES = 3
"""Constants, and other definitions that have no body and no comment, count from here on."""
_LONGEST_NAME = 200
_LONGEST_CHAIN = 32
"""Steps from a declaration to its name, as in ``char *(*f)(int)``."""

_VALUE_FIELDS = frozenset({"value", "right", "type", "accessors"})
"""Fields that hold what is defined; a header ends in front of them."""
_FUNCTIONS = frozenset({"function", "method"})
_HOLDERS = frozenset({"class", "interface", "struct", "enum", "trait", "impl"})
_INDENT = re.compile(r"[ \t\f\v\ufeff]*")
# What ends a definition behind its last node, and a comment on the same line.
_TAIL = re.compile(
    r"[ \t]*[;,]*(?:[ \t]*(?://|#|--[ \t])[^\r\n]*|[ \t]*/\*[^\r\n]*?\*/[ \t]*)?(?=\s|\Z)"
)
_LINE_REST = re.compile(r"[ \t]*(?=[\r\n]|\Z)")
_PLAIN_NAME = re.compile(r"[\w$.]+")
_COMMENT_SIGNS = " \t\r\n\f*#/;!-"
_STRING_START = re.compile(r"[rRuUbB]{0,2}[\"']")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition. It begins at its comment and decorators."""

    start: int
    end: int
    name: str
    kind: str
    signature: Span


@dataclass(slots=True)
class Outline:
    """What is known of a source, in document order."""

    symbols: list[Symbol] = field(default_factory=list)
    """An outer one comes before those inside it."""
    statements: list[tuple[int, int]] = field(default_factory=list)
    """Offset and depth of each statement that begins its line; depth counts from 0."""
    docstring: Span | None = None
    """The string or comment that documents the whole file."""


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """A language by the numbers that its grammar gives to the types of nodes."""

    definitions: dict[int, Definition]
    containers: frozenset[int]
    transparent: frozenset[int]
    wrappers: frozenset[int]
    clauses: frozenset[int]
    comments: frozenset[int]
    marks: frozenset[int]
    modifiers: frozenset[int]
    docstrings: frozenset[int]
    telling: frozenset[int]
    """Those that are looked at wherever they stand."""


@cache
def _vocabulary(language: Language) -> _Vocabulary:
    grammar = load_grammar(language)
    numbers: dict[str, list[int]] = {}
    for number in range(grammar.node_kind_count):
        name = grammar.node_kind_for_id(number)
        # Some grammars have several numbers for one name.
        if name is not None and grammar.node_kind_is_named(number):
            numbers.setdefault(name, []).append(number)

    def of(names: frozenset[str]) -> frozenset[int]:
        return frozenset(number for name in names for number in numbers.get(name, ()))

    return _Vocabulary(
        {n: rule for name, rule in language.definitions.items() for n in numbers.get(name, ())},
        of(language.containers | language.transparent),
        of(language.transparent),
        of(language.wrappers),
        of(language.clauses),
        of(language.comments),
        of(language.marks),
        of(language.modifiers),
        of(language.docstrings),
        of(language.wrappers | language.comments | language.marks | language.definitions.keys()),
    )


@dataclass(slots=True)
class _Frame:
    """A node whose children are being visited."""

    depth: int
    """Depth of statements directly below it, or in the nearest container."""
    holds: bool
    """True if its children are statements."""
    wrapped: Span | None = None
    """Range of the outermost wrapper around a definition to come."""
    header: int = -1
    """Where the header of that definition begins; -1: not seen yet."""
    attached: bool = False
    """True if a comment stands right above that wrapper."""


@dataclass(slots=True)
class _Prefix:
    """Comments and decorators on lines of their own, one right below the other."""

    start: int = 0
    end: int = 0
    last_line: int = -2
    is_empty: bool = False
    """True if the last line of it says nothing, as between two paragraphs."""
    is_unlisted: bool = False
    """True if it stands between a header and the body that it belongs to."""


def read_outline(
    tree: tree_sitter.Tree,
    text: str,
    points: Sequence[int],
    starts: Sequence[int],
    language: Language,
) -> Outline:
    """The outline of ``text``, whose lines begin at ``starts``.

    Enters only nodes of several lines and wrappers: nothing else holds what begins a line. So the
    work is in proportion to the lines and what stands directly below such nodes.
    """
    walk = _Walk(text, points, starts, _vocabulary(language))
    cursor = tree.walk()
    frames: list[_Frame] = []
    if not cursor.goto_first_child():
        return walk.outline
    frames.append(_Frame(0, True))
    while True:
        node = cursor.node
        frame = walk.visit(node, frames[-1], len(frames) == 1) if node is not None else None
        if frame is not None and cursor.goto_first_child():
            frames.append(frame)
            continue
        while not cursor.goto_next_sibling():
            frames.pop()
            if not frames:
                return walk.outline
            cursor.goto_parent()


class _Walk:
    """One pass over the nodes in document order."""

    def __init__(
        self, text: str, points: Sequence[int], starts: Sequence[int], words: _Vocabulary
    ) -> None:
        self.outline = Outline()
        self._text = text
        self._points = points
        self._starts = starts
        self._words = words
        self._line = self._first = self._next = 0
        """The current line, where its first sign stands and where the next line begins."""
        self._go_to_line_of(0)
        self._prefix = _Prefix()
        self._open: list[Symbol] = []
        self._documented = False
        self._asked = -1
        self._answer = False
        """What :meth:`_is_attached` said last, and of which offset."""

    def visit(self, node: tree_sitter.Node, frame: _Frame, at_top: bool) -> _Frame | None:
        """Take note of ``node``; what its children are visited with, ``None``: not at all."""
        words, kind = self._words, node.kind_id
        start, end = self._points[node.start_byte], self._points[node.end_byte]
        if start >= self._next:
            self._go_to_line_of(start)
        is_first, is_long = start == self._first, end > self._next
        if start == end or not (is_first or is_long or kind in words.telling):
            if frame.wrapped is not None and frame.header < 0:
                frame.header = start
            return None
        if kind in words.comments or kind in words.marks:
            if is_first:
                self._take_prefix(node, Span(start, end), frame)
            return None
        attached = self._is_attached(start, is_first)
        if frame.wrapped is not None and frame.header < 0:
            frame.header = start
        if node.is_named and is_first:
            if frame.holds:
                if attached and self._prefix.is_unlisted:
                    self._note(self._prefix.start, frame.depth)
                self._note(start, frame.depth + attached)
                if at_top and not self._documented:
                    self._take_docstring(kind, Span(start, end))
                if kind in words.docstrings and is_long:
                    self._note_paragraphs(Span(start, end), frame.depth)
            elif kind in words.clauses:
                self._note(start, frame.depth + 1)
        return self._enter(node, Span(start, end), frame, is_first, is_long, attached)

    def _enter(
        self,
        node: tree_sitter.Node,
        span: Span,
        frame: _Frame,
        is_first: bool,
        is_long: bool,
        attached: bool,
    ) -> _Frame | None:
        words, kind = self._words, node.kind_id
        is_free = frame.holds and (is_first or attached)
        if kind in words.definitions and (is_free or frame.wrapped is not None):
            self._define(node, words.definitions[kind], span, frame, attached)
        if kind in words.wrappers and (is_free or frame.wrapped is not None):
            if _holds_one(node, words):
                whole = frame.wrapped or Span(
                    self._prefix.start if attached else span.start, span.end
                )
                header = frame.header if frame.wrapped is not None else -1
                return _Frame(frame.depth, False, whole, header, attached or frame.attached)
            return _Frame(frame.depth + 1, True) if is_long else None
        if kind in words.containers and (is_long or is_first):
            return _Frame(frame.depth + (kind not in words.transparent), True)
        if not is_long:
            return None
        return _Frame(frame.depth, node.is_error)

    def _define(
        self,
        node: tree_sitter.Node,
        rule: Definition,
        span: Span,
        frame: _Frame,
        attached: bool,
    ) -> None:
        whole = frame.wrapped or Span(self._prefix.start if attached else span.start, span.end)
        attached = attached or frame.attached
        first = whole.start
        while self._open and self._open[-1].end <= span.start:
            # Where lines end in a way that the grammar does not know, a definition can have
            # swallowed the comment of the next.
            first = max(first, self._open.pop().end)
        around = self._open[-1] if self._open else None
        kind = _kind(node, rule)
        lines = node.end_point.row - node.start_point.row + 1
        body = _body(node, rule, self._words)
        if not self._is_of_note(kind, rule, body is not None, lines, attached, frame, around):
            return
        name = self._name(node, rule)
        if not name or len(name) > _LONGEST_NAME:
            return
        if kind == "constant" and not _PLAIN_NAME.fullmatch(name):
            return
        header = frame.header if frame.wrapped is not None else -1
        signature = self._signature(node, body, rule, header)
        if rule.words:
            written = self._text[signature.start : signature.end].split(name)[0].split()
            kind = next((word for word in rule.words if word in written), kind)
        if kind == "function" and around is not None and around.kind in _HOLDERS:
            kind = "method"
        limit = around.end if around is not None else len(self._text)
        if first > signature.start or whole.end > limit:
            return
        symbol = Symbol(first, self._tail(whole.end, limit), name, kind, signature)
        frame.wrapped = None
        self.outline.symbols.append(symbol)
        self._open.append(symbol)

    def _is_of_note(
        self,
        kind: str,
        rule: Definition,
        has_body: bool,
        lines: int,
        attached: bool,
        frame: _Frame,
        around: Symbol | None,
    ) -> bool:
        if len(self._open) >= _MAX_NESTING or (rule.needs_body and not has_body):
            return False
        if around is not None and around.kind in _FUNCTIONS:
            is_long = around.end - around.start > _LONG_FUNCTION
            return is_long and has_body and kind != "constant" and lines > _FEW_LINES
        if kind == "constant":
            return lines >= _FEW_LINES and frame.depth <= len(self._open)
        return has_body or attached or lines >= _FEW_LINES

    def _name(self, node: tree_sitter.Node, rule: Definition) -> str:
        named = node.child_by_field_name(rule.name)
        if named is None:
            return ""
        for _ in range(_LONGEST_CHAIN):
            inner = named.child_by_field_name("declarator")
            if inner is None and named.type in ("variable_declarator", "reference_declarator"):
                inner = named.child_by_field_name("name") or named.named_child(0)
            if inner is None:
                break
            named = inner
        start, end = self._points[named.start_byte], self._points[named.end_byte]
        return " ".join(self._text[start : min(end, start + 2 * _LONGEST_NAME)].split())

    def _signature(
        self,
        node: tree_sitter.Node,
        body: tree_sitter.Node | None,
        rule: Definition,
        header: int,
    ) -> Span:
        """The header alone: from behind the decorators to the body, the comments in front of the
        body left out."""
        words = self._words
        start, end = -1, node.start_byte
        limit = node.end_byte if body is None else body.start_byte
        for child in _parts(node, limit, words):
            if child.start_byte >= limit:
                break
            if child.kind_id in words.marks:
                continue
            if start < 0:
                start = child.start_byte
            if child.kind_id not in words.comments and child.end_byte > child.start_byte:
                end = min(child.end_byte, limit)
        if start < 0:
            start, end = node.start_byte, limit
        first = self._points[start] if header < 0 else min(header, self._points[start])
        last = max(first, self._points[end])
        while last > first and self._text[last - 1] in " \t\r\n;={":
            last -= 1
        return Span(first, last)

    def _tail(self, end: int, limit: int) -> int:
        """Behind what ends the definition on its last line."""
        match = _TAIL.match(self._text, end, limit)
        if match is not None and _LINE_REST.match(self._text, match.end(), limit):
            return match.end()
        return end

    def _take_prefix(self, node: tree_sitter.Node, span: Span, frame: _Frame) -> None:
        text, prefix = self._text, self._prefix
        end = span.end
        while end > span.start and text[end - 1].isspace():
            end -= 1
        line = self._line
        goes_on = line == prefix.last_line + 1
        if not goes_on:
            prefix.start, prefix.is_unlisted = span.start, not frame.holds
        is_comment = node.kind_id in self._words.comments
        if frame.holds and (not goes_on or prefix.is_empty):
            self._note(span.start, frame.depth + goes_on)
        last = line
        while last + 1 < len(self._starts) and self._starts[last + 1] < end:
            last += 1
        if is_comment and frame.holds and last > line:
            self._note_paragraphs(Span(span.start, end), frame.depth)
        prefix.end, prefix.last_line = end, last
        prefix.is_empty = (
            is_comment and last == line and not text[span.start : end].strip(_COMMENT_SIGNS)
        )

    def _is_attached(self, start: int, is_first: bool) -> bool:
        """True if comments or decorators stand right above ``start``, or in front of it on a line
        that they begin."""
        if start != self._asked:
            prefix, line = self._prefix, self._line
            self._asked = start
            self._answer = prefix.last_line + 1 == line if is_first else False
            if prefix.last_line == line:
                self._answer = not self._text[prefix.end : start].strip()
                # No second look behind the same comment: a line can be as long as the file.
                prefix.last_line = -2
        return self._answer

    def _take_docstring(self, kind: int, span: Span) -> None:
        self._documented = True
        if kind in self._words.docstrings and _STRING_START.match(self._text, span.start):
            self.outline.docstring = span

    def _note_paragraphs(self, span: Span, depth: int) -> None:
        """The lines of a long comment or docstring that follow a blank one."""
        text, starts = self._text, self._starts
        is_string = _STRING_START.match(text, span.start) is not None
        is_comment = not text[span.start].isalnum() and text[span.start] not in "\"'_([{"
        if span.end - span.start <= _LONG_COMMENT or not (is_string or is_comment):
            return
        was_blank = False
        line = self._line + 1
        while line < len(starts) and starts[line] < span.end:
            end = starts[line + 1] if line + 1 < len(starts) else len(text)
            is_blank = not text[starts[line] : end].strip(_COMMENT_SIGNS)
            if was_blank and not is_blank:
                self._note(self._first_of(line), depth + 1)
            was_blank = is_blank
            line += 1

    def _note(self, offset: int, depth: int) -> None:
        found = self.outline.statements
        if (not found or offset > found[-1][0]) and not self._text[offset].isspace():
            found.append((offset, depth))

    def _go_to_line_of(self, start: int) -> None:
        """Make the line of ``start`` the current one; it never goes back."""
        line, starts = self._line, self._starts
        while line + 1 < len(starts) and starts[line + 1] <= start:
            line += 1
        self._line, self._first = line, self._first_of(line)
        self._next = starts[line + 1] if line + 1 < len(starts) else len(self._text) + 1

    def _first_of(self, line: int) -> int:
        match = _INDENT.match(self._text, self._starts[line])
        return match.end() if match else self._starts[line]


def _holds_one(node: tree_sitter.Node, words: _Vocabulary) -> bool:
    """True if a wrapper holds one thing, decorators and what precedes the last one apart."""
    count = node.named_child_count
    if count <= 1:
        return True
    kinds = [child.kind_id for child in node.named_children]
    return sum(kind in words.definitions or kind in words.wrappers for kind in kinds) <= 1


def _kind(node: tree_sitter.Node, rule: Definition) -> str:
    deciding = node.child_by_field_name(rule.value) if rule.kinds else None
    for _ in range(_LONGEST_CHAIN):
        if deciding is None:
            break
        if deciding.type in rule.kinds:
            return rule.kinds[deciding.type]
        deciding = deciding.child_by_field_name("declarator")
    return rule.kind


def _body(node: tree_sitter.Node, rule: Definition, words: _Vocabulary) -> tree_sitter.Node | None:
    """What the header ends in front of."""
    found = node.child_by_field_name("body")
    if found is not None:
        return found
    if node.kind_id in words.containers:
        return node.named_child(1) if node.named_child_count > 1 else None
    value = node.child_by_field_name(rule.value) if rule.value else None
    if value is None:
        return _container_in(node, words)
    if value.type not in rule.kinds:
        return value if rule.value in _VALUE_FIELDS else None
    if value.kind_id in words.containers:
        return next((child for child in value.children if child.type == "{"), value)
    return value.child_by_field_name("body") or _container_in(value, words)


def _container_in(node: tree_sitter.Node, words: _Vocabulary) -> tree_sitter.Node | None:
    last = node.named_child_count - 1
    child = node.named_child(last) if last >= 0 else None
    return child if child is not None and child.kind_id in words.containers else None


def _parts(node: tree_sitter.Node, limit: int, words: _Vocabulary) -> list[tree_sitter.Node]:
    """The pieces of a header: the node's children, those of modifiers and of the child that the
    body lies in taken apart."""
    found: list[tree_sitter.Node] = []
    for child in node.children:
        if child.start_byte >= limit:
            break
        if child.kind_id in words.modifiers:
            found.extend(child.children)
        elif child.end_byte > limit:
            found.extend(_parts_before(child, limit))
        else:
            found.append(child)
    return found


def _parts_before(node: tree_sitter.Node, limit: int) -> list[tree_sitter.Node]:
    found = [child for child in node.children if child.start_byte < limit]
    return found or [node]
