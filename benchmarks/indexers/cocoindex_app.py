"""CocoIndex: an app from a folder to a table of SQLite, its memory in LMDB beside it.

Files and texts are both memoised by function, cut by its RecursiveSplitter for Markdown with an
overlap of a fifth.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("COCOINDEX_DISABLE_USAGE_TRACKING", "1")

import cocoindex as coco
from cocoindex._internal.context_keys import ContextProvider
from cocoindex.connectors import localfs, sqlite
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources.file import FileLike, PatternFilePathMatcher
from cocoindex.resources.id import IdGenerator

from indexers.embedder import NamedEmbedder
from indexers.rows import Place, StoredRow, files_in

_BYTES = 3
"""To a token of the limit: then chunks are as long as Merestone's, which keep below theirs."""
_DATABASE = coco.ContextKey[sqlite.ManagedConnection]("indexers_database")
_EMBEDDERS: dict[str, NamedEmbedder] = {}
"""By name: what is memoised must be told by its arguments."""


@dataclass
class _Row:
    id: int
    path: str
    input: str
    vector: str


@coco.fn(memo=True)
async def _embed(text: str, embedder: str) -> str:
    return json.dumps(_EMBEDDERS[embedder].embed([text])[0])


@coco.fn(memo=True)
async def _index_file(
    file: FileLike, table: sqlite.TableTarget[_Row], size: int, embedder: str
) -> None:
    text = await file.read_text()
    path = str(file.file_path.resolve())
    numbers = IdGenerator(path)
    for chunk in _cut(text, size):
        number = await numbers.next_id(chunk)
        table.declare_row(row=_Row(number, path, chunk, await _embed(chunk, embedder)))


@coco.fn
async def _main(folder: Path, size: int, embedder: str) -> None:
    table = await sqlite.mount_table_target(
        _DATABASE, "chunks", await sqlite.TableSchema.from_class(_Row, primary_key=["id"])
    )
    matcher = PatternFilePathMatcher(included_patterns=["**/*.md"])
    files = localfs.walk_dir(folder, recursive=True, path_matcher=matcher)
    await coco.mount_each(_index_file, files.items(), table, size, embedder)


class CocoIndexSystem:
    """An environment is opened for each run and closed behind it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._state = folder.with_name(f"{folder.name}-state")
        self._state.mkdir()

    def sync(self, size: int, embedder: NamedEmbedder, only: Sequence[str] = ()) -> None:
        # What is memoised is passed over: it takes no names.
        _EMBEDDERS[embedder.name] = embedder
        context = ContextProvider()
        connection = sqlite.connect(self._state / "rows.db", load_vec=False)
        context.provide(_DATABASE, connection)
        environment = coco.Environment(
            coco.Settings(db_path=self._state / "memory.db"), context_provider=context
        )
        try:
            settings = coco.AppConfig(name="files", environment=environment)
            app = coco.App(settings, _main, self._folder, size, embedder.name)
            app.update_blocking()
        finally:
            environment.close()
            connection.close()

    def rows(self) -> list[StoredRow]:
        connection = sqlite3.connect(self._state / "rows.db")
        try:
            found = connection.execute("SELECT path, input, vector FROM chunks").fetchall()
        finally:
            connection.close()
        return [
            StoredRow(Path(path).relative_to(self._folder).as_posix(), text, json.loads(vector))
            for path, text, vector in found
        ]

    def wanted(self, size: int) -> list[Place]:
        return [
            Place(name, chunk)
            for name, path in files_in(self._folder)
            for chunk in _cut(path.read_text("utf-8"), size)
        ]


def _cut(text: str, size: int) -> list[str]:
    length = size * _BYTES
    chunks = RecursiveSplitter().split(
        text, chunk_size=length, chunk_overlap=length // 5, language="markdown"
    )
    return [chunk.text for chunk in chunks]
