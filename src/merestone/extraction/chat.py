"""Chats and transcripts in plain text: one ``record`` a turn, if the text is surely one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from merestone.extraction.blocks import trimmed
from merestone.extraction.chat_styles import (
    LABELS,
    LOG_LINE,
    NAMED,
    NICKS,
    ROLES,
    TIMED,
    Style,
)
from merestone.extraction.subtitles import cue_blocks
from merestone.types import JSON, Block

_LINE = re.compile(r"(?<![^\r\n])[^\r\n]*\S[^\r\n]*")
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)")
_NAME = re.compile(
    r"[^\W\d_][\w.'’-]*(?: (?:(?:von|van|de|da|del|di|der|den|la|le|al|bin|of|the|and|&)|"
    r"\(?[^\W_][\w.'’-]*\)?)){0,4}"
)
_ENDS_SENTENCE = re.compile(r"[.?!…。？！।؟][\"'”’)\]*_]*\s*\Z")
_ASKS = re.compile(r"[?？؟¿]")

_SAMPLE_LINES = 300
"""Lines by which most texts are told to be no chat."""
_LEAST_TURNS = 4
_MAX_PREFACE = 6
"""Lines that may stand before the first turn, or a fifth of all."""


class _Turn(NamedTuple):
    start: int
    content: int
    """Offset behind speaker and time."""
    opens: bool
    """True if a blank line, or nothing, stands before it."""
    speaker: str
    time: str


class _Reading(NamedTuple):
    """A text read in one style."""

    turns: list[_Turn]
    preface: int
    """Lines before the first turn."""
    lines: int
    """Lines that are not blank."""
    stanzas: int
    """Groups of lines that blank lines part."""
    end: int


def chat_blocks(text: str) -> tuple[Block, ...]:
    """A ``record`` for each turn, with ``speaker`` and ``time`` as they are written; nothing if
    ``text`` is not surely a chat. What stands before the first turn is in no block."""
    cues = cue_blocks(text)
    if cues:
        return cues
    if _is_log(text):
        return ()
    for style in (*TIMED, NICKS, NAMED):
        if not _is_chat(text, style, _read(text, style, _SAMPLE_LINES)):
            continue
        reading = _read(text, style, None)
        if _is_chat(text, style, reading):
            return tuple(_blocks(text, reading.turns))
    return ()


def _is_log(text: str) -> bool:
    lines = [LOG_LINE.match(text, *line.span()) for line in _sample(text)]
    return sum(line is not None for line in lines) > 0.1 * len(lines)


def _sample(text: str) -> Iterator[re.Match[str]]:
    return islice(_LINE.finditer(text), _SAMPLE_LINES)


def _read(text: str, style: Style, most: int | None) -> _Reading:
    turns: list[_Turn] = []
    preface = lines = stanzas = end = 0
    for match in islice(_LINE.finditer(text), most):
        opens = lines == 0 or _BLANK_LINE.search(text, end, match.start()) is not None
        start = trimmed(text, match.start(), match.end()).start
        head = style.head.match(text, start, match.end())
        if head is not None:
            names = head.groupdict(default="")
            turns.append(
                _Turn(start, head.end(), opens, names["speaker"].strip(), names["time"].strip())
            )
        lines += 1
        stanzas += opens
        preface += not turns
        end = match.end()
    return _Reading(turns, preface, lines, stanzas, end)


def _is_chat(text: str, style: Style, reading: _Reading) -> bool:
    turns = reading.turns
    if len(turns) < _LEAST_TURNS or reading.preface > max(_MAX_PREFACE, reading.lines // 5):
        return False
    speakers = Counter(turn.speaker.casefold() for turn in turns if turn.speaker)
    if len(speakers) < 2 and len({turn.time for turn in turns}) < 2:
        return False
    if style.recurring and not _recur(speakers):
        return False
    if style is NAMED:
        return _covers(reading) and _is_conversation(text, reading, speakers)
    if style is NICKS and "</" in text[: reading.end]:
        return False
    return len(turns) >= style.share * reading.lines


def _recur(speakers: Counter[str]) -> bool:
    """True if nearly all turns are of speakers who have several, as in no list of fields."""
    total = speakers.total()
    several = [count for count in speakers.values() if count > 1]
    return bool(several) and sum(several) >= 0.8 * total and 2 * len(speakers) <= max(4, total)


def _share(speakers: Counter[str], holds: Callable[[str], bool]) -> float:
    total = speakers.total()
    return sum(count for name, count in speakers.items() if holds(name)) / total if total else 0.0


def _covers(reading: _Reading) -> bool:
    """True if most lines begin a turn, or nearly all paragraphs of wrapped lines do."""
    turns = reading.turns
    if len(turns) >= NAMED.share * reading.lines:
        return True
    opening = sum(turn.opens for turn in turns)
    return opening >= 0.8 * reading.stanzas and opening >= 0.8 * len(turns)


def _is_conversation(text: str, reading: _Reading, speakers: Counter[str]) -> bool:
    """True if words with a colon are speakers and what they say is speech."""
    turns = reading.turns
    if sum(count > 1 for count in speakers.values()) < 2:
        return False
    if _share(speakers, lambda name: ROLES.fullmatch(name) is not None) >= 0.9:
        return True
    if _share(speakers, LABELS.__contains__) > 0 or not all(map(_is_name, turns)):
        return False
    said = [text[turn.content : end].strip() for turn, end in _with_ends(turns, reading.end)]
    asked = [_ASKS.search(words) is not None for words in said]
    sentences = sum(_ENDS_SENTENCE.search(words) is not None for words in said)
    if not any(asked) or sentences < 0.4 * len(said):
        return False
    return not _is_form([turn.speaker.casefold() for turn in turns], asked)


def _is_name(turn: _Turn) -> bool:
    name = turn.speaker
    if ROLES.fullmatch(name):
        return True
    return not name[0].islower() and _NAME.fullmatch(name) is not None


def _is_form(names: Sequence[str], asked: Sequence[bool]) -> bool:
    """True if the same fields come round and round, or questions and answers in two fields."""
    period = len(set(names))
    if period > 2:
        return all(name == names[index % period] for index, name in enumerate(names))
    asking = {name for name, asks in zip(names, asked, strict=True) if asks}
    telling = {name for name, asks in zip(names, asked, strict=True) if not asks}
    return not asking & telling


def _with_ends(turns: Sequence[_Turn], end: int) -> Iterator[tuple[_Turn, int]]:
    return zip(turns, [*(turn.start for turn in turns[1:]), end], strict=True)


def _blocks(text: str, turns: Sequence[_Turn]) -> Iterable[Block]:
    for turn, end in _with_ends(turns, len(text)):
        attributes: dict[str, JSON] = {}
        if turn.speaker:
            attributes["speaker"] = turn.speaker
        if turn.time:
            attributes["time"] = turn.time
        yield Block("record", *trimmed(text, turn.start, end), attributes=attributes)
