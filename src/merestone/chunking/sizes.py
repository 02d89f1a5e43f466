"""Sizes of ranges of atoms, by prefix sums over one tokenisation of the text."""

from __future__ import annotations

from itertools import accumulate

from merestone.chunking.atoms import Atom
from merestone.types import Tokenizer

_SPACES = " \t\r\n\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""White space at which every tokenizer that adds up parts words. Not all of ``str.isspace``:
BERT's normaliser takes the information separators and vertical tabs for nothing at all."""


def is_tight(text: str, offset: int) -> bool:
    """True if counts of the parts of ``text`` on both sides of ``offset`` add up."""
    return (
        offset <= 0
        or offset >= len(text)
        or text[offset - 1] in _SPACES
        or (text[offset] in _SPACES)
    )


class Sizes:
    """Tokens and code points of ``atoms[first:last]`` for any ``first`` and ``last``."""

    def __init__(
        self, text: str, atoms: list[Atom], counts: list[int], tokenizer: Tokenizer
    ) -> None:
        """``counts`` are the tokens of each atom by itself."""
        self.tokenizer = tokenizer
        self._atoms = atoms
        self._tokens = [0, *accumulate(counts)]
        loose = (0 if tokenizer.adds_up and is_tight(text, atom.start) else 1 for atom in atoms[1:])
        self._loose = [0, 0, *accumulate(loose)]

    def tokens(self, first: int, last: int) -> int:
        """Sum over the atoms. Where the text parts words at every joint this is the count of the
        whole; elsewhere the count is as a rule smaller, see :meth:`is_exact`."""
        return self._tokens[last] - self._tokens[first]

    def chars(self, first: int, last: int) -> int:
        """Code points, white space behind the last atom included."""
        return self._atoms[last - 1].end - self._atoms[first].start

    def is_exact(self, first: int, last: int) -> bool:
        """True if :meth:`tokens` is the very count of the range."""
        return self.tokenizer.adds_up and self._loose[last] == self._loose[first + 1]
