"""Finding words again whatever became of the white space, hyphens and ligatures between them."""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from merestone.text.scripts import HAN_AND_KANA, SOUTHEAST_ASIAN

_UNSPACED = f"{HAN_AND_KANA}{SOUTHEAST_ASIAN}"
_WORD = re.compile(rf"[{_UNSPACED}]|\d+(?:[.,]\d+)+|(?:(?![{_UNSPACED}_])\w)+")
"""Numbers with their points and commas: 1.5 is not 15."""
_OUTER = re.compile(r"[\W_]*")
_PRINT = re.compile(r"\S+")
_DROPPED = re.compile(
    "(?<=[^\\W\\d_])[-\u2010\u2011](?=[^\\W\\d_]|$)|[\u00ad\u200b-\u200d\u2060\ufeff]"
)
"""Hyphens within words or at their ends, which may be of a line end, and what is not seen."""
_ALIKE = str.maketrans(
    "\u2018\u2019\u201a\u201b\u2032\u201c\u201d\u201e\u201f\u2033\u2010\u2011\u2012\u2013\u2014\u2212",
    "'''''\"\"\"\"\"------",
)

_LONG = 40
"""So many code points are found again only if they are the same."""
_SENTENCE = 24
_SENTENCE_WORDS = 5
"""So are a few less, if they are a sentence."""

_UNSHOWN = re.compile(r"<!--.*?-->|<(script|style|head|template)\b.*?</\1\s*>", re.DOTALL | re.I)
_TAG = re.compile(r"<[!?/]?([A-Za-z][\w-]*)[^<>]*>")
_WITHIN_WORDS = frozenset(
    "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strong "
    "sub sup time tt u var wbr".split()
)
"""Elements of HTML that can stand in the middle of a word. Every other parts words."""


class WordRun:
    """The words of parts of a text, run together."""

    def __init__(
        self, text: str, ranges: Sequence[tuple[int, int]] = (), *, with_marks: bool = False
    ) -> None:
        """``ranges`` of the text, ascending; none: all of it. ``with_marks``: what is not white
        space has to be the same, marks and letters; else letters and digits in any case."""
        self._text, self._with_marks = text, with_marks
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.words: list[str] = []
        for start, end in ranges or [(0, len(text))]:
            for match in (_PRINT if with_marks else _WORD).finditer(text, start, end):
                word = self._normal(match[0])
                if word:
                    self.words.append(word)
                    self._starts.append(match.start())
                    self._ends.append(match.end())
        self._run = "".join(self.words)
        self._offsets: list[int] = []
        at = 0
        for word in self.words:
            self._offsets.append(at)
            at += len(word)

    def _normal(self, word: str) -> str:
        if not word.isascii():
            word = normalize("NFKC", word)
        if not self._with_marks:
            return word.casefold()
        return _DROPPED.sub("", word).translate(_ALIKE)

    @property
    def run(self) -> str:
        return self._run

    def range_of(self, first: int, last: int) -> tuple[int, int]:
        """The range of the text from one word to another, that included."""
        return self._starts[first], self._ends[last]

    def places(self, quote: str) -> Iterator[tuple[int, int]]:
        """Ranges of the text that have the words of ``quote``, ascending."""
        wanted = WordRun(quote, with_marks=self._with_marks).run
        at = self._run.find(wanted) if wanted else -1
        while at >= 0:
            found = self._range(at, at + len(wanted))
            if found:
                yield self._with_outer_marks(quote.strip(), *found)
            at = self._run.find(wanted, at + 1)

    def _range(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of the text for one of the run; ``None`` if it begins or ends in a word."""
        first = bisect_right(self._offsets, start) - 1
        last = bisect_left(self._offsets, end) - 1
        low = self._starts[first] + start - self._offsets[first]
        high = self._ends[last] - (self._offsets[last] + len(self.words[last]) - end)
        if low != self._starts[first] and (not self._with_marks or self._is_torn(low)):
            return None
        if high != self._ends[last] and (not self._with_marks or self._is_torn(high)):
            return None
        # Where letters were folded, a place within their word is not known.
        is_exact = len(self.words[first]) == self._ends[first] - self._starts[first]
        low = low if is_exact else self._starts[first]
        is_exact = len(self.words[last]) == self._ends[last] - self._starts[last]
        return low, high if is_exact else self._ends[last]

    def _with_outer_marks(self, quote: str, start: int, end: int) -> tuple[int, int]:
        """The range with what stands before its first word and behind its last, as in the quote."""
        ahead, behind = _OUTER.match(quote), _OUTER.match(quote[::-1])
        head, tail = ahead[0] if ahead else "", behind[0][::-1] if behind else ""
        if self._with_marks:
            return start, end
        if self._text.endswith(head, 0, start):
            start -= len(head)
        return start, end + len(tail) if self._text.startswith(tail, end) else end

    def _is_torn(self, offset: int) -> bool:
        return (
            self._text[offset - 1 : offset].isalnum() and self._text[offset : offset + 1].isalnum()
        )


def is_telling(quote: str) -> bool:
    """True if a quote is long enough that another text is hardly equal by chance."""
    size = len(quote.strip())
    return size >= _LONG or (size >= _SENTENCE and len(quote.split()) >= _SENTENCE_WORDS)


def agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Share of words that both have, of those of the longer one; their order does not count."""
    shared = sum((Counter(one) & Counter(other)).values())
    return shared / max(len(one), len(other), 1)


def shown_words(markup: str) -> str:
    """What is read of a piece of HTML: without tags and what is not shown."""
    return html.unescape(_TAG.sub(_in_place_of, _UNSHOWN.sub("", markup)))


def _in_place_of(tag: re.Match[str]) -> str:
    return "" if tag[1].lower() in _WITHIN_WORDS else " "
