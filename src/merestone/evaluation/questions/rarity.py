"""How telling a word is among a library's texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from merestone.text.analysis import terms
from merestone.text.scripts import HAN_AND_KANA, SOUTHEAST_ASIAN

_WORD = re.compile(
    rf"[{HAN_AND_KANA}]{{2,6}}|[{SOUTHEAST_ASIAN}]{{2,12}}|[^\W\d_][\w.:/+#-]*\w|[^\W\d_]"
)
_FEWEST_LETTERS = 4
"""Of a small word of ASCII letters: shorter ones say little."""


class Rarity:
    """In how many of some pieces of text each term stands."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._pieces = 0
        for piece in pieces:
            self._pieces += 1
            self._counts.update(set(terms(piece)))

    def of(self, word: str) -> float:
        """Inverse document frequency of the rarest term of ``word``; 0 for one without terms."""
        return max((self._of_term(term) for term in terms(word)), default=0.0)

    def _of_term(self, term: str) -> float:
        return log((self._pieces + 1) / (self._counts[term] + 0.5))

    def keywords(self, text: str, count: int) -> list[tuple[str, float]]:
        """The ``count`` rarest of the text's words, in its order, each once and as written."""
        scored: dict[str, tuple[float, int, str]] = {}
        for place, match in enumerate(_WORD.finditer(text)):
            word = match[0]
            if word.isascii() and word.islower() and len(word) < _FEWEST_LETTERS:
                continue
            key = " ".join(terms(word))
            if key and key not in scored:
                scored[key] = (self.of(word), place, word)
        best = sorted(scored.values(), key=lambda item: (-item[0], item[1]))[:count]
        return [(word, score) for score, _, word in sorted(best, key=lambda item: item[1])]

    def weight(self, chosen: Sequence[tuple[str, float]]) -> float:
        """Mean rarity of keywords."""
        return sum(score for _, score in chosen) / len(chosen) if chosen else 0.0
