"""Words that a line end has divided: which hyphens belong to the spelling."""

from __future__ import annotations

from collections.abc import Iterable

from merestone.extraction.pdf_lines import Line
from merestone.extraction.pdf_page import Run

_LONG_WORD = 5
_LONG_COMPOUND = 12
"""Letters; two shorter words are as likely the halves of one, as in ``under-stand``."""
_EDGES = ".,;:!?\"'“”‘’()[]{}«»…"


class Vocabulary:
    """The words of a document that stand whole on a line."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._words: set[str] = set()
        divided = False
        for line in lines:
            words = line.text.casefold().split(" ")
            if divided:
                words.pop(0)
            divided = line.hyphen is not None
            if divided and words:
                words.pop()
            self._words.update(word.strip(_EDGES) for word in words)

    def keeps_hyphen(self, left: str, right: str) -> bool:
        """True if the hyphen between two halves is part of the word.

        The document's own spelling decides. Where it has neither form, a hyphen stays before
        another one (``state-of-the-art``), in addresses, between two long words of the document,
        and before capitals and digits.
        """
        left, right = left.casefold().strip(_EDGES), right.strip(_EDGES)
        following = right.casefold()
        if left + following in self._words:
            return False
        if f"{left}-{following}" in self._words:
            return True
        if "-" in following or "://" in left or "/" in left or "@" in left:
            return True
        if self._are_words(left, following):
            return True
        return not right[:1].islower() or left[-1:].isdigit()

    def _are_words(self, left: str, right: str) -> bool:
        return (
            min(len(left), len(right)) >= _LONG_WORD
            and len(left) + len(right) >= _LONG_COMPOUND
            and left in self._words
            and right in self._words
        )


def last_word(runs: list[Run]) -> str:
    """The word at the end of a line."""
    word = ""
    for run in reversed(runs):
        word = run.text + word
        if run.parted:
            break
    return word


def first_word(runs: list[Run]) -> str:
    """The word at the start of a line."""
    word = runs[0].text
    for run in runs[1:]:
        if run.parted:
            break
        word += run.text
    return word
