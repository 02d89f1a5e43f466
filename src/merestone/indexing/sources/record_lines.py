"""Lines of JSON from a file, one at a time and never more of one than a limit."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from merestone.indexing.sources.records import Fields
from merestone.types import JSON

_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 20
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A line that is not blank."""

    number: int
    """From 1."""
    offset: int
    """In bytes."""
    data: bytes
    """The line, or if it is over the limit its beginning."""
    size: int
    digest: str = ""
    """Hash of the whole line where ``data`` is its beginning."""

    @property
    def is_whole(self) -> bool:
        return not self.digest


def record_lines(file: BinaryIO, max_bytes: int) -> Iterator[RecordLine]:
    """The lines of ``file``. Of one with more than ``max_bytes`` no more is held at a time."""
    offset = number = 0
    while data := file.readline(max_bytes + 1 + (0 if number else len(_MARK))):
        number += 1
        start = offset
        offset += len(data)
        if number == 1 and data.startswith(_MARK):
            start, data = start + len(_MARK), data.removeprefix(_MARK)
        if len(data) > max_bytes:
            rest, digest = _skipped(file, data)
            offset += rest
            yield RecordLine(number, start, data, len(data) + rest, digest)
        elif data.strip():
            yield RecordLine(number, start, data, len(data))


def _skipped(file: BinaryIO, head: bytes) -> tuple[int, str]:
    """Go to the end of the line that begins with ``head``: bytes of its rest, hash of it all."""
    hasher = hashlib.sha256(head)
    size = 0
    piece = head
    while not piece.endswith(b"\n") and (piece := file.readline(_PIECE)):
        hasher.update(piece)
        size += len(piece)
    return size, hasher.hexdigest()


def object_in(data: bytes) -> Fields | None:
    """The JSON object that ``data`` is; ``None`` if it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def first_members(data: bytes) -> Fields:
    """The members of the JSON object that begins with ``data``, as far as they are whole."""
    text = data.decode("utf-8", "ignore")
    found: dict[str, JSON] = {}
    at = _behind_space(text, 0)
    if not text.startswith("{", at):
        return found
    try:
        while True:
            name, at = _DECODER.raw_decode(text, _behind_space(text, at + 1))
            at = _behind_space(text, at)
            if not isinstance(name, str) or not text.startswith(":", at):
                return found
            value, at = _DECODER.raw_decode(text, _behind_space(text, at + 1))
            at = _behind_space(text, at)
            # What nothing follows may go on, such as a number.
            if not text.startswith((",", "}"), at):
                return found
            found[name] = value
            if text.startswith("}", at):
                return found
    except (ValueError, RecursionError):
        return found


def _behind_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
