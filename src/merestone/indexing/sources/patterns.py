"""Which documents a source lets through: patterns of the settings, ignore files of folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from merestone.types import SettingsError, SourceSettings

IGNORE_FILE = ".merestoneignore"
GIT_IGNORE_FILE = ".gitignore"


class Selection:
    """What ``include`` and ``exclude`` of a source's settings say."""

    def __init__(self, source: SourceSettings) -> None:
        self._include = _spec(source.include, "include") if source.include else None
        self._exclude = _spec(source.exclude, "exclude") if source.exclude else None

    def excludes(self, name: str) -> bool:
        """True if ``name``, of a folder with a ``/`` at its end, is left out by ``exclude``."""
        return self._exclude is not None and self._exclude.match_file(name)

    def admits(self, name: str) -> bool:
        """True if the document ``name``, without the source's name, is let through."""
        if self.excludes(name):
            return False
        return self._include is None or self._include.match_file(name)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one ignore file."""

    spec: GitIgnoreSpec
    inside: int = 0
    """Characters of a name that lead to the file's own folder."""
    lead: str = ""
    """Goes before a name where the file lies above the source's folder."""

    def verdict(self, name: str) -> bool | None:
        return self.spec.check_file(self.lead + name[self.inside :]).include


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The ignore files that reach one folder, outermost first: git's, then the library's own,
    which have the last word."""

    git: tuple[_Rules, ...] = ()
    own: tuple[_Rules, ...] = ()

    def ignores(self, name: str) -> bool:
        """True if ``name``, of a folder with a ``/`` at its end, is left out."""
        ignored = False
        for rules in (*self.git, *self.own):
            verdict = rules.verdict(name)
            if verdict is not None:
                ignored = verdict
        return ignored

    def within(
        self, root: Path, folder: str, names: Sequence[str], *, gitignore: bool
    ) -> IgnoreRules:
        """These rules and those of the files among ``names`` in ``folder``; ``OSError`` if one
        can't be read."""
        inside = len(folder) + 1 if folder else 0
        git, own = self.git, self.own
        if gitignore and GIT_IGNORE_FILE in names:
            git = (*git, _Rules(_read(root / folder / GIT_IGNORE_FILE), inside))
        if IGNORE_FILE in names:
            own = (*own, _Rules(_read(root / folder / IGNORE_FILE), inside))
        return self if git is self.git and own is self.own else IgnoreRules(git, own)


def rules_above(root: Path) -> IgnoreRules:
    """What git's files above ``root`` say in the repository that it lies in: ``info/exclude`` and
    ``.gitignore`` from the repository's top down. A user's own global file is left out, so that a
    source holds the same on every machine."""
    top = next((each for each in (root, *root.parents) if (each / ".git").exists()), None)
    if top is None:
        return IgnoreRules()
    return IgnoreRules(git=tuple(_rules_from(top, root)))


def _rules_from(top: Path, root: Path) -> Iterator[_Rules]:
    lead = root.relative_to(top).as_posix() + "/" if root != top else ""
    exclude = top / ".git" / "info" / "exclude"
    if exclude.is_file():
        yield _Rules(_read(exclude), lead=lead)
    for folder in reversed([each for each in root.parents if each == top or top in each.parents]):
        file = folder / GIT_IGNORE_FILE
        if file.is_file():
            yield _Rules(_read(file), lead=root.relative_to(folder).as_posix() + "/")


def _read(path: Path) -> GitIgnoreSpec:
    if not path.is_file():
        raise OSError(f"{path.name} is not a file")
    text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
    # Lines as git has them: other line ends are characters of a pattern.
    return _spec((line.removesuffix("\r") for line in text.split("\n")), str(path))


def _spec(lines: Iterable[str], origin: str) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise SettingsError(
            "invalid-pattern", f"{origin} holds a pattern that cannot be: {error}.", "Mend it."
        ) from error
