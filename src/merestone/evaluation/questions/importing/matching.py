"""Which of a library's documents another tool means by a name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote

from merestone.extraction.media_types import type_by_name
from merestone.types import DocumentRecord


class DocumentNames:
    """The ids of a library's documents by their endings, and by title."""

    def __init__(self, records: Iterable[DocumentRecord]) -> None:
        self._ids: set[str] = set()
        self._by_ending: defaultdict[str, set[str]] = defaultdict(set)
        self._by_stem: defaultdict[str, set[str]] = defaultdict(set)
        self._by_title: defaultdict[str, set[str]] = defaultdict(set)
        for record in records:
            self._ids.add(record.id)
            for ending in _endings(record.id):
                self._by_ending[ending].add(record.id)
                self._by_stem[_stem(ending)].add(record.id)
            if record.title:
                self._by_title[_folded(record.title)].add(record.id)

    def match(self, name: str) -> str | None:
        """The one document that is meant: that of exactly this id, else the only one whose id ends
        in the name. A name without the suffix of a known type of file may leave that of the id
        out, or be a title. A longer path than the id may be of another folder, so it is none."""
        if name in self._ids:
            return name
        for each in dict.fromkeys((name.replace("\\", "/"), unquote(name))):
            bare = each.removeprefix("./").lstrip("/")
            choices = [self._by_ending.get(bare)]
            if _stem(bare) == bare:
                choices += [self._by_stem.get(bare), self._by_title.get(_folded(bare))]
            for found in choices:
                if found:
                    return next(iter(found)) if len(found) == 1 else None
        return None


def _endings(id: str) -> Iterator[str]:
    """The id, and what stands behind each slash, or colon of a source, the longest first."""
    yield id
    for match in re.finditer("[/:]", id):
        if match.end() < len(id):
            yield id[match.end() :]


def _stem(name: str) -> str:
    """The name without the suffix of a known type of file."""
    path = PurePosixPath(name)
    return str(path.with_suffix("")) if type_by_name(f"file{path.suffix}") else name


def _folded(title: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", title).casefold().split())
