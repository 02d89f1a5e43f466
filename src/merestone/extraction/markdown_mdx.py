"""What MDX adds to Markdown: lines of JavaScript, and tags of JSX that stand alone."""

from __future__ import annotations

import re

from merestone.extraction.markdown_dialects import Dialects, overwritten

_BEGINNING = re.compile(
    r"^(?P<lead>[ \t]*)(?:(?P<module>(?:import|export)\b)|(?P<tag></?[A-Za-z][\w.:-]*|</?>)"
    r"|(?P<expression>\{)|(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*))",
    re.MULTILINE,
)
_MODULE = re.compile(
    r"import\s*(?:[\"'{*]|[\w$]+\s*(?:,|\bfrom\b))"
    r"|export\s+(?:default|const|let|var|function|async|class|type|interface|\*|\{)"
)
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r|\Z)")
_ATTRIBUTES = re.compile(r"(?:[^<>{}\"'`]|\"[^\"]*\"|'[^']*')*")
_QUOTED = re.compile(r"\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*'|`(?:[^`\\]|\\.)*`")
_BRACES = re.compile(r"[{}\"'`]|/\*")
_NEXT_TAG = re.compile(r"[ \t]*(?=<)")
_LINE_END = re.compile(r"[ \t]*(?=[\r\n]|\Z)")
_LONGEST = 5_000
"""Code points that a tag or an expression has at most."""


def mask_mdx(dialects: Dialects) -> None:
    """Overwrite in ``dialects.text`` what is JavaScript.

    What stands between two tags is Markdown.
    """
    edits: list[tuple[int, int, str]] = []
    text, position, fence = dialects.text, 0, ""
    script = _Script(text)
    while match := _BEGINNING.search(text, position):
        position = match.end()
        if match["fence"]:
            fence = _next_fence(fence, match["fence"], match["info"])
            continue
        if fence:
            continue
        start = match.end("lead")
        end = script.end_of(match, start)
        if end is not None and end - start >= 3 and match["lead"].expandtabs(4) < " " * 4:
            is_code = match["module"] is not None
            dialects.leaves[start + dialects.base] = (end + dialects.base, is_code)
            edits.append((start, end, "***"))
            position = end
    dialects.text = overwritten(text, edits)


def _next_fence(fence: str, marks: str, info: str) -> str:
    """The code fence that is open behind a line with ``marks``."""
    if not fence:
        return marks
    closes = marks.startswith(fence) and not info.strip()
    return "" if closes else fence


class _Script:
    """Finds where JavaScript ends. Braces that are never closed are searched for anew from each
    line that seems to begin some, so that the search as a whole has a limit."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = 1_000 + len(text)
        """Braces, strings and comments that may still be looked at."""

    def end_of(self, match: re.Match[str], start: int) -> int | None:
        """Where the JavaScript that begins at ``start`` ends; ``None`` if it is none, or if
        Markdown stands behind it in its last line."""
        if match["module"]:
            if not _MODULE.match(self._text, start) or match["lead"]:
                return None
            return self._end_of_module(start)
        end = self._end_of_braces(start) if match["expression"] else self._end_of_tags(start)
        if end is None or _LINE_END.match(self._text, end) is None:
            return None
        return end

    def _end_of_module(self, start: int) -> int:
        """The first blank line at which no brace is open; the first of all if that isn't near."""
        first = _BLANK_LINE.search(self._text, start)
        if first is None:
            return len(self._text.rstrip())
        blank: re.Match[str] | None = first
        position, depth = start, 0
        while blank is not None and blank.start() - start < _LONGEST:
            while piece := _BRACES.search(self._text, position, blank.start()):
                position, depth = self._past(piece, depth)
            if self._steps < 0:
                break
            if depth <= 0 and position <= blank.start():
                return blank.start()
            blank = _BLANK_LINE.search(self._text, max(position, blank.start() + 1))
        return first.start()

    def _past(self, piece: re.Match[str], depth: int) -> tuple[int, int]:
        """Offset behind a brace, a string or a comment, and the number of braces open there."""
        self._steps -= 1
        sign = piece[0]
        if sign == "{":
            return piece.end(), depth + 1
        if sign == "}":
            return piece.end(), depth - 1
        limit = piece.start() + _LONGEST
        if sign == "/*":
            end = self._text.find("*/", piece.end(), limit)
            return (end + 2 if end >= 0 else piece.end()), depth
        quoted = _QUOTED.match(self._text, piece.start(), limit)
        return (quoted.end() if quoted else piece.end()), depth

    def _end_of_braces(self, start: int) -> int | None:
        """Offset behind the brace that closes the one at ``start``."""
        position, depth = start, 0
        while piece := _BRACES.search(self._text, position, start + _LONGEST):
            position, depth = self._past(piece, depth)
            if depth == 0:
                return position
            if self._steps < 0:
                break
        return None

    def _end_of_tags(self, start: int) -> int | None:
        """Offset behind the tags that follow one another from ``start`` on."""
        position = start
        found: int | None = None
        while position - start < _LONGEST:
            end = self._end_of_tag(position)
            if end is None:
                return found
            found = end
            following = _NEXT_TAG.match(self._text, end)
            if following is None:
                return found
            position = following.end()
        return found

    def _end_of_tag(self, start: int) -> int | None:
        position, limit = start + 1, start + _LONGEST
        while True:
            plain = _ATTRIBUTES.match(self._text, position, limit)
            position = plain.end() if plain else position
            sign = self._text[position : position + 1]
            if sign == ">" and position < limit:
                return position + 1
            if sign != "{":
                return None
            end = self._end_of_braces(position)
            if end is None:
                return None
            position = end
