"""Where sentences, clauses and words begin: the places at which prose may be cut.

Sentences are those of Unicode TR29, mended where that standard, which knows no words, breaks
wrongly: behind abbreviations, initials and numbers of lists, and at the ends of wrapped lines.
"""

from __future__ import annotations

import re
from itertools import pairwise

from apsw import unicode

from merestone.text.abbreviations import (
    AFTER_DAY,
    BEFORE_NUMBER,
    NEVER_LAST,
    NEVER_LAST_DOTTED,
    STARTERS,
)
from merestone.text.scripts import HAN_AND_KANA, SOUTHEAST_ASIAN

_LOOK = 40
"""Code points looked at on each side of a possible break. Keeps the cost linear."""

_CLOSERS = "\"'”’“‘»›«‹)]}」』）】》〉］｝〕"
_OPENERS = "\"'“‘„‚«‹»›([{「『（【《〈［｛〔¿¡"
_PARAGRAPH_END = "\u2029"

_MAY_END = re.compile(r"[.!?]\W|[\n\r][^\S\n\r]*[\n\r]|[\x1c-\x1f]")
"""In ASCII text nothing else ends a sentence."""
_LINE_ENDS = re.compile(r"[\n\r\x85\u2028\u2029]\s*")
_SEPARATORS = re.compile(r"[\x1c-\x1f]")
_REFERENCE = re.compile(rf"(?<=[.!?…])[{re.escape(_CLOSERS)}]*(?:\[\d{{1,3}}\])+(?=\s)")
_OMISSION = re.compile(r"[\[(](?:\.\.\.|…)[\])]")
_ELLIPSIS = re.compile(rf"…(?=[…{re.escape(_CLOSERS)}\s])")

_EAST_ASIAN = re.compile(
    "[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\U00020000-\U000323af]"
)
_EAST_ASIAN_OPENER = re.compile(rf"[「『（【《〈［｛〔]|[“‘](?={_EAST_ASIAN.pattern})")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_LABEL = re.compile(
    r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[^\W\d_]|[ivxIVX]{1,5}"
    # A label with its word, such as "Step 1." or "Table 2."
    r"|[^\W\d_]{2,10}\s\d{1,3}(?:\.\d{1,3})*)\."
)
_LAST_WORD = re.compile(r"(?<![^\W_])([^\W\d_]+)\.$")
_INITIALS = re.compile(r"(?<![^\W_])((?:[^\W\d_]\.\s?)+)$")
_DAY = re.compile(r"(?<![\w.])[0-3]?\d\.$")
_NEXT_WORD = re.compile(rf"[{re.escape(_OPENERS)}§#]*([^\W_]+)(\.?)")
_NUMERAL = re.compile(r"[IVXLC]+|[A-Z]\d*")

_CLAUSE = re.compile(
    rf"[,;:،؛–—][{re.escape(_CLOSERS)}]*\s+|[、，；：][{re.escape(_CLOSERS)}]*\s*|—"
)
_WORD_START = re.compile(r"(?<=\s)\S")
_UNSPACED = re.compile(f"[{HAN_AND_KANA}{SOUTHEAST_ASIAN}]+")
_READ_WITH_NEXT = frozenset("เแโใไເແໂໃໄ")
_READ_WITH_LAST = frozenset(
    "ะาำๅๆฯະາຳໆຯぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶー々ゝゞヽヾ〻"
)


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the sentences of ``text[start:end]``; they tile it.

    White space belongs to the sentence before it, at the beginning to the first. A line end is
    white space, a blank line ends a sentence. Closing quotes and brackets, and reference numbers
    such as ``[3]``, stay with the sentence they close. Takes time linear in the length.
    """
    piece = text[start:end]
    if not piece:
        return []
    if piece.isascii() and not _MAY_END.search(piece, 0, len(piece.rstrip())):
        return [(start, end)]
    masked = _masked(piece)
    leading = len(piece) - len(piece.lstrip())
    bounds = [0]
    offset = 0
    while True:
        offset = unicode.sentence_next_break(masked, offset)
        if offset >= len(masked):
            break
        if offset > leading and _is_end(masked, bounds[-1], offset):
            bounds.append(offset)
    bounds.append(len(piece))
    return [(start + first, start + last) for first, last in pairwise(bounds)]


def clause_offsets(text: str, start: int, end: int) -> list[int]:
    """Offsets inside ``text[start:end]`` at which a clause begins, ascending.

    A clause begins after a comma, semicolon, colon or dash and the white space behind it; a full
    width mark and an em dash need no white space.
    """
    found = [match.end() for match in _CLAUSE.finditer(text, start, end)]
    return _inside(text, start, end, found)


def word_offsets(text: str, start: int, end: int) -> list[int]:
    """Offsets inside ``text[start:end]`` at which a word begins, ascending.

    A word begins after white space. In scripts without spaces words are those of Unicode TR29,
    which for Thai, Lao, Khmer and Burmese are single signs with their marks; vowels that are read
    with a neighbour, small kana and repetition marks stay with it.
    """
    found = [match.start() for match in _WORD_START.finditer(text, start, end)]
    count = len(found)
    for run in _UNSPACED.finditer(text, start, end):
        found.extend(_unspaced_words(text, run.start(), run.end()))
    if len(found) > count:
        found = sorted(set(found))
    return _inside(text, start, end, found)


def _inside(text: str, start: int, end: int, offsets: list[int]) -> list[int]:
    """The ``offsets`` between ``start`` and ``end`` that are not before a mark on a space."""
    next_break = unicode.grapheme_next_break
    return [
        offset
        for offset in offsets
        if start < offset < end
        and (text[offset].isascii() or next_break(text[offset - 1 : offset + 1], 0) == 1)
    ]


def _unspaced_words(text: str, first: int, last: int) -> list[int]:
    """Places at, inside and behind the run ``text[first:last]`` of signs without spaces."""
    run = text[first:last]
    found = [first] if first > 0 and text[first - 1] not in _OPENERS else []
    offset = unicode.word_next_break(run, 0)
    while offset < len(run):
        if run[offset] not in _READ_WITH_LAST and run[offset - 1] not in _READ_WITH_NEXT:
            found.append(first + offset)
        offset = unicode.word_next_break(run, offset)
    if last < len(text) and (text[last].isalnum() or text[last] in "「『（【《〈［｛〔(["):
        found.append(last)
    return found


def _masked(piece: str) -> str:
    """``piece`` with other characters in the same places, so that TR29 sees sentences.

    To it every line end is the end of a paragraph, a reference number is the beginning of the
    next sentence, an opening bracket right behind a full stop closes, and an ellipsis sign is a
    sign like any other.
    """
    masked = _LINE_ENDS.sub(_mask_line_ends, piece)
    masked = _SEPARATORS.sub(" ", masked)
    masked = _OMISSION.sub(lambda match: "_" * len(match[0]), masked)
    masked = _REFERENCE.sub(lambda match: ")" * len(match[0]), masked)
    masked = _EAST_ASIAN_OPENER.sub("_", masked)
    return _ELLIPSIS.sub(".", masked)


def _mask_line_ends(match: re.Match[str]) -> str:
    white = match[0]
    lines = white.replace("\r\n", "\n")
    if _PARAGRAPH_END in white or sum(map(lines.count, "\n\r\x85\u2028")) > 1:
        return " " * (len(white) - 1) + _PARAGRAPH_END
    return " " * len(white)


def _is_end(masked: str, start: int, offset: int) -> bool:
    """True if the sentence that begins at ``start`` ends at ``offset``, a break of TR29."""
    last = masked[offset - 1]
    if last == _PARAGRAPH_END:
        return True
    before = masked[max(start, offset - _LOOK) : offset].rstrip()
    # To TR29 opening brackets close as well, so a break can follow the first sign of ".[1]".
    sentence = before.rstrip(_CLOSERS + _OPENERS)
    closed = len(sentence) < len(before)
    following = masked[offset : offset + _LOOK]
    if not sentence:
        return True
    if sentence[-1] not in ".!?":
        # A quotation is a part of the sentence that goes on: 「はい。」と言った
        return not (closed and _HIRAGANA.match(following))
    if not last.isspace():
        return _is_end_without_space(sentence, following)
    if sentence[-1] != ".":
        # "Why?" she asked.
        return not (closed and following[0].islower())
    if closed:
        return True
    if offset - start <= _LOOK and _LABEL.fullmatch(before.lstrip()):
        return False
    return not _is_abbreviation(sentence, following)


def _is_end_without_space(sentence: str, following: str) -> bool:
    """East Asian text uses ASCII stops too; elsewhere they stand in names, paths and code."""
    if not _EAST_ASIAN.match(following):
        return False
    return sentence[-1] != "." or _EAST_ASIAN.match(sentence[-2:]) is not None


def _is_abbreviation(sentence: str, following: str) -> bool:
    """True if the full stop at the end of ``sentence`` belongs to its last word."""
    match = _NEXT_WORD.match(following)
    next_word, next_stop = (match[1], match[2]) if match else ("", "")
    last = _LAST_WORD.search(sentence)
    if last is None:
        return _DAY.search(sentence) is not None and next_word.lower() in AFTER_DAY
    word = last[1].lower()
    if word in NEVER_LAST:
        return True
    if word in BEFORE_NUMBER and (next_word[:1].isdigit() or _is_numeral(word, next_word)):
        return True
    initials = _INITIALS.search(sentence)
    if initials is None:
        return False
    letters = "".join(initials[1].split())
    if letters[:-1].lower() in NEVER_LAST_DOTTED:
        return True
    return _goes_on(letters, next_word, next_stop)


def _is_numeral(word: str, next_word: str) -> bool:
    """True for ``IV`` and ``A`` in ``Art. IV`` and ``Fig. A``, not for ``I`` in ``No. I …``"""
    return word != "no" and _NUMERAL.fullmatch(next_word) is not None


def _goes_on(letters: str, next_word: str, next_stop: str) -> bool:
    """True for ``J.`` and ``J.R.`` before a name, ``U.S.`` before its noun, ``z.`` before ``B.``"""
    if len(next_word) == 1 and next_stop:
        return True
    if letters == "I." or not letters.replace(".", "").isupper():
        return False
    return next_word[:1].isupper() and next_word.lower() not in STARTERS
