"""Records of JSON: the lines of JSON lines, the objects of an array."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from merestone.extraction.blocks import trimmed
from merestone.types import JSON, Block, DocumentWarning, Span

KEYS = ("id", "_id", "key", "uuid", "name", "url")
"""Fields that tell a record from the others, the first that is there."""

_SPEAKERS = ("role", "speaker", "from", "sender", "user", "username")
_TIMES = ("time", "timestamp", "ts", "created_at", "create_time", "date")
_UTTERANCES = ("content", "text", "value", "message", "parts", "utterance", "body")
_LONGEST_KEY = 200

_LINE = re.compile(r"(?<![^\r\n])[^\r\n]*\S[^\r\n]*")
_ARRAY = re.compile(r"\s*\[\s*(?=\{)")
_COMMA = re.compile(r"\s*,\s*(?=\{)")
_ARRAY_END = re.compile(r"\s*\]\s*\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Numbers stay strings: no digit is lost, and none is too long.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)

Records = tuple[tuple[Block, ...], tuple[DocumentWarning, ...]]


def line_records(text: str) -> Records:
    """One ``record`` for each line that is not blank, whether it is valid JSON or not."""
    blocks: list[Block] = []
    invalid: list[int] = []
    for span in _lines(text):
        try:
            attributes = _attributes(_DECODER.decode(text[span.start : span.end]))
        except (ValueError, RecursionError):
            attributes = {}
            invalid.append(span.start)
        blocks.append(Block("record", *span, attributes=attributes))
    if not invalid:
        return tuple(blocks), ()
    line = len(re.findall(r"\r\n|\n|\r", text[: invalid[0]])) + 1
    warning = DocumentWarning(
        "json-line-invalid",
        f"{len(invalid):,} of {len(blocks):,} lines are no valid JSON, the first of them line "
        f"{line}. They are kept as they stand.",
    )
    return tuple(blocks), (warning,)


def are_lines(text: str) -> bool:
    """True if the first two lines that are not blank are a JSON object each."""
    found = []
    for span in _lines(text):
        try:
            found.append(isinstance(_DECODER.decode(text[span.start : span.end]), dict))
        except (ValueError, RecursionError):
            return False
        if len(found) == 2:
            return all(found)
    return False


def array_records(text: str) -> Records:
    """``code`` over the text and in it a ``record`` for each object of the array that the text
    is; no blocks if it is something else.

    The parser for each object is that of the standard library, which says where the object ends.
    Behind a fault there are no more records.
    """
    match = _ARRAY.match(text)
    if match is None:
        return (), ()
    blocks = [Block("code", *trimmed(text, 0, len(text)), attributes={"language": "json"})]
    place = match.end()
    while True:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        blocks.append(Block("record", place, end, parent=0, attributes=_attributes(value)))
        following = _COMMA.match(text, end)
        if following is None:
            place = end
            break
        place = following.end()
    if len(blocks) == 1:
        return (), ()
    if _ARRAY_END.match(text, place):
        return tuple(blocks), ()
    warning = DocumentWarning(
        "json-cut-short",
        f"The array is no list of objects beyond its first {len(blocks) - 1:,}. What comes behind "
        "them is kept as text.",
    )
    return tuple(blocks), (warning,)


def _lines(text: str) -> Iterator[Span]:
    for match in _LINE.finditer(text):
        yield trimmed(text, match.start(), match.end())


def _attributes(value: JSON) -> dict[str, JSON]:
    """What a record says of itself: its key, and who says it when, if it is a turn of a chat."""
    if not isinstance(value, dict):
        return {}
    found: dict[str, JSON] = {}
    key = _first(value, KEYS)
    if key is not None:
        found["key"] = key
    if any(isinstance(value.get(name), str | list) for name in _UTTERANCES):
        speaker = _first(value, _SPEAKERS)
        time = _first(value, _TIMES) if speaker is not None else None
        found |= {"speaker": speaker} if speaker is not None else {}
        found |= {"time": time} if time is not None else {}
    return found


def _first(value: dict[str, JSON], names: tuple[str, ...]) -> str | None:
    for name in names:
        given = value.get(name)
        if isinstance(given, str) and 0 < len(given.strip()) <= _LONGEST_KEY:
            return _SURROGATE.sub("\ufffd", given.strip())
    return None
