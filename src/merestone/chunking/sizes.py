"""Sizes of ranges of atoms, by prefix sums over one counting of the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from merestone.chunking.atoms import Atom
from merestone.text.tokenizers import TIGHT_SPACES
from merestone.types import Tokenizer


def is_tight(text: str, offset: int) -> bool:
    """True if counts of the parts of ``text`` on both sides of ``offset`` add up."""
    return (
        offset <= 0
        or offset >= len(text)
        or text[offset - 1] in TIGHT_SPACES
        or text[offset] in TIGHT_SPACES
    )


class Sizes:
    """Tokens and code points of ``atoms[first:last]`` for any ``first`` and ``last``."""

    def __init__(
        self, text: str, atoms: list[Atom], counts: list[int], tokenizer: Tokenizer
    ) -> None:
        """``counts`` are the tokens of each atom by itself."""
        self.tokenizer = tokenizer
        self.before = [0, *accumulate(counts)]
        """Tokens of all atoms before each."""
        self.starts = [atom.start for atom in atoms]
        self.ends = [atom.end for atom in atoms]
        loose = (not is_tight(text, start) for start in self.starts[1:])
        self._loose = [0, 0, *accumulate(loose)]

    def tokens(self, first: int, last: int) -> int:
        """Sum over the atoms. Where the text parts words at every joint this is the count of the
        whole; elsewhere the count is as a rule smaller, see :meth:`is_exact`."""
        return self.before[last] - self.before[first]

    def chars(self, first: int, last: int) -> int:
        """Code points, white space behind the last atom included."""
        return self.ends[last - 1] - self.starts[first]

    def within(self, start: int, end: int) -> tuple[int, int]:
        """The range of atoms that hold characters of ``text[start:end]``."""
        return bisect_right(self.ends, start), bisect_left(self.starts, end)

    def is_exact(self, first: int, last: int) -> bool:
        """True if :meth:`tokens` is the very count of the range."""
        return self.tokenizer.adds_up and self._loose[last] == self._loose[first + 1]
