"""Inputs for scanners: what people write, and what becomes of it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

MAX_BYTES = 60_000
_COMMON = 1_200
"""Most inputs are no longer: more of them can be tried, and their failures are easier to read."""

_ODD = (
    "\x00 \r \r\n \n \t \x0b \x0c \x1c \x85 \u2028 \u2029 \u00a0 \u00ad \u200b \u200d \ufeff "
    "\ufffd e\u0301 \u0e33 \u0600 \u115f \U0001f1e9\U0001f1ea "
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 漢 字。 한 ß İ ﷺ \U000e0001 \U0010ffff"
)
_MARKS = [sign.encode() for sign in _ODD.split(" ") if sign] + [
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\r\n\r\n",
    b"    ",
]
_TOKEN = re.compile(rb"[A-Za-z_]{1,20}|\d{1,6}|[^\sA-Za-z_\d]{1,4}|[ \t]{1,8}|\r?\n")


def words_of(seeds: Sequence[bytes]) -> list[bytes]:
    """The tokens that inputs are made of: those of ``seeds``, each once."""
    found = dict.fromkeys(token for seed in seeds for token in _TOKEN.findall(seed[:20_000]))
    return list(found) or [b"a"]


class Mutator:
    """Makes inputs out of ``seeds``, the same for the same ``draw``."""

    def __init__(self, seeds: Sequence[bytes]) -> None:
        self._seeds = seeds
        self._words = words_of(seeds)

    def input(self, draw: random.Random) -> bytes:
        """One input of at most :data:`MAX_BYTES`."""
        size = _COMMON if draw.random() < 0.95 else MAX_BYTES
        data = self._soup(draw, size) if draw.random() < 0.15 else self._part(draw, size)
        for _ in range(draw.choice((0, 1, 1, 2, 3, 5, 8, 13))):
            data = draw.choice(_STEPS)(self, draw, data)[: 4 * size]
        if draw.random() < 0.03:
            data = _many_times(self, draw, data)
        return data[:MAX_BYTES]

    def _soup(self, draw: random.Random, size: int) -> bytes:
        few = draw.sample(self._words, min(len(self._words), draw.randrange(1, 12)))
        count = draw.randrange(1, max(2, size // 4))
        return b"".join(draw.choices([*few, b" ", b"\n", *_MARKS[:4]], k=count))[:size]

    def _part(self, draw: random.Random, size: int) -> bytes:
        """A seed, or lines out of the middle of it."""
        seed = draw.choice(self._seeds)
        if len(seed) <= size:
            return seed
        start = draw.randrange(len(seed) - size) if draw.random() < 0.7 else 0
        start = seed.rfind(b"\n", 0, start) + 1
        return seed[start : start + draw.randrange(1, size)]

    def word(self, draw: random.Random) -> bytes:
        return draw.choice(_MARKS if draw.random() < 0.3 else self._words)

    def other(self, draw: random.Random) -> bytes:
        return self._part(draw, 200)


_Step = Callable[[Mutator, random.Random, bytes], bytes]


def _place(draw: random.Random, data: bytes) -> int:
    """An offset, at a line start half of the time."""
    at = draw.randint(0, len(data))
    return data.rfind(b"\n", 0, at) + 1 if draw.random() < 0.5 else at


def _slice(draw: random.Random, data: bytes) -> tuple[int, int]:
    first = _place(draw, data)
    return first, min(len(data), first + draw.choice((1, 2, 5, 20, 80, 300)))


def _without(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    first, last = _slice(draw, data)
    return data[:first] + data[last:]


def _with_word(mutator: Mutator, draw: random.Random, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + mutator.word(draw) + data[at:]


def _with_other(mutator: Mutator, draw: random.Random, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + mutator.other(draw) + data[at:]


def _repeated(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    first, last = _slice(draw, data)
    times = draw.choice((2, 3, 10, 60))
    return data[:first] + data[first:last] * times + data[last:]


def _many_times(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    """A short piece until the input is full: what costs more than linear time shows here."""
    first = _place(draw, data)
    piece = data[first : first + draw.choice((1, 2, 3, 8, 30))] or b"("
    return data[:first] + piece * (draw.randrange(200, MAX_BYTES) // len(piece))


def _nested(mutator: Mutator, draw: random.Random, data: bytes) -> bytes:
    opening, closing = mutator.word(draw), mutator.word(draw)
    times = draw.choice((2, 30, 400))
    return opening * times + data + closing * times


def _moved(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    first, last = _slice(draw, data)
    rest = data[:first] + data[last:]
    at = _place(draw, rest)
    return rest[:at] + data[first:last] + rest[at:]


def _flipped(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    if not data:
        return b"\x00"
    at = draw.randrange(len(data))
    return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]


def _indented(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    first, last = _slice(draw, data)
    indent = draw.choice((b" ", b"  ", b"    ", b"\t", b"> ", b"- "))
    return data[:first] + data[first:last].replace(b"\n", b"\n" + indent) + data[last:]


def _other_line_ends(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n", b" ", b"\n\r")))


def _ended(_: Mutator, draw: random.Random, data: bytes) -> bytes:
    return data[: _place(draw, data)]


_STEPS: tuple[_Step, ...] = (
    _without,
    _with_word,
    _with_word,
    _with_other,
    _repeated,
    _nested,
    _moved,
    _flipped,
    _indented,
    _other_line_ends,
    _ended,
)


def shrunk(data: bytes, fails: Callable[[bytes], bool], attempts: int = 600) -> bytes:
    """A smaller input that ``fails`` too: ever smaller pieces are left out as long as that holds
    (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002)."""
    size = max(1, len(data) // 2)
    while attempts > 0:
        at = 0
        before = len(data)
        while at < len(data) and attempts > 0:
            shorter = data[:at] + data[at + size :]
            attempts -= 1
            if fails(shorter):
                data = shorter
            else:
                at += size
        if size == 1 and len(data) == before:
            break
        size = max(1, size // 2)
    return data
