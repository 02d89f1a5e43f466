"""How much of a run's work is done, in tokens to embed: documents differ too much to be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

_OF_DOCUMENT = 10
"""Tokens that reading and storing a document is worth, whatever is in it."""
_PER_BYTE = 0.25
"""Tokens, as long as nothing was read."""


class Workload:
    """Tokens of the documents that are through, of those that are cut, and of those to come.

    What is to come is expected to hold as many tokens a byte as what was read of its kind, that is
    with the same ending of its name.
    """

    def __init__(self, sizes: Iterable[tuple[str, int]]) -> None:
        """``sizes``: the ids of all documents, with their bytes or 0 where these are not known."""
        self._sizes = {id: size + 1 for id, size in sizes}
        self._to_come: Counter[str] = Counter()
        for id, size in self._sizes.items():
            self._to_come[_kind(id)] += size
        self._bytes: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._waiting: dict[str, int] = {}
        self._through = 0
        self._before = 0

    def cut(self, id: str, tokens: int) -> None:
        """A document was read and cut, with this many tokens to embed."""
        size, kind = self._sizes.pop(id, 0), _kind(id)
        self._to_come[kind] -= size
        self._bytes[kind] += size
        self._tokens[kind] += tokens + _OF_DOCUMENT
        self._waiting[id] = tokens + _OF_DOCUMENT

    def stored(self, id: str, embedded: int) -> None:
        """A document is through; the run has embedded so many tokens up to now."""
        self._through += self._waiting.pop(id, 0)
        self._before = embedded

    def share(self, embedded: int) -> float:
        """Share of the work that is done once the run has embedded so many tokens, 0 to 1."""
        waiting = sum(self._waiting.values())
        done = self._through + min(waiting, embedded - self._before)
        to_come = sum(size * self._rate(kind) for kind, size in self._to_come.items() if size > 0)
        total = self._through + waiting + to_come
        return done / total if total else 1.0

    def _rate(self, kind: str) -> float:
        """Tokens a byte."""
        if self._bytes[kind]:
            return self._tokens[kind] / self._bytes[kind]
        read = self._bytes.total()
        return self._tokens.total() / read if read else _PER_BYTE


def _kind(id: str) -> str:
    return PurePosixPath(id).suffix.lower()
