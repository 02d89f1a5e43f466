"""Links that open a source at the place of a passage.

Web pages by text fragments (WICG, "URL Fragment Text Directives"), PDFs by the page (RFC 8118),
text files as ``path:line``, which terminals and editors know, or by an editor's own kind of URL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote_to_bytes, urldefrag, urlsplit

from merestone.types import Citation, bare_type

_PDF = "application/pdf"
_PAGES = ("text/html", "application/xhtml+xml")
_WHOLE_CHARACTERS = 200
"""A longer quote is named by its first and last words."""
_WORDS = 7
_CLEAR_WORDS = 4
"""Fewer words may stand elsewhere on the page: those around them are given too."""
_NEAR_WORDS = 4
_AROUND = 80
"""Code points that are looked at on each side."""
_MARK = re.compile(r"^\s*(?:[-*+•·▪]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s+)+")
"""What our text of a page puts before items and headings, and the page does not show as text."""
_CELLS = re.compile(r"\s*[|\t]\s*")


def link_to(citation: Citation, media_type: str, text: str, editor: str = "") -> str:
    """What opens the source of ``citation`` at its place; empty if nothing does.

    ``text`` is that of the document. ``editor`` is the form of links to files, such as
    ``vscode://file{path}:{line}``; empty: ``path:line``.
    """
    address = citation.uri
    scheme = urlsplit(address).scheme if address else ""
    kind = bare_type(media_type)
    if not scheme:
        return ""
    if kind == _PDF:
        page = f"#page={citation.pages[0]}" if citation.pages else ""
        return urldefrag(address).url + page
    if scheme in ("http", "https") or (scheme == "file" and kind in _PAGES):
        directive = text_directive(citation.quote, text, citation.start, citation.end)
        return with_directive(address, directive)
    if scheme == "file" and not urlsplit(address).fragment:
        return _file_link(local_path(address), citation.lines, editor)
    return address


def with_directive(address: str, directive: str) -> str:
    """``address`` with a text directive behind its own fragment, if it has one."""
    if not directive:
        return address
    plain, fragment = urldefrag(address)
    return f"{plain}#{fragment.partition(':~:')[0]}:~:{directive}"


def text_directive(quote: str, text: str, start: int, end: int) -> str:
    """``text=[prefix-,]start[,end][,-suffix]`` for ``quote``, which is ``text[start:end]``; empty
    where it holds no words.

    A match must not reach over the blocks of a page, so a quote of several lines is named by its
    first and last words, and words around it are given only where it could be taken for another.
    """
    pieces = _pieces(quote)
    if not pieces:
        return ""
    if len(pieces) == 1 and len(pieces[0]) <= _WHOLE_CHARACTERS:
        parts, first = [pieces[0]], pieces[0]
    else:
        first = _first_words(pieces[0])
        last = _last_words(pieces[-1])
        parts = [first, last]
    prefix = suffix = ""
    if len(first.split()) < _CLEAR_WORDS or _stands_before(first, text, start):
        first_shown, last_shown = max(0, start - _AROUND), end + _AROUND
        prefix = _around(text[first_shown:start], is_before=True, is_cut=first_shown > 0)
        if len(parts) == 1:
            is_cut = last_shown < len(text)
            suffix = _around(text[end:last_shown], is_before=False, is_cut=is_cut)
    written = ",".join(map(_encoded, parts))
    before = f"{_encoded(prefix)}-," if prefix else ""
    after = f",-{_encoded(suffix)}" if suffix else ""
    return f"text={before}{written}{after}"


def local_path(address: str) -> str:
    """The path that a ``file:`` URL names, in the manner of this system."""
    parts = urlsplit(address)
    path = os.fsdecode(unquote_to_bytes(parts.path))
    if re.match(r"/[A-Za-z]:/", path):
        return path[1:]
    return f"//{parts.netloc}{path}" if parts.netloc not in ("", "localhost") else path


def _file_link(path: str, lines: tuple[int, int] | None, editor: str) -> str:
    line = str(lines[0]) if lines else ""
    if not editor:
        return f"{path}:{line}" if line else path
    rooted = path if path.startswith("/") else f"/{path}"
    written = percent_encoded(rooted, safe="/:", errors="surrogateescape")
    return editor.replace("{path}", written).replace("{line}", line or "1")


def _pieces(quote: str) -> list[str]:
    """Lines and cells of the quote that hold words, as the page shows them."""
    lines = (_MARK.sub("", line) for line in quote.splitlines())
    cells = (" ".join(cell.split()) for line in lines for cell in _CELLS.split(line))
    return [cell for cell in cells if any(map(str.isalnum, cell))]


def _first_words(piece: str) -> str:
    return _cut(piece.split(" ")[:_WORDS], piece, is_first=True)


def _last_words(piece: str) -> str:
    return _cut(piece.split(" ")[-_WORDS:], piece, is_first=False)


def _cut(words: Sequence[str], piece: str, *, is_first: bool) -> str:
    found = " ".join(words)
    if len(found) <= _WHOLE_CHARACTERS:
        return found
    # Writing without spaces: any place will do.
    return piece[:40] if is_first else piece[-40:]


def _stands_before(first: str, text: str, start: int) -> bool:
    """True if the page shows the words above the passage too, where a browser would stop."""
    words = r"\s+".join(map(re.escape, first.split()))
    found = re.search(words, text[:start], re.IGNORECASE)
    return found is not None


def _around(text: str, *, is_before: bool, is_cut: bool) -> str:
    """Whole words that touch the passage: on its line, as they stand, else of the next that holds
    any. ``is_cut``: the far end of ``text`` may be within a word."""
    lines = text.splitlines() or [""]
    at = -1 if is_before else 0
    if any(map(str.isalnum, _CELLS.split(lines[at])[at])):
        words = _CELLS.split(lines[at])[at].split()
        is_whole = len(lines) > 1 or len(_CELLS.split(lines[at])) > 1
    else:
        pieces = _pieces(text)
        words = pieces[at].split() if pieces else []
        is_whole = len(pieces) > 1
    if is_cut and not is_whole:
        words = words[1:] if is_before else words[:-1]
    return " ".join(words[-_NEAR_WORDS:] if is_before else words[:_NEAR_WORDS])


def _encoded(words: str) -> str:
    """Percent-encoded, with what would part the directive."""
    return percent_encoded(words, safe="", errors="replace").replace("-", "%2D")
