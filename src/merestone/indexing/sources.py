"""Where documents come from: folders."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from merestone.types import CONFIG_FILE, Problem, SettingsError, SourceError, SourceSettings, Status

IGNORE_FILE = ".merestoneignore"

_LIKE_A_BYTE = re.compile(rb"%(?=(?:25)*[89A-F][0-9A-F])")


@dataclass(frozen=True, slots=True)
class Listed:
    """A document that a source has, before it is read."""

    id: str
    path: str
    mtime_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source has now. ``unlisted`` are id prefixes (folders) that could not be listed:
    nothing below them counts as gone."""

    documents: tuple[Listed, ...]
    problems: tuple[Problem, ...]
    unlisted: tuple[str, ...]


def list_folder(source: SourceSettings) -> Listing:
    """Every file of a folder that its patterns and ignore files let through, by id.

    Names that begin with a dot are left out, and so is what ``.merestoneignore`` files name, with
    git's rules. Folders behind symbolic links are not entered; linked files are read.
    """
    root = Path(source.path)
    if not root.is_dir():
        raise SourceError(
            "path-not-found",
            f"The source folder {source.path} does not exist.",
            "Mend the path in merestone.toml; nothing that is stored was touched.",
        )
    walk = _Walk(root, source)
    documents = sorted(walk.files(), key=lambda listed: listed.id)
    return Listing(tuple(documents), tuple(walk.problems), tuple(walk.unlisted))


class _Walk:
    def __init__(self, root: Path, source: SourceSettings) -> None:
        self._root = root
        self._prefix = f"{source.name}:" if source.name else ""
        self._include = _spec(source.include, "include") if source.include else None
        self._exclude = _spec(source.exclude, "exclude") if source.exclude else None
        self.problems: list[Problem] = []
        self.unlisted: list[str] = []

    def files(self) -> Iterator[Listed]:
        pending: list[tuple[str, list[tuple[str, GitIgnoreSpec]]]] = [("", [])]
        while pending:
            folder, rules = pending.pop()
            try:
                entries = sorted(os.scandir(self._root / folder), key=lambda entry: entry.name)
            except OSError as error:
                self._fail(folder, error, folder=True)
                continue
            found = self._rules_in(folder, entries)
            if found is None:
                continue
            rules = rules + found
            for entry in entries:
                if entry.name.startswith(".") or (not folder and entry.name == CONFIG_FILE):
                    continue
                name = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if not self._is_ignored(name + "/", rules):
                            pending.append((name, rules))
                    elif not self._is_ignored(name, rules):
                        yield from self._file(entry, name)
                except OSError as error:
                    self._fail(name, error)

    def _file(self, entry: os.DirEntry[str], name: str) -> Iterator[Listed]:
        status = entry.stat()
        if stat.S_ISREG(status.st_mode):
            identifier = self._prefix + portable_name(name)
            yield Listed(identifier, entry.path, status.st_mtime_ns, status.st_size)

    def _rules_in(
        self, folder: str, entries: Sequence[os.DirEntry[str]]
    ) -> list[tuple[str, GitIgnoreSpec]] | None:
        """The folder's own rules; ``None`` if they can't be read. Then the folder is not listed:
        what was to be left out must not get in, and nothing below it counts as gone."""
        if not any(entry.name == IGNORE_FILE for entry in entries):
            return []
        path = self._root / folder / IGNORE_FILE
        try:
            if not path.is_file():
                raise OSError(f"{IGNORE_FILE} is not a file")
            lines = path.read_text("utf-8-sig", "surrogateescape").splitlines()
        except OSError as error:
            self._fail(folder, error, folder=True)
            return None
        return [(folder, _spec(lines, str(path)))]

    def _is_ignored(self, name: str, rules: Iterable[tuple[str, GitIgnoreSpec]]) -> bool:
        ignored = False
        for folder, spec in rules:
            verdict = spec.check_file(name[len(folder) + 1 :] if folder else name).include
            if verdict is not None:
                ignored = verdict
        if ignored or (self._exclude and self._exclude.match_file(name)):
            return True
        is_file = not name.endswith("/")
        return is_file and self._include is not None and not self._include.match_file(name)

    def _fail(self, name: str, error: OSError, *, folder: bool = False) -> None:
        identifier = self._prefix + portable_name(name)
        if folder:
            self.unlisted.append(identifier)
        self.problems.append(unreadable(identifier, error))


def _spec(lines: Iterable[str], origin: str) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise SettingsError(
            "invalid-pattern", f"{origin} holds a pattern that cannot be: {error}.", "Mend it."
        ) from error


def unreadable(document: str, error: OSError) -> Problem:
    """The problem that a file or folder cannot be read for a reason outside of it."""
    return Problem(
        document,
        Status.UNREADABLE,
        "file-unreadable",
        f"{document or 'The source folder'} cannot be read: {error.strerror or error}.",
        "Check that it is there and that you may read it, then sync again.",
    )


def portable_name(name: str) -> str:
    """A file's name as an id: ``/`` between folders, bytes that are no text as ``%XX``."""
    # What looks like such a byte already is escaped, so that no two names meet in one id.
    raw = _LIKE_A_BYTE.sub(b"%25", os.fsencode(name))
    text = "".join(
        f"%{ord(char) - 0xDC00:02X}" if 0xDC80 <= ord(char) <= 0xDCFF else char
        for char in raw.decode("utf-8", "surrogateescape")
    )
    return text.replace(os.sep, "/")


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the sources that a run is about. Without prefixes it is everything."""

    prefixes: tuple[str, ...] = ()

    def holds(self, identifier: str) -> bool:
        """True if the document is in the scope."""
        return not self.prefixes or any(_is_within(identifier, part) for part in self.prefixes)

    def names(self, identifier: str) -> bool:
        """True if the document itself was named, not only a folder around it."""
        return identifier in self.prefixes


def scope_of(
    paths: Iterable[str | Path], sources: Sequence[SourceSettings], known: Iterable[str], base: Path
) -> Scope:
    """The scope that ``paths`` name: files or folders inside a source, existing or known.

    A path is taken from ``base``, else from a source's own folder, else as an id. A path that is
    neither there nor known raises ``SourceError``.
    """
    known = tuple(known)
    prefixes = []
    for path in paths:
        for exists, identifier in _identifiers(str(path), sources, base):
            if exists or any(_is_within(document, identifier) for document in known):
                prefixes.append(identifier)
                break
        else:
            raise SourceError(
                "path-not-found",
                f"{path} is in no source of this library, and no document of that name is known.",
                "Name a file or folder inside a source, or a document as `status` lists it.",
            )
    return Scope(tuple(prefixes))


def _identifiers(
    path: str, sources: Sequence[SourceSettings], base: Path
) -> Iterator[tuple[bool, str]]:
    for source in sources:
        prefix = f"{source.name}:" if source.name else ""
        root = Path(os.path.abspath(source.path))
        for start in (base, root):
            full = Path(os.path.abspath(start / path))
            if full == root or root in full.parents:
                inner = "" if full == root else full.relative_to(root).as_posix()
                yield full.exists(), prefix + portable_name(inner)
    yield False, PurePosixPath(path.replace("\\", "/")).as_posix()


def _is_within(identifier: str, prefix: str) -> bool:
    if identifier == prefix or not prefix:
        return True
    return identifier.startswith(prefix if prefix.endswith(":") else f"{prefix.rstrip('/')}/")
