"""Headings of a PDF: from its tags, else its outline, else from how lines are set."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_lists import is_section_number, numbered
from merestone.extraction.pdf_page import PageTags
from merestone.extraction.pdf_paragraphs import Block, Part, Typography

TITLE_ENTRY = -1
MIN_OUTLINE = 3
"""An outline of fewer entries names files or parts, not sections."""
_TAG_COVERAGE = 0.8
"""Share of the characters that tags must hold to be believed."""
_MAX_HEADING_LINES = 3
_MAX_HEADING_CHARS = 200
_LARGER = 1.12
_MAX_LEVEL = 6
_RUN = 4
"""So many candidates of one style in a row are text, not headings."""

_NUMBER_AHEAD = re.compile(r"^(?:(?:\d+|[a-z])(?:\.\d+)*\.?|[ivxlc]+\.)\s+", re.IGNORECASE)
_TITLE_LIKE_FILE = re.compile(
    r"\.(?:docx?|pdf|tex|dvi|ps|eps|indd|qxd|rtf|odt|html?|pptx?|xlsx?|pages|md|txt)$",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(
    r"(?:untitled|unspecified|unknown|no ?title|title|document|dokument|presentation|"
    r"powerpoint presentation|präsentation|slide|print|scan|layout|cover)[\s\-_]*\d*$|"
    r"microsoft (?:word|powerpoint|excel) - |scanned document|about:blank|https?://",
    re.IGNORECASE,
)
_KNOWN = frozenset(
    """abstract acknowledgements acknowledgments acknowledgement appendix appendices background
    bibliography conclusion conclusions contents discussion foreword glossary index introduction
    keywords materialsandmethods methodology methods notation overview preface references
    relatedwork results statementofneed summary supplementarymaterial tableofcontents
    einleitung einführung zusammenfassung inhalt inhaltsverzeichnis literatur schluss anhang
    résumé introducción conclusión referencias bibliographie sommaire""".split()
)


class Entry(NamedTuple):
    """One line of an outline; ``page`` counts from 1."""

    title: str
    level: int
    page: int | None


# Headings that the file names


def mark_tagged(lines: Iterable[Line], tags: Mapping[int, PageTags]) -> bool:
    """Set levels by tags; False, and nothing set, if they hold too little of the text."""
    known = total = 0
    found: list[tuple[Line, int]] = []
    for line in lines:
        own = tags.get(line.page, PageTags())
        levels: dict[int, int] = defaultdict(int)
        for run in line.runs:
            size, number = len(run.text), run.style.marked_content
            total += size
            if number in own.known:
                known += size
            if number in own.headings:
                levels[own.headings[number]] += size
        if levels and 2 * sum(levels.values()) > sum(len(run.text) for run in line.runs):
            found.append((line, max(levels, key=lambda level: levels[level])))
    if not found or known < _TAG_COVERAGE * total:
        return False
    for line, level in found:
        line.level = level
    return True


def mark_outline(lines: Sequence[Line], entries: Sequence[Entry]) -> bool:
    """Set levels of the lines that carry the titles of an outline, found by their text on their
    page; False, and nothing set, if most are not there."""
    finder = _Finder(lines)
    found: list[tuple[list[Line], int]] = []
    for entry in entries:
        pages = [entry.page, entry.page + 1, entry.page - 1] if entry.page else []
        where = finder.find(entry.title, pages)
        if where:
            found.append((where, entry.level))
    if 2 * len(found) < len(entries):
        return False
    for number, (where, level) in enumerate(found, 1):
        for line in where:
            line.level, line.entry = min(level, _MAX_LEVEL), number
    return True


class _Finder:
    """Finds titles among lines; no line is given twice."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._pages: dict[int, list[Line]] = defaultdict(list)
        for line in lines:
            self._pages[line.page].append(line)
        self._keys = {
            page: [key_of(line.text) for line in own] for page, own in self._pages.items()
        }
        self._taken: set[tuple[int, int]] = set()

    def find(self, title: str, pages: Sequence[int]) -> list[Line]:
        wanted = {key for key in (key_of(title), key_of(_without_number(title))) if key}
        for page in pages:
            found = self._on_page(page, wanted)
            if found:
                self._taken.update((page, index) for index in found)
                return [self._pages[page][index] for index in found]
        return []

    def _on_page(self, page: int, wanted: set[str]) -> range | None:
        """The best place of the title: largest type, then first."""
        lines, keys = self._pages.get(page, []), self._keys.get(page, [])
        longest = max((len(key) for key in wanted), default=0)
        best: range | None = None
        for start in range(len(lines)):
            joined = ""
            bare = key_of(_without_number(lines[start].text))
            ahead = len(keys[start]) - len(bare)
            for end in range(start, min(start + 5, len(lines))):
                if (page, end) in self._taken:
                    break
                joined += keys[end]
                if joined in wanted or joined[ahead:] in wanted:
                    found = range(start, end + 1)
                    if best is None or lines[start].size > 1.05 * lines[best.start].size:
                        best = found
                    break
                if len(joined) > longest + 8:
                    break
        return best


def key_of(text: str) -> str:
    """Letters and digits alone, without case, accents kept."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())


def _without_number(text: str) -> str:
    return _NUMBER_AHEAD.sub("", text.strip(), count=1)


# The title


def sensible_title(text: str, name: str) -> str | None:
    """A title from a file's metadata, unless it is a program's placeholder or a file's name."""
    title = " ".join(text.split())
    if len(title) < 3 or not any(char.isalpha() for char in title):
        return None
    if _NO_TITLE.match(title) or _TITLE_LIKE_FILE.search(title):
        return None
    stem = re.sub(r"\.[^.]*$", "", re.split(r"[/:]", name)[-1])
    return None if key_of(title) == key_of(stem) and " " not in title else title


def mark_title(lines: Sequence[Line], title: str) -> list[Line]:
    """Lines of the first pages that carry the title, marked as a heading of level 1 unless they
    are one already."""
    found = _Finder(lines).find(title, [1, 2])
    _mark_as_title(found)
    return found


def find_title(lines: Sequence[Line], typography: Typography) -> list[Line]:
    """The largest text of the first page, if nothing else in the document is set like it."""
    first = [
        line
        for line in lines
        if line.page == 1 and line.upright and len(line.parts) < 3 and _has_letters(line)
    ]
    if not first:
        return []
    size = max(line.size for line in first)
    if size < 1.15 * typography.size:
        return []
    largest = [line for line in first if abs(line.size - size) < 0.3]
    indexes = [first.index(line) for line in largest]
    together = indexes[-1] - indexes[0] == len(indexes) - 1
    font = largest[0].style.font
    elsewhere = any(
        line.page > 1 and abs(line.size - size) < 0.3 and line.style.font == font for line in lines
    )
    if not together or len(largest) > 4 or elsewhere or _numbered_title(largest[0]):
        return []
    _mark_as_title(largest)
    return largest


def _mark_as_title(lines: Sequence[Line]) -> None:
    if any(line.level is not None for line in lines):
        return
    for line in lines:
        line.level, line.entry = 1, TITLE_ENTRY


def _has_letters(line: Line) -> bool:
    return sum(char.isalpha() for char in line.text) >= 3


def _numbered_title(line: Line) -> bool:
    return is_section_number(line.runs[0].text) and len(line.runs) > 1


def put_below_title(lines: Iterable[Line]) -> None:
    """Move the other headings one level down if they share the title's."""
    headings = [line for line in lines if line.level is not None]
    others = [line for line in headings if line.entry != TITLE_ENTRY]
    if len(others) == len(headings) or not any(line.level == 1 for line in others):
        return
    for line in others:
        line.level = min((line.level or 1) + 1, _MAX_LEVEL)


# Headings by how they are set


def accept_marked(blocks: Iterable[Block]) -> None:
    """Make headings of the parts whose lines tags or outline have marked."""
    for block in blocks:
        if isinstance(block, Part) and block.lines[0].level is not None:
            block.kind, block.level = "heading", block.lines[0].level


def find_headings(blocks: Sequence[Block], typography: Typography) -> int:
    """Make headings of the parts that look like it; returns how many were found."""
    candidates = [
        (index, block)
        for index, block in enumerate(blocks)
        if isinstance(block, Part)
        and block.kind == "paragraph"
        and _looks_like_heading(block, typography)
    ]
    candidates = _without_runs(_without_authors(candidates, blocks))
    levels = _levels([part for _, part in candidates])
    titled = any(
        isinstance(block, Part) and block.lines[0].entry == TITLE_ENTRY for block in blocks
    )
    for (_, part), level in zip(candidates, levels, strict=True):
        part.kind, part.level = "heading", min(level + titled, _MAX_LEVEL)
    return len(candidates)


def take_first_as_title(blocks: Sequence[Block]) -> str | None:
    """The heading that the document begins with as its title, put above the others; ``None`` if
    it begins otherwise, or with a heading that a section can have."""
    first = blocks[0] if blocks else None
    if not isinstance(first, Part) or first.kind != "heading" or first.page != 1:
        return None
    if key_of(first.text) in _KNOWN or _NUMBER_AHEAD.match(first.text):
        return None
    others = [
        block
        for block in blocks[1:]
        if isinstance(block, Part) and block.kind == "heading" and block.level is not None
    ]
    first.level = 1
    if any(part.level == 1 for part in others):
        for part in others:
            part.level = min((part.level or 1) + 1, _MAX_LEVEL)
    return first.text


def _looks_like_heading(part: Part, typography: Typography) -> bool:
    text = part.text
    letters = sum(char.isalpha() for char in text)
    first = part.lines[0]
    if (
        not first.upright
        or any(line.gapped for line in part.lines)
        or len(part.lines) > _MAX_HEADING_LINES
        or not 3 <= len(text) <= _MAX_HEADING_CHARS
        or letters < 2
        or 2 * letters < len(text.replace(" ", ""))
        or all(line.mono for line in part.lines)
        or text.endswith((",", ";"))
        or part.lines[-1].hyphen is not None
    ):
        return False
    if part.marker is not None and not part.marker.ordered:
        return False
    size = max(line.max_size for line in part.lines)
    bold = part.bold and not typography.bold and part.size >= typography.size - 0.6
    known = key_of(_without_number(text)) in _KNOWN
    if size > _LARGER * typography.size and part.size > 1.02 * typography.size:
        return not (text.endswith(".") and len(text.split()) > 8)
    if text.endswith(".") and not known and numbered(first.runs[0].text) is None:
        return False
    if bold:
        return len(text.split()) <= 20 and not text.endswith(":")
    other = (
        all(line.italic for line in part.lines)
        or text.isupper()
        or part.lines[0].style.font != typography.font
    )
    if part.size < typography.size - 0.6 or len(part.lines) > 1:
        return False
    words = first.runs
    multi = len(words) > 1 and "." in words[0].text.rstrip(".")
    section = multi and is_section_number(words[0].text) and words[1].text[:1].isupper()
    return known or (other and section and len(text.split()) <= 14)


def _without_authors(
    candidates: Sequence[tuple[int, Part]], blocks: Sequence[Block]
) -> list[tuple[int, Part]]:
    """Names below the title are often set larger than the text, or bold."""
    return [
        (index, part)
        for index, part in candidates
        if not (part.page == 1 and part.lines[0].level is None and _names_people(part))
    ]


def _names_people(part: Part) -> bool:
    text = part.text
    if "@" in text:
        return True
    raised = any(
        run.text.strip(",*†‡").isdigit() and run.style.size < 0.85 * line.size
        for line in part.lines
        for run in line.runs
    )
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 1]
    named = sum(word[0].isupper() or word in ("and", "und", "et") for word in words)
    return (raised or text.count(",") >= 2) and named >= 0.8 * len(words)


def _without_runs(candidates: Sequence[tuple[int, Part]]) -> list[tuple[int, Part]]:
    kept: list[tuple[int, Part]] = []
    run: list[tuple[int, Part]] = []
    for index, part in candidates:
        if run and (run[-1][0] != index - 1 or _style_of(run[-1][1]) != _style_of(part)):
            kept.extend(run if len(run) < _RUN else ())
            run = []
        run.append((index, part))
    kept.extend(run if len(run) < _RUN else ())
    return kept


def _style_of(part: Part) -> tuple[float, bool, bool]:
    size = max(line.max_size for line in part.lines)
    return -round(size * 2) / 2, not part.bold, not part.text.isupper()


def _levels(parts: Sequence[Part]) -> list[int]:
    """Levels by type size and weight; numbers such as ``2.1`` decide where they are given."""
    styles = sorted({_style_of(part) for part in parts})
    levels = [styles.index(_style_of(part)) + 1 for part in parts]
    depths = [_depth(part) for part in parts]
    tops = [level for level, depth in zip(levels, depths, strict=True) if depth == 1]
    top = min(tops) if tops else None
    return _nested(
        level if depth is None or top is None else top + depth - 1
        for level, depth in zip(levels, depths, strict=True)
    )


def _nested(ranks: Iterable[int]) -> list[int]:
    """Depths of headings of these ranks: each lies in the last one before it of a lower rank, so
    that styles of a cover page leave no gap in the levels of the sections."""
    found: list[int] = []
    around: list[int] = []
    for rank in ranks:
        while around and around[-1] >= rank:
            around.pop()
        around.append(rank)
        found.append(len(around))
    return found


def _depth(part: Part) -> int | None:
    runs = part.lines[0].runs
    if len(runs) < 2 or not is_section_number(runs[0].text) or not runs[0].text[0].isdigit():
        return None
    return runs[0].text.rstrip(".").count(".") + 1
