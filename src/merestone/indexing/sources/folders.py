"""Folders of this machine."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from merestone.indexing.editors import is_left_by_editor
from merestone.indexing.regular_files import open_file
from merestone.indexing.sources.faults import too_large, unreadable
from merestone.indexing.sources.identifiers import portable_name
from merestone.indexing.sources.patterns import IgnoreRules, Selection, rules_above
from merestone.types import (
    CONFIG_FILE,
    Listed,
    Listing,
    Look,
    Problem,
    RawDocument,
    SourceError,
    SourceSettings,
    Status,
)
from merestone.types.sources import LATEST_NS

_EXPORT_NAMES = (".jsonl", ".ndjson", ".json")
_EXPORT_HEAD = re.compile(
    rb'\{"id": "[0-9a-f]+", "document": "(?:[^"\\]|\\.)*", "version": "[0-9a-f]+", '
    rb'"ordinal": \d+, "total": \d+, "start": '
)
_EXPORT_HEAD_BYTES = 8192


def changed_ns(status: os.stat_result) -> int:
    """When a file was changed last. Whoever restores the time of writing after an edit leaves a
    trace in the time of the inode's change; on Windows that is the time of its creation. Times
    after 2262 count as the last one that 64 bits hold."""
    return min(max(status.st_mtime_ns, status.st_ctime_ns), LATEST_NS)


class FolderSource:
    """Every file of a folder that its patterns and ignore files let through, by id.

    Names that begin with a dot are left out, and so are what ``.merestoneignore`` files name, with
    git's rules, and files that ``export`` wrote. Folders behind symbolic links are not entered, so
    no loop can catch it; linked files are read.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings

    def scan(self, look: Look) -> Listing:
        root = Path(self._settings.path)
        if not root.is_dir():
            what = "is a file, and no folder" if root.exists() else "does not exist"
            raise SourceError(
                "path-not-found",
                f"The source folder {root} {what}.",
                "Mend the path in merestone.toml; nothing that is stored was touched.",
            )
        walk = _Walk(root, self._settings, look)
        documents = sorted(walk.files(), key=lambda listed: listed.id)
        return Listing(self, tuple(documents), tuple(walk.problems), tuple(walk.unlisted))

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        with open_file(listed.location) as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise too_large(listed.id, max_bytes)
        return RawDocument(listed.id, data, self.uri_of(listed))

    def uri_of(self, listed: Listed) -> str:
        return Path(listed.location).absolute().as_uri()


class _Walk:
    def __init__(self, root: Path, source: SourceSettings, look: Look) -> None:
        self._root = root
        self._prefix = source.prefix
        self._gitignore = source.gitignore
        self._selection = Selection(source)
        self._look = look
        self.problems: list[Problem] = []
        self.unlisted: list[str] = []

    def files(self) -> Iterator[Listed]:
        try:
            above = rules_above(self._root) if self._gitignore else IgnoreRules()
        except OSError as error:
            self._fail("", error, folder=True)
            return
        pending = [("", above)]
        while pending:
            folder, rules = pending.pop()
            try:
                entries = sorted(os.scandir(self._root / folder), key=lambda entry: entry.name)
                names = [entry.name for entry in entries]
                # Rules that can't be read stop the look into the folder: what was to be left out
                # must not get in, and nothing below it counts as gone.
                rules = rules.within(self._root, folder, names, gitignore=self._gitignore)
            except OSError as error:
                self._fail(folder, error, folder=True)
                continue
            for entry in entries:
                if entry.name.startswith(".") or is_left_by_editor(entry.name):
                    continue
                if not folder and entry.name == CONFIG_FILE:
                    continue
                name = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if self._enters(name, rules):
                            pending.append((name, rules))
                    elif self._selection.admits(name) and not rules.ignores(name):
                        yield from self._file(entry, name)
                except OSError as error:
                    self._fail(name, error)

    def _enters(self, name: str, rules: IgnoreRules) -> bool:
        if not self._look.scope.reaches(self._prefix + portable_name(name)):
            return False
        return not self._selection.excludes(name + "/") and not rules.ignores(name + "/")

    def _file(self, entry: os.DirEntry[str], name: str) -> Iterator[Listed]:
        identifier = self._prefix + portable_name(name)
        if not self._look.scope.holds(identifier):
            return
        try:
            status = entry.stat()
        except OSError as error:
            if not entry.is_symlink():
                raise
            yield Listed(identifier, entry.path, fault=_broken_link(identifier, entry, error))
            return
        if stat.S_ISREG(status.st_mode) and not _is_export(entry):
            yield Listed(identifier, entry.path, mtime_ns=changed_ns(status), size=status.st_size)

    def _fail(self, name: str, error: OSError, *, folder: bool = False) -> None:
        identifier = self._prefix + portable_name(name)
        if folder:
            self.unlisted.append(identifier)
        self.problems.append(unreadable(identifier, error))


def _broken_link(identifier: str, entry: os.DirEntry[str], error: OSError) -> Problem:
    """A failure that is remembered: the link is told of once, and again when it points elsewhere.
    What it led to may be away only for now, so a document that is stored stays."""
    return Problem(
        identifier,
        Status.UNREADABLE,
        "broken-link",
        f"{identifier} is a link to {portable_name(os.readlink(entry.path))}, which cannot be "
        f"followed: {error.strerror or error}.",
        "Mend or remove the link, or bring back what it leads to.",
    )


def _is_export(entry: os.DirEntry[str]) -> bool:
    """True for chunks that ``export`` wrote: they would be found in the place of what they are
    copies of."""
    if not entry.name.endswith(_EXPORT_NAMES):
        return False
    try:
        with open_file(entry.path) as file:
            return _EXPORT_HEAD.match(file.read(_EXPORT_HEAD_BYTES)) is not None
    except OSError:
        # Told of when it is read.
        return False
