"""The tables of a library, and how its file is recognised and made."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import apsw

from merestone.storage.failures import not_a_library
from merestone.types import StoreError

APPLICATION_ID = 0x4D455245
"""``MERE`` in ASCII, in the file's header: ``file library.db`` shows it."""
SCHEMA = 1
PAGE_SIZE = 8192
PUBLIC = 0
"""The access class that everyone may read."""

# The analyser in ``text`` has already made the terms, so the tokenizer only has to part them at
# white space: every category is a token character but separators (Z) and control codes (Cc).
TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Cf Cn Co Cs'"

_TABLES = f"""
CREATE TABLE meta (
    row INTEGER PRIMARY KEY CHECK (row = 1),
    identity TEXT NOT NULL,            -- tells this library from a later one at the same path
    library_version INTEGER NOT NULL,  -- one up per transaction that changed anything
    generation INTEGER NOT NULL
);
CREATE TABLE generation (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder TEXT NOT NULL,            -- fingerprint
    embedder_name TEXT NOT NULL,
    dimension INTEGER NOT NULL
);
CREATE TABLE access_class (
    number INTEGER PRIMARY KEY,
    allow TEXT NOT NULL                -- JSON array of principals
);
CREATE TABLE document (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    uri TEXT NOT NULL,
    source_hash TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    indexed_at TEXT NOT NULL,
    title TEXT,
    language TEXT,
    media_type TEXT NOT NULL,
    metadata TEXT NOT NULL,            -- JSON object
    status TEXT NOT NULL,
    problem TEXT,                      -- JSON object: the last error
    failed_hash TEXT NOT NULL,
    moved_from TEXT,
    access INTEGER NOT NULL,
    total INTEGER NOT NULL,            -- chunks
    created TEXT GENERATED ALWAYS AS (json_extract(metadata, '$.created')) VIRTUAL,
    modified TEXT GENERATED ALWAYS AS (json_extract(metadata, '$.modified')) VIRTUAL
);
CREATE TABLE document_body (
    document INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    body BLOB NOT NULL                 -- blocks, segments, pages, lines, warnings: zlib of JSON
);
CREATE TABLE chunk (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    document INTEGER NOT NULL,
    id TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    access INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    kind TEXT NOT NULL,
    heading_path TEXT,                 -- from here JSON; NULL: empty
    context TEXT,
    shed TEXT,
    boundary TEXT NOT NULL,
    lines TEXT,
    pages TEXT,
    boxes TEXT,
    attributes TEXT,
    metadata TEXT,                     -- NULL: the document's
    units TEXT,
    config TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (generation, id)
);
CREATE INDEX chunk_order ON chunk (document, ordinal);
CREATE INDEX chunk_input ON chunk (input_hash);
CREATE VIRTUAL TABLE lexical USING fts5(
    terms, tags, content='', contentless_delete=1, detail=full, tokenize="{TOKENIZER}"
);
CREATE VIRTUAL TABLE lexical_vocabulary USING fts5vocab(lexical, row);
CREATE TABLE dense (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    dimension INTEGER NOT NULL,
    chunks BLOB NOT NULL,              -- int64, ascending
    documents BLOB NOT NULL,           -- int64
    classes BLOB NOT NULL,             -- int32
    scales BLOB NOT NULL,              -- float32: codes times scale is about the vector
    bounds BLOB NOT NULL,              -- float32 pairs: norm of what the codes lose, of the codes
    codes BLOB NOT NULL,               -- int8
    vectors BLOB NOT NULL              -- float16
);
CREATE TABLE left_out (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE history (
    number INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    version TEXT NOT NULL,             -- empty: the document was removed
    library_version INTEGER NOT NULL,
    time TEXT NOT NULL,
    added TEXT NOT NULL,               -- JSON arrays of chunk ids
    removed TEXT NOT NULL,
    moved_from TEXT
);
CREATE INDEX history_document ON history (document);
CREATE TABLE journal (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    event TEXT NOT NULL,
    detail TEXT NOT NULL               -- JSON
);
"""


def create(path: Path, embedder: str, embedder_name: str, dimension: int) -> None:
    """Make an empty library at ``path``, whole or not at all.

    It is built under another name and renamed, so no reader ever opens half a schema. The caller
    holds the lease.
    """
    draft = path.with_name(path.name + ".new")
    for leftover in (draft, Path(f"{draft}-wal"), Path(f"{draft}-shm"), Path(f"{draft}-journal")):
        leftover.unlink(missing_ok=True)
    connection = apsw.Connection(draft.absolute().as_uri() + "?mode=rwc", flags=_CREATE)
    try:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}").fetchall()
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}").fetchall()
        with connection:
            connection.execute(_TABLES)
            connection.execute(
                "INSERT INTO generation (embedder, embedder_name, dimension) VALUES (?, ?, ?)",
                (embedder, embedder_name, dimension),
            )
            connection.execute(
                "INSERT INTO meta VALUES (1, ?, 0, ?)",
                (secrets.token_hex(16), connection.last_insert_rowid()),
            )
            connection.execute("INSERT INTO access_class VALUES (?, '[\"public\"]')", (PUBLIC,))
            connection.execute(f"PRAGMA user_version = {SCHEMA}").fetchall()
        # Kept in the file's header. Closing the only connection leaves no log behind.
        connection.execute("PRAGMA journal_mode = wal").fetchall()
    finally:
        connection.close()
    _flush(draft)
    os.replace(draft, path)
    _flush(path.parent)


_CREATE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


def _flush(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power cut."""
    if path.is_dir() and os.name == "nt":
        return  # Windows has no handle for a folder; NTFS journals the rename
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def recognise(connection: apsw.Connection, path: Path) -> None:
    """Raise :class:`StoreError` unless ``path`` is a library that this version can read."""
    if connection.pragma("application_id") != APPLICATION_ID:
        raise not_a_library(path, "it is the file of another program")
    schema = connection.pragma("user_version")
    if schema > SCHEMA:
        raise StoreError(
            "schema-too-new",
            f"The library {path} has schema {schema}; this version of Merestone knows up to "
            f"{SCHEMA}.",
            "Update Merestone, or build a library of its own in another state folder.",
        )
    if schema < 1:
        raise not_a_library(path, f"there is no schema {schema}")
