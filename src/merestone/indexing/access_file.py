"""The external file that says who may read which document.

``{"complete": true, "groups": {"hr": ["user:bob"]}, "documents": {"hr/**": ["group:hr"]}}``. A
key of ``documents`` is the path of a document, of a folder above documents, or, if it holds one
of ``* ? [ \\`` or begins or ends with ``/``, a pattern with git's rules. The name of a source may
go before it as in ids. Of several keys that match the last decides.

Only a complete file is taken. Its copy in the state folder goes on when the file itself can't be
read, is not in this form or does not say that it is complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from merestone.files import replacing
from merestone.indexing.access_patterns import Pattern, Place, compiled, is_relative
from merestone.indexing.principals import is_name, is_principal, memberships
from merestone.indexing.regular_files import open_file
from merestone.text.hashing import digest
from merestone.text.strict_json import strict_json
from merestone.types import JSON, Finding

COPY = "access.json"
"""Name of the copy of the last complete file, in the state folder."""

_KEYS = frozenset({"complete", "groups", "documents"})
_WILD = frozenset("*?[\\")


@dataclass(frozen=True, slots=True)
class AccessList:
    """What a complete file says."""

    fingerprint: str
    """Of the documents' part, in its order."""
    memberships: Mapping[str, Sequence[str]]
    """As :func:`~merestone.indexing.principals.memberships` gives them."""
    keys: Sequence[tuple[str, tuple[str, ...]]]
    """Keys as they stand, and who may read, by position."""
    paths: Mapping[tuple[str | None, str], int]
    """Source and path → position of the key."""
    patterns: Sequence[tuple[int, Pattern]]
    """By position, last first."""

    def stated(self, place: Place) -> tuple[str, tuple[str, ...]] | None:
        """The key that decides on the document, and who may read it; ``None`` if none names
        it."""
        found = [
            self.paths[key]
            for path in _self_and_folders(place.path)
            for key in ((place.source, path), (None, path))
            if key in self.paths
        ]
        last = max(found, default=-1)
        for position, pattern in self.patterns:
            if position < last:
                break
            if pattern.matches(place):
                return self.keys[position]
        return self.keys[last] if found else None

    def idle(self, places: Iterable[Place]) -> list[str]:
        """The keys that name nothing at any of ``places``."""
        left = dict(enumerate(key for key, _ in self.keys))
        patterns = dict(self.patterns)
        for place in places:
            if not left:
                break
            for path in _self_and_folders(place.path):
                for key in ((place.source, path), (None, path)):
                    left.pop(self.paths.get(key, -1), None)
            for position in [each for each in left if each in patterns]:
                if patterns[position].matches(place):
                    del left[position]
        return list(left.values())


@dataclass(frozen=True, slots=True)
class FileState:
    """What of the external file is in force."""

    taken: AccessList | None = None
    """``None``: there never was a complete file, so nobody may read."""
    finding: Finding | None = None


class _IncompleteError(ValueError):
    """Why a file is not taken, as the end of a sentence."""


def read_access_file(path: str, state: Path, sources: tuple[str, ...]) -> FileState:
    """The list of ``path``, or of the copy of the last complete one."""
    copy = state / COPY
    try:
        data = _bytes_of(Path(path))
        taken = _parsed(data, sources)
    except (OSError, _IncompleteError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        return _last_complete(path, copy, sources, reason)
    return FileState(taken, _keep(data, copy))


def _last_complete(path: str, copy: Path, sources: tuple[str, ...], reason: str) -> FileState:
    taken: AccessList | None = None
    with suppress(OSError, _IncompleteError):
        taken = _parsed(_bytes_of(copy), sources)
    held = (
        "The last complete one goes on."
        if taken
        else "There never was a complete one, so nobody but the owner may read anything."
    )
    finding = Finding(
        "access-file-incomplete",
        None,
        f"The file of access rules {path} is not taken: {reason}. {held}",
        'Mend it; a complete file says `"complete": true`.',
    )
    return FileState(taken, finding)


def _bytes_of(path: Path) -> bytes:
    if not path.is_file():
        raise _IncompleteError("it is not there, or no file")
    with open_file(path) as file:
        return file.read()


def _keep(data: bytes, copy: Path) -> Finding | None:
    """Make ``data`` the last complete file."""
    try:
        if copy.is_file() and copy.read_bytes() == data:
            return None
        if not copy.parent.is_dir():
            # Without a library there is nothing to be read yet.
            return None
        with replacing(copy) as draft:
            draft.write_bytes(data)
    except OSError as error:
        return Finding(
            "access-copy-unwritable",
            None,
            f"No copy of the file of access rules can be kept in {copy.parent}: "
            f"{error.strerror or error}. Should the file become incomplete, an older copy goes on.",
            "Sync once as a user who may write there.",
        )
    return None


@lru_cache(maxsize=4)
def _parsed(data: bytes, sources: tuple[str, ...]) -> AccessList:
    try:
        value = strict_json(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _IncompleteError(f"it is no JSON that can be read ({error})") from error
    if not isinstance(value, dict) or value.get("complete") is not True:
        raise _IncompleteError('it does not say `"complete": true`')
    unknown = sorted(value.keys() - _KEYS)
    if unknown:
        raise _IncompleteError(f"it has the unknown key {unknown[0]!r}")
    groups, documents = (_lists(value.get(key, {}), key) for key in ("groups", "documents"))
    for name in groups:
        if not is_name(name):
            raise _IncompleteError(f"{name!r} is no name of a group")
    return _Keys(sources).listed(groups, documents)


def _lists(value: JSON, key: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _IncompleteError(f"{key} is no object")
    for name, names in value.items():
        if not isinstance(names, list) or not all(is_principal(each) for each in names):
            raise _IncompleteError(f"{key}[{name!r}] is no list of principals")
    return {name: tuple(names) for name, names in value.items()}


@dataclass(frozen=True, slots=True)
class _Keys:
    """Sorts keys into paths and patterns."""

    sources: tuple[str, ...]
    paths: dict[tuple[str | None, str], int] = field(default_factory=dict)
    patterns: list[tuple[int, Pattern]] = field(default_factory=list)

    def listed(
        self, groups: Mapping[str, tuple[str, ...]], documents: Mapping[str, tuple[str, ...]]
    ) -> AccessList:
        for position, key in enumerate(documents):
            self._sort(position, key)
        return AccessList(
            fingerprint=digest(json.dumps(list(documents.items()))),
            memberships=memberships(groups),
            keys=tuple(documents.items()),
            paths=self.paths,
            patterns=self.patterns[::-1],
        )

    def _sort(self, position: int, key: str) -> None:
        named = [name for name in self.sources if name and key.startswith(f"{name}:")]
        source = max(named, key=len) if named else None
        path = key if source is None else key[len(source) + 1 :]
        # A name such as `a[1].md` is a path as well as a pattern.
        self.paths[source, path] = position
        if not (path.startswith("/") or path.endswith("/") or not _WILD.isdisjoint(path)):
            if not path or is_relative(path):
                raise _IncompleteError(f"the key {key!r} of documents names nothing")
            return
        try:
            self.patterns.append((position, Pattern(compiled([path]), source)))
        except ValueError as error:
            raise _IncompleteError(f"the key {key!r} of documents can't be: {error}") from error


def _self_and_folders(path: str) -> list[str]:
    """``a/b/c``, ``a/b``, ``a``."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
