"""Candidates that say nothing which a better one does not say.

Overlap, boilerplate and copies in other documents are told by runs of terms, without a model. The
rule is narrow on purpose: what differs in a number, a name or a word of the question is another
answer, however alike the rest is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache

from merestone.retrieval.units import units_of
from merestone.text.analysis import terms
from merestone.types import Chunk

_RUN = 3
"""Terms of a shingle (Broder 1997)."""
_SHARE = 0.95
"""Share of a copy's shingles, each as often as it comes, that the other must hold."""
SHORT = 20
"""Texts of fewer terms are copies only under the same headings: ``Default: 30 seconds`` stands
under many options."""


class _Words:
    """The terms of a chunk and of its headings, and the runs of terms, found when asked for."""

    def __init__(self, chunk: Chunk) -> None:
        read = units_of(chunk)
        self.terms = read.terms
        self.own = read.holders.keys()
        self.path = chunk.heading_path

    def hold(self, term: str) -> bool:
        """True if it stands in the chunk or its headings."""
        return term in self.own or any(term in _heading_terms(head) for head in self.path)

    @cached_property
    def runs(self) -> Counter[tuple[str, ...]]:
        last = max(1, len(self.terms) - _RUN + 1)
        return Counter(self.terms[at : at + _RUN] for at in range(last))

    @cached_property
    def numbers(self) -> str:
        """The terms with a digit, in order."""
        held = (term for term in self.terms if any(map(str.isdigit, term)))
        return "".join(f" {term} " for term in held)


def collapse(chunks: Sequence[Chunk], query_terms: Sequence[str]) -> dict[str, str]:
    """Chunk id → id of the chunk, earlier in ``chunks``, that it is a near-duplicate of.

    A chunk is dropped for another only if every word of it is in the other one or its headings,
    nearly all of its runs of words are, its numbers are there in the same order, and so is every
    word of the question that it or its headings hold.
    """
    asked = frozenset(query_terms)
    kept: list[tuple[str, _Words]] = []
    dropped: dict[str, str] = {}
    for chunk in chunks:
        words = _Words(chunk)
        least = _SHARE * len(words.terms)
        for other, theirs in kept:
            if len(theirs.terms) >= least and _is_copy(words, theirs, asked):
                dropped[chunk.id] = other
                break
        else:
            kept.append((chunk.id, words))
    return dropped


def _is_copy(words: _Words, other: _Words, asked: frozenset[str]) -> bool:
    """True if ``words``, of about as many terms at most, says nothing that ``other`` does not."""
    if not all(map(other.hold, words.own)):
        return False
    if not all(other.hold(term) for term in asked if words.hold(term)):
        return False
    if len(words.terms) < SHORT and words.path != other.path:
        return False
    if words.numbers not in other.numbers:
        return False
    return (words.runs & other.runs).total() >= _SHARE * words.runs.total()


@lru_cache(maxsize=1024)
def _heading_terms(heading: str) -> frozenset[str]:
    return frozenset(terms(heading))
