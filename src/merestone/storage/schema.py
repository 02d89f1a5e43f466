"""The tables of a library, and how its file is recognised and made."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import apsw

from merestone.files import flush
from merestone.storage import faults, generations
from merestone.storage.failures import not_a_library
from merestone.types import EmbedderIdentity, StoreError

APPLICATION_ID = 0x4D455245
"""``MERE`` in ASCII, in the file's header: ``file library.db`` shows it."""
SCHEMA = 2
PAGE_SIZE = 8192
UNSAID_CLASS = 0
"""The access class of documents of which nothing says who may read them."""

TABLES = tuple(
    statement.strip()
    for statement in """
CREATE TABLE meta (
    row INTEGER PRIMARY KEY CHECK (row = 1),
    identity TEXT NOT NULL,            -- tells this library from a later one at the same path
    library_version INTEGER NOT NULL,  -- one up per transaction that changed anything
    generation INTEGER NOT NULL,       -- the one that answers
    access_rules TEXT                  -- fingerprint of the rules that every document is judged by
);
CREATE TABLE generation (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder TEXT NOT NULL,            -- fingerprint
    embedder_name TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    settings TEXT NOT NULL,            -- JSON object: how to open the embedder again
    canary BLOB NOT NULL,              -- float32: its vector of a known text
    building INTEGER NOT NULL          -- 1: in the making; 0 and not answering: to be dropped
);
CREATE TABLE access_class (
    number INTEGER PRIMARY KEY,
    allow TEXT NOT NULL UNIQUE         -- JSON arrays of principals; each must name the asker
);
CREATE TABLE document (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    id TEXT NOT NULL,
    version TEXT NOT NULL,
    uri TEXT NOT NULL,
    source_hash TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    stamp TEXT NOT NULL,
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
    modified TEXT GENERATED ALWAYS AS (json_extract(metadata, '$.modified')) VIRTUAL,
    UNIQUE (generation, id)
);
CREATE INDEX document_access ON document (generation, access);
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
-- Holds all that a filter by document and access looks at.
CREATE INDEX chunk_order ON chunk (generation, document, ordinal, access);
CREATE INDEX chunk_input ON chunk (generation, input_hash);
CREATE TABLE dense (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    dimension INTEGER NOT NULL,
    chunks BLOB NOT NULL,              -- int64, ascending
    documents BLOB NOT NULL,           -- int64
    scales BLOB NOT NULL,              -- float32: codes times scale is about the vector
    bounds BLOB NOT NULL,              -- float32 pairs: norm of what the codes lose, of the codes
    codes BLOB NOT NULL,               -- int8
    vectors BLOB NOT NULL              -- float16
);
CREATE TABLE left_out (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE history (
    number INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    document TEXT NOT NULL,
    version TEXT NOT NULL,             -- empty: the document was removed
    library_version INTEGER NOT NULL,
    time TEXT NOT NULL,
    added TEXT NOT NULL,               -- JSON array of chunk ids
    moved_from TEXT,
    access INTEGER NOT NULL,           -- who could read it then
    edits BLOB                         -- zlib of JSON: runs of text shared with the version before
);
CREATE INDEX history_document ON history (document);
CREATE INDEX history_moved ON history (moved_from) WHERE moved_from IS NOT NULL;
CREATE TABLE departed (                -- chunks that went with an entry of the history
    entry INTEGER NOT NULL,
    place INTEGER NOT NULL,
    chunk TEXT NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    PRIMARY KEY (entry, place)
) WITHOUT ROWID;
CREATE INDEX departed_chunk ON departed (chunk);
CREATE TABLE journal (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    event TEXT NOT NULL,
    detail TEXT NOT NULL               -- JSON
);
""".split(";\n")
    if statement.strip()
)
"""One statement each."""


def create(path: Path, embedder: EmbedderIdentity) -> None:
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
        # Not rolled back on an error, which SQLite may have done already: the draft is given up.
        connection.execute("BEGIN IMMEDIATE")
        for statement in TABLES:
            connection.execute(statement)
        number = generations.add(connection, embedder, building=False)
        connection.execute(
            "INSERT INTO meta (row, identity, library_version, generation) VALUES (1, ?, 0, ?)",
            (secrets.token_hex(16), number),
        )
        connection.execute("INSERT INTO access_class VALUES (?, '[]')", (UNSAID_CLASS,))
        connection.execute(f"PRAGMA user_version = {SCHEMA}").fetchall()
        connection.execute("COMMIT")
        # Kept in the file's header. Closing the only connection leaves no log behind.
        connection.execute("PRAGMA journal_mode = wal").fetchall()
    finally:
        connection.close()
    flush(draft)
    faults.reach("before-create")
    os.replace(draft, path)
    flush(path.parent)
    faults.reach("after-create")


_CREATE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


def recognise(connection: apsw.Connection, path: Path) -> int:
    """The schema of the library at ``path``, which may be older than this version's.

    Raises :class:`StoreError` unless it is a library that this version knows.
    """
    if connection.pragma("application_id") != APPLICATION_ID:
        raise not_a_library(path, "it is the file of another program")
    schema = int(connection.pragma("user_version"))
    if schema > SCHEMA:
        raise StoreError(
            "schema-too-new",
            f"The library {path} has schema {schema}; this version of Merestone knows up to "
            f"{SCHEMA}.",
            "Update Merestone, or build a library of its own in another state folder.",
        )
    if schema < 1:
        raise not_a_library(path, f"there is no schema {schema}")
    return schema
