"""Asking for many texts at once, and finding the few that a service cannot take.

A batch that fails is halved until what fails stands alone, so that one text costs itself only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from merestone.embedding.http import UnacceptedError, UnavailableError
from merestone.embedding.pairing import UnpairedError

_Found = TypeVar("_Found")

_TRIES_OF_PARTS = 2
"""Requests for a part of a batch that failed as a whole."""
_FAILURES_IN_A_ROW = 3
"""Texts that fail one after the other before it is taken for the service's own fault."""


class NothingWorksError(Exception):
    """No single text is to blame. ``problem`` is what the last request gave."""

    def __init__(self, problem: Exception | None) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(slots=True)
class PartedCall(Generic[_Found]):
    """One call for many texts, by their places.

    ``ask`` makes one request for some places, with so many tries (``None``: its own number), puts
    what is usable into ``found``, and gives what was wrong with the rest. It raises if asking
    again would be of no use.
    """

    ask: Callable[[Sequence[int], int | None], Exception | None]
    found: list[_Found | None]
    failed: dict[int, str] = field(default_factory=dict)
    """By place: why it was not found, though it was asked for alone."""
    accepted: int | None = None
    """How many texts the service took at once, where it did not take all."""
    _in_a_row: int = 0

    def run(self, places: Sequence[int], tries: int | None = None) -> None:
        """Ask for ``places``. Raises :class:`NothingWorksError` when three texts in a row failed
        that were asked for alone, or the only one failed inside the service."""
        problem = self.ask(places, tries)
        missing = [place for place in places if self.found[place] is None]
        if len(missing) == len(places) and isinstance(problem, UnpairedError):
            problem = self.ask(places, _TRIES_OF_PARTS)
            missing = [place for place in places if self.found[place] is None]
        if len(missing) < len(places):
            self._in_a_row = 0
            # The others are there, so it is these texts: each alone.
            for place in missing:
                self.run([place], _TRIES_OF_PARTS)
        elif len(places) == 1:
            self._note_failure(places[0], problem)
        else:
            self._run_halves(places, problem)

    def _run_halves(self, places: Sequence[int], problem: Exception | None) -> None:
        half = len(places) // 2
        failed = len(self.failed)
        self.run(places[:half], _TRIES_OF_PARTS)
        self.run(places[half:], _TRIES_OF_PARTS)
        if isinstance(problem, UnacceptedError) and len(self.failed) == failed:
            self.accepted = min(half, self.accepted or half)

    def _note_failure(self, place: int, problem: Exception | None) -> None:
        self.failed[place] = str(problem)
        self._in_a_row += 1
        # One text alone that fails inside the service tells nothing of the text.
        is_alone = len(self.found) == 1 and isinstance(problem, UnavailableError)
        if is_alone or self._in_a_row >= _FAILURES_IN_A_ROW:
            self.failed.clear()
            raise NothingWorksError(problem)
