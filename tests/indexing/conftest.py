"""Folders of documents with a library over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from merestone import Library


class Folder:
    """A folder that is written to, and the library over it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = open_library(path)

    def write(self, name: str, text: str | bytes) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def contents(self) -> dict[str, list[tuple[str, int, int]]]:
        """Each document's chunks: id and place."""
        with self.library.snapshot() as snapshot:
            return {
                record.id: [(c.id, c.start, c.end) for c in snapshot.chunks_of(record.id)]
                for record in snapshot.records()
                if record.version
            }


def open_library(path: Path, **tables: dict[str, object]) -> Library:
    """A library with the hashing embedder, which needs no model."""
    return Library.open(path, **{"embedding": {"model": "hashing"}, **tables})


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = Folder(tmp_path)
    yield made
    made.library.close()
