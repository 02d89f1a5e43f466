"""What an index holds, against what it should hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from indexers.embedder import NamedEmbedder


class Place(NamedTuple):
    """A chunk of a state: the document's name, and what the embedder reads of the chunk."""

    document: str
    input: str


class StoredRow(NamedTuple):
    """A row of an index."""

    document: str
    input: str
    vector: Sequence[float]


@dataclass(frozen=True, slots=True)
class Faults:
    """How far an index is from its sources."""

    stale: int = 0
    """Rows of a text that the document does not have now, or with another embedder's vector."""
    duplicate: int = 0
    """Rows of a text beyond as many as the document has chunks of it."""
    missing: int = 0
    """Texts of documents that have no row. Equal chunks of one document may share a row."""

    def __str__(self) -> str:
        return f"{self.stale}/{self.duplicate}/{self.missing}"


def faults(stored: Iterable[StoredRow], wanted: Iterable[Place], embedder: NamedEmbedder) -> Faults:
    """Hold the rows against the chunks that a fresh build with ``embedder`` would give."""
    expected = Counter(wanted)
    held: Counter[Place] = Counter()
    stale = 0
    for row in stored:
        place = Place(row.document, row.input)
        if place in expected and embedder.made(row.input, row.vector):
            held[place] += 1
        else:
            stale += 1
    return Faults(
        stale=stale,
        duplicate=sum((held - expected).values()),
        missing=sum(1 for place in expected if place not in held),
    )


class Ledger:
    """Which inputs each embedder had to embed so far, in a run that does no needless work."""

    def __init__(self) -> None:
        self._held: dict[str, set[str]] = {}

    def owed(self, wanted: Iterable[Place], embedder: str) -> int:
        """The fewest texts to embed for this state: its distinct inputs that no earlier state
        had with that embedder. From now on they are held."""
        held = self._held.setdefault(embedder, set())
        new = {place.input for place in wanted} - held
        held |= new
        return len(new)


def files_in(folder: Path, only: Sequence[str] = ()) -> list[tuple[str, Path]]:
    """Name, as documents are called, and path of the folder's Markdown files, by name; or of
    ``only`` these."""
    if only:
        return [(name, folder / name) for name in only]
    paths = sorted(folder.rglob("*.md"))
    return [(path.relative_to(folder).as_posix(), path) for path in paths]


class System(Protocol):
    """A system that keeps an index of a folder of Markdown files. It is given the whole folder
    each time, as its own documentation shows."""

    def sync(self, size: int, embedder: NamedEmbedder, only: Sequence[str] = ()) -> None:
        """Bring the index up to date, or these documents of it. ``size`` is the limit of a chunk
        in BERT tokens; systems that count otherwise take what comes to about as much."""

    def rows(self) -> list[StoredRow]:
        """All that the index holds."""

    def wanted(self, size: int) -> list[Place]:
        """The chunks of the files as they are now, by the system's own chunker."""
