-- The tables of schema 1, as its last version made them.
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
    terms, tags, content='', contentless_delete=1, detail=full, tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Cf Cn Co Cs'"
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
