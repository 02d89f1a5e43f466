"""The part of the sources that paths name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from merestone.indexing.sources.identifiers import path_identifier
from merestone.types import Scope, SourceError, SourceSettings, is_within


def scope_of(
    paths: Iterable[str | Path], sources: Sequence[SourceSettings], known: Iterable[str], base: Path
) -> Scope:
    """The scope that ``paths`` name: files or folders inside a source, existing or known.

    A path is taken from ``base``, else from a source's own folder, else as an id; ``name:`` is a
    whole source. A path that is neither there nor known raises ``SourceError``.
    """
    known = tuple(known)
    prefixes = []
    for path in paths:
        for exists, identifier in _identifiers(str(path), sources, base):
            if exists or any(is_within(document, identifier) for document in known):
                prefixes.append(identifier)
                break
        else:
            raise SourceError(
                "path-not-found",
                f"{path} is in no source of this library, and no document of that name is known.",
                "Name a file or folder inside a source, or a document as `status --documents` "
                "lists it.",
            )
    return Scope(tuple(prefixes))


def _identifiers(
    path: str, sources: Sequence[SourceSettings], base: Path
) -> Iterator[tuple[bool, str]]:
    for source in sources:
        if source.path:
            root = Path(os.path.abspath(source.path))
            for start in (base, root):
                full = os.path.abspath(start / path)
                inner = path_identifier(full, root)
                if inner is not None:
                    yield os.path.lexists(full), source.prefix + inner
        if source.prefix and path.startswith(source.prefix):
            inside = path.removeprefix(source.prefix)
            yield not inside or (bool(source.path) and Path(source.path, inside).exists()), path
    yield False, path
    yield False, PurePosixPath(path.replace(os.sep, "/")).as_posix()
