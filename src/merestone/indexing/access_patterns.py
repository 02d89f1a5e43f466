"""Which documents a rule or a key of the external file names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

# A line end in a name would end what `.` and `$` match.
_LINE_END = str.maketrans({"\n": "\x00"})


@dataclass(frozen=True, slots=True)
class Place:
    """A document by its source and its path inside it."""

    source: str
    """Empty for a source without a name."""
    path: str


def place_of(document: str, sources: Sequence[str]) -> Place | None:
    """The place that an id stands for, by the names of the sources; ``None`` if it is of none."""
    named = [name for name in sources if name and document.startswith(f"{name}:")]
    if named:
        name = max(named, key=len)
        return Place(name, document[len(name) + 1 :])
    return Place("", document) if "" in sources else None


@dataclass(frozen=True, slots=True)
class Pattern:
    """Patterns with git's rules for the path inside a source."""

    spec: GitIgnoreSpec | None
    """``None``: every path."""
    source: str | None
    """``None``: in any source."""

    def matches(self, place: Place) -> bool:
        """True if it names the document at ``place``."""
        if self.source is not None and self.source != place.source:
            return False
        if self.spec is None:
            return True
        return self.spec.check_file(place.path.translate(_LINE_END)).include is True


def compiled(lines: Iterable[str]) -> GitIgnoreSpec:
    """``lines`` as git reads them; ``ValueError`` naming one that could never match, such as a
    comment, or if all of them are negated."""
    spec = GitIgnoreSpec.from_lines([line.translate(_LINE_END) for line in lines])
    for line in lines:
        parts = GitIgnoreSpec.from_lines([line.translate(_LINE_END)]).patterns
        if not parts or parts[0].include is None or is_relative(line.removeprefix("!")):
            raise ValueError(f"{line!r} matches nothing")
    if not any(part.include for part in spec.patterns):
        raise ValueError("every pattern is negated")
    return spec


def is_relative(path: str) -> bool:
    """True for ``./a`` and ``../a``, as other programs write paths: no id begins so."""
    return path.startswith(("./", "../"))
