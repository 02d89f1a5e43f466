"""Running headers and footers: lines that repeat at the edges of pages.

A line that is wrongly taken for furniture is lost to search, one that is missed only disturbs, so
each rule here is on the side of keeping a line in the body.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median

from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_page import PageContent

_ZONE = 0.15
"""Share of the page's height at the top and at the bottom in which furniture stands."""
_LINES_IN_ZONE = 4
_SAME_BASELINE = 6.0
_SAME_SIZE = 1.5
_SHARE_OF_PAGES = 0.3
_HEADING_SIZE = 1.15
"""Times the body's type size: a line this large whose number differs may be a heading a page."""
_CLEAR_GAP = 1.3
"""Times the body's line pitch: the least space between furniture and a body set alike."""

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)
_AROUND_NUMBER = "-–—()[]|. "
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class _Candidate:
    line: Line
    top: bool
    key: str
    inner: Line | None
    """The next line towards the middle of the page."""
    outermost: bool


def find_furniture(
    pages: Sequence[PageContent], lines: Mapping[int, Sequence[Line]]
) -> dict[int, set[int]]:
    """Numbers of the lines that are furniture, by page. ``lines`` is by page number."""
    candidates = [
        candidate
        for page in pages
        for candidate in _candidates(page, [line for line in lines[page.number] if line.upright])
    ]
    least = max(2 if len(pages) <= 2 else 3, _SHARE_OF_PAGES * len(pages))
    pitch = _body_pitch(lines.values())
    body = _body_style(lines.values())
    repeated: dict[tuple[int, bool], set[int]] = defaultdict(set)
    for group in [*_groups(candidates), *_numbered_heads(candidates)]:
        on_pages = {candidate.line.page for candidate in group}
        if (
            len(on_pages) >= least
            and _stands_apart(group, pitch, body)
            and not _may_be_headings(group, body)
        ):
            for candidate in group:
                repeated[candidate.line.page, candidate.top].add(candidate.line.number)
    found: dict[int, set[int]] = defaultdict(set)
    for (number, top), chosen in repeated.items():
        if len(lines[number]) > 1:
            found[number] |= _at_edge(lines[number], chosen, top)
    return found


def _at_edge(lines: Sequence[Line], chosen: set[int], top: bool) -> set[int]:
    """The chosen lines that no other line stands beyond."""
    kept: set[int] = set()
    for line in sorted(lines, key=lambda line: line.baseline if top else -line.baseline):
        if line.number in chosen:
            kept.add(line.number)
        elif line.upright:
            break
    return kept


def _candidates(page: PageContent, lines: Sequence[Line]) -> list[_Candidate]:
    height = page.upright_size[1]
    found: list[_Candidate] = []
    for top in (True, False):
        ordered = sorted(lines, key=lambda line: line.baseline if top else -line.baseline)
        zone = [
            line
            for line in ordered[:_LINES_IN_ZONE]
            if (line.baseline <= _ZONE * height if top else line.baseline >= (1 - _ZONE) * height)
        ]
        if not zone and ordered and _is_number(_key(ordered[0].text)):
            # The page of a web page's print ends where its text ends, with the number below.
            zone = ordered[:1]
        for index, line in enumerate(zone):
            inner = next(
                (
                    other
                    for other in ordered[index + 1 :]
                    if abs(other.baseline - line.baseline) > 0.5 * line.size
                ),
                None,
            )
            found.append(_Candidate(line, top, _key(line.text), inner, index == 0))
    return found


def _key(text: str) -> str:
    """The line with its numbers taken out: only they may differ from page to page."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = _NUMBER.sub("#", folded)
    folded = re.sub(r"^[ivxlc]+(?=\W|$)|(?<=\W)[ivxlc]+$", "#", folded)
    return re.sub(r"\s+", " ", folded).strip()


def _is_number(key: str) -> bool:
    return re.sub(r"[^\w#]", "", key) == "#"


def _groups(candidates: Iterable[_Candidate]) -> list[list[_Candidate]]:
    """Candidates that stand alike: same zone, text, height and size."""
    by_key: dict[tuple[bool, str], list[list[_Candidate]]] = defaultdict(list)
    for candidate in candidates:
        if not candidate.key:
            continue
        groups = by_key[candidate.top, candidate.key]
        for group in groups:
            first = group[0].line
            if (
                _at_same_height(group[0], candidate)
                and abs(first.size - candidate.line.size) <= _SAME_SIZE
            ):
                group.append(candidate)
                break
        else:
            groups.append([candidate])
    return [
        _counting(group, _value) if _is_number(group[0].key) else group
        for groups in by_key.values()
        for group in groups
    ]


def _at_same_height(one: _Candidate, other: _Candidate) -> bool:
    """True if both stand alike. A page number may move with the text above it, as it does in
    files made from web pages, if nothing stands beyond it."""
    if _is_number(one.key) and one.outermost and other.outermost:
        return True
    return abs(one.line.baseline - other.line.baseline) <= _SAME_BASELINE


def _numbered_heads(candidates: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Outermost lines at one height that begin or end with the page's number, whatever else they
    say: the name of the chapter, which changes, but is not on one page only."""
    keys = Counter(candidate.key for candidate in candidates)
    groups: dict[tuple[bool, bool, int, float], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        line = candidate.line
        for last in (False, True):
            if (
                candidate.outermost
                and keys[candidate.key] > 1
                and _edge_value(line.text, last) is not None
            ):
                place = round(line.baseline / _SAME_BASELINE), round(line.size)
                groups[candidate.top, last, *place].append(candidate)
    return [
        counting
        for (_, last, _, _), group in groups.items()
        if (counting := _counting(group, partial(_edge_value, last=last)))
    ]


def _edge_value(text: str, last: bool) -> int | None:
    """The number that a line begins or ends with."""
    return _value(text.split(" ")[-1 if last else 0])


def _counting(
    group: Sequence[_Candidate], value_of: Callable[[str], int | None]
) -> list[_Candidate]:
    """Those lines whose number goes up with the page."""
    offsets = [(value_of(item.line.text), item) for item in group]
    counts = Counter(value - item.line.page for value, item in offsets if value is not None)
    if not counts:
        return []
    offset, _ = counts.most_common(1)[0]
    return [
        item for value, item in offsets if value is not None and value - item.line.page == offset
    ]


def _value(text: str) -> int | None:
    digits = _NUMBER.fullmatch(text.strip(_AROUND_NUMBER))
    if digits:
        return int(digits.group()) if len(digits.group()) < 10 else None
    roman = _ROMAN.fullmatch(text.strip(_AROUND_NUMBER))
    return roman_value(roman.group()) if roman else None


def roman_value(text: str) -> int:
    """The value of a roman numeral of i, v, x, l and c; other letters are an error."""
    values = [_ROMAN_DIGITS[char] for char in text.lower()]
    following = [*values[1:], 0]
    return sum(
        -value if value < after else value for value, after in zip(values, following, strict=True)
    )


def _stands_apart(
    group: Sequence[_Candidate], pitch: float, body: tuple[str, float] | None
) -> bool:
    """True if most lines of the group are set otherwise than the body, or stand clear of it."""
    apart = 0
    for candidate in group:
        line, inner = candidate.line, candidate.inner
        other_style = body is None or _style_of(line) != body
        clear = inner is None or abs(inner.baseline - line.baseline) > _CLEAR_GAP * pitch
        apart += other_style or clear
    return 2 * apart > len(group)


def _may_be_headings(group: Sequence[_Candidate], body: tuple[str, float] | None) -> bool:
    """True if the lines are set larger than the body and say the same but for a number: running
    heads are hardly ever larger, while ``Step 1`` and ``Step 2`` head pages of their own."""
    if body is None or _is_number(group[0].key):
        return False
    return len({item.line.text for item in group}) == len(group) > 1 and all(
        item.line.size >= _HEADING_SIZE * body[1] for item in group
    )


def _style_of(line: Line) -> tuple[str, float]:
    return line.style.font, round(line.size * 2) / 2


def _body_style(pages: Iterable[Sequence[Line]]) -> tuple[str, float] | None:
    weights: Counter[tuple[str, float]] = Counter()
    for lines in pages:
        for line in lines:
            weights[_style_of(line)] += len(line.text)
    return weights.most_common(1)[0][0] if weights else None


def _body_pitch(pages: Iterable[Sequence[Line]]) -> float:
    steps = [
        step
        for lines in pages
        for line, following in pairwise(lines)
        if 0.8 * line.size <= (step := following.baseline - line.baseline) <= 2.5 * line.size
    ]
    return median(steps) if steps else 14.0
