"""The running text of a page: white space as a browser collapses it, and what parts blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from merestone.extraction.html_tree import Characters
from merestone.text.builder import TextBuilder

CELL_SEPARATOR = " | "

_SPACE = " \t\n\f\r"
_WORDS_OR_SPACE = re.compile(r"[ \t\n\f\r]+|[^ \t\n\f\r\0]+(?: [^ \t\n\f\r\0]+)*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_TO_REPLACE = re.compile(r"\r\n|\r|\0")

_INSERTED_LINE = (-1, -1)
"""Stands in held white space for a line break that is an element."""


class TextFlow:
    """Appends the characters of one source to a text.

    What has to stand before the next character is held back until one comes, so that nothing
    stands at the end of the text or before its first character. ``before_text`` is called just
    before characters are appended that begin after such a separator or space.
    """

    def __init__(self, source: str, offset: int, before_text: Callable[[], None]) -> None:
        self.builder = TextBuilder()
        self._source = source
        self._offset = offset
        """Of the first character of ``source`` in the file: 1 behind a byte order mark."""
        self._before_text = before_text
        self._gap = ""
        self._gap_depth = 0
        self._line = ""
        """What a line break element puts here, if one is due."""
        self._space: tuple[int, int] | None = None
        self._held: list[tuple[int, int]] | None = None
        """White space of preformatted text; ``None`` outside of it."""
        self._held_from_start = False
        """True before the first character of preformatted text that is not white space."""

    def __len__(self) -> int:
        return len(self.builder)

    @property
    def is_preformatted(self) -> bool:
        return self._held is not None

    @property
    def line_is_due(self) -> bool:
        """True if a line break element came and no text since."""
        return bool(self._line)

    def part(self, depth: int, separator: str) -> None:
        """Part what is written from what follows, at a boundary of an element this deep.

        Of several boundaries in a row the outermost decides, of equal ones the stronger.
        """
        self._space, self._line = None, ""
        if not len(self.builder):
            return
        stronger = separator.count("\n") > self._gap.count("\n")
        if not self._gap or depth < self._gap_depth or (depth == self._gap_depth and stronger):
            self._gap, self._gap_depth = separator, depth

    def part_cells(self, depth: int) -> None:
        """Part two cells of a row; empty cells add up."""
        self._space, self._line = None, ""
        if not self._gap or depth < self._gap_depth:
            self._gap, self._gap_depth = CELL_SEPARATOR, depth
        elif depth == self._gap_depth and self._gap.startswith(CELL_SEPARATOR):
            self._gap += CELL_SEPARATOR

    def break_line(self, separator: str) -> None:
        """Begin a new line, or whatever ``separator`` puts in its place."""
        if self._held is not None:
            self._held.append(_INSERTED_LINE)
            return
        self._space = None
        if not self._gap and len(self.builder):
            self._line = separator

    def insert(self, text: str) -> None:
        """Append text that the source does not have."""
        if self._gap:
            self.builder.insert(self._gap)
        self._gap = ""
        self.builder.insert(text)

    def begin_preformatted(self) -> None:
        """From here on white space is kept."""
        self._held, self._held_from_start = [], True

    def end_preformatted(self) -> None:
        """White space is collapsed again. What was held is not written."""
        self._held = None

    def write(self, characters: Characters) -> None:
        """Append characters of the source."""
        if self._held is not None:
            self._write_preformatted(characters, self._held)
        elif characters.decoded is not None:
            self._write_reference(characters, characters.decoded)
        else:
            self._write_words(characters.start, characters.end)

    def _write_words(self, start: int, end: int) -> None:
        for match in _WORDS_OR_SPACE.finditer(self._source, start, end):
            if match[0][0] in _SPACE:
                self._space = self._space or match.span()
            else:
                self._flush()
                self.builder.copy(match[0], match.start() + self._offset)

    def _write_reference(self, characters: Characters, decoded: str) -> None:
        if not decoded.strip(_SPACE):
            self._space = self._space or (characters.start, characters.end)
            return
        self._flush()
        self._replace(decoded, characters.start, characters.end)

    def _write_preformatted(self, characters: Characters, held: list[tuple[int, int]]) -> None:
        start, end = characters.start, characters.end
        if characters.decoded is not None:
            self._release(held)
            self._replace(characters.decoded, start, end)
            return
        text = self._source[start:end]
        words = text.strip(_SPACE)
        if not words:
            held.append((start, end))
            return
        first = start + text.index(words[0])
        last = first + len(words)
        held.append((start, first))
        self._release(held)
        self._copy_lines(first, last)
        held.append((last, end))

    def _release(self, held: list[tuple[int, int]]) -> None:
        """Write the white space that was held. Lines before the first that is not blank go."""
        if self._held_from_start:
            held[:] = self._first_indentation(held)
            self._held_from_start = False
            self._space = None
            self._flush()
        for start, end in held:
            if (start, end) == _INSERTED_LINE:
                self.builder.insert("\n")
            else:
                self._copy_lines(start, end)
        held.clear()

    def _first_indentation(self, held: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """What of the held white space stands behind its last line break."""
        for index in range(len(held) - 1, -1, -1):
            if held[index] == _INSERTED_LINE:
                return held[index + 1 :]
            start, end = held[index]
            breaks = [match.end() for match in _LINE_END.finditer(self._source, start, end)]
            if breaks:
                return [(breaks[-1], end), *held[index + 1 :]]
        return held

    def _flush(self) -> None:
        """Write what has to stand before the next text."""
        separator = self._gap or self._line
        if separator:
            self.builder.insert(separator)
        elif self._space is not None and len(self.builder):
            start, end = self._space
            if self._source[start:end] == " ":
                self.builder.copy(" ", start + self._offset)
            else:
                self._replace(" ", start, end)
        self._gap, self._line, self._space = "", "", None
        self._before_text()

    def _copy_lines(self, start: int, end: int) -> None:
        """Copy source characters; CRLF and CR become LF, and zero characters go."""
        for first, last in self._line_parts(start, end):
            text = self._source[first:last]
            if text in ("\r\n", "\r"):
                self._replace("\n", first, last)
            elif text != "\0":
                self.builder.copy(text, first + self._offset)

    def _line_parts(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The range, divided so that what is not copied stands alone."""
        for match in _TO_REPLACE.finditer(self._source, start, end):
            if start < match.start():
                yield start, match.start()
            yield match.span()
            start = match.end()
        if start < end:
            yield start, end

    def _replace(self, text: str, start: int, end: int) -> None:
        self.builder.replace(text, start + self._offset, end + self._offset)
