"""Whatever is stored comes back as it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage.building import put, vector, writing

from merestone.storage.codec import (
    decode_document,
    encode_body,
    from_json,
    from_sql,
    to_json,
    to_sql,
)
from merestone.storage.engine import SQLiteStore
from merestone.storage.rows import read_record, record_row
from merestone.types import (
    OWNER,
    Block,
    Box,
    Chunk,
    ChunkRow,
    ContextSpan,
    Document,
    DocumentRecord,
    DocumentWarning,
    Edge,
    Page,
    Problem,
    Put,
    Segment,
    Segments,
    Status,
    StoreError,
    Unit,
    Word,
)

# Every code point, NUL and lone surrogates included.
TEXTS = st.text(st.characters(codec=None), max_size=12)
OFFSETS = st.integers(0, 10**9)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(TEXTS, JSON_VALUES, max_size=3)
KINDS = st.sampled_from(["heading", "paragraph", "table_row", "code"])
LAYERS = st.sampled_from(["body", "furniture", "hidden"])

BLOCKS = st.builds(
    Block,
    KINDS,
    OFFSETS,
    OFFSETS,
    st.none() | st.integers(1, 6),
    st.none() | st.integers(0, 9),
    LAYERS,
    METADATA,
)
SEGMENTS = st.builds(
    Segment,
    OFFSETS,
    OFFSETS,
    OFFSETS,
    OFFSETS,
    st.sampled_from(["copy", "replace", "insert", "delete"]),
    st.none() | st.integers(1, 9),
)
WORDS = st.builds(Word, OFFSETS, OFFSETS, OFFSETS, FLOATS, FLOATS, FLOATS, FLOATS)
PAGES = st.builds(
    Page,
    st.integers(1, 9),
    st.none() | TEXTS,
    FLOATS,
    FLOATS,
    st.sampled_from([0, 90]),
    OFFSETS,
    st.booleans(),
    st.lists(WORDS, max_size=3).map(tuple),
)
DOCUMENTS = st.builds(
    Document,
    id=TEXTS,
    text=TEXTS,
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
    segments=st.lists(SEGMENTS, max_size=3).map(tuple).map(Segments),
    pages=st.lists(PAGES, max_size=2).map(tuple),
    line_starts=st.lists(OFFSETS, max_size=5).map(tuple),
    version=st.text("abc", max_size=3),
    source_hash=st.text("abc", max_size=3),
    uri=TEXTS,
    title=st.none() | TEXTS,
    media_type=TEXTS,
    encoding=st.none() | TEXTS,
    language=st.none() | TEXTS,
    metadata=METADATA,
    status=st.sampled_from(Status),
    warnings=st.lists(st.builds(DocumentWarning, TEXTS, TEXTS), max_size=2).map(tuple),
)
PROBLEMS = st.builds(Problem, TEXTS, st.sampled_from(Status), TEXTS, TEXTS, TEXTS)
RECORDS = st.builds(
    DocumentRecord,
    id=TEXTS,
    version=st.text("abc", max_size=3),
    uri=TEXTS,
    source_hash=st.text("abc", max_size=3),
    pipeline=st.text("abc", max_size=3),
    mtime_ns=st.integers(-(2**63), 2**63 - 1),
    size=OFFSETS,
    indexed_at=st.text("0123", max_size=3),
    title=st.none() | TEXTS,
    language=st.none() | TEXTS,
    media_type=TEXTS,
    metadata=METADATA,
    status=st.sampled_from(Status),
    problem=st.none() | PROBLEMS,
    failed_hash=st.text("abc", max_size=3),
    moved_from=st.none() | TEXTS,
)
CONTEXTS = st.lists(
    st.builds(
        ContextSpan,
        st.sampled_from(["title", "heading", "lead_in"]),
        st.none() | OFFSETS,
        st.none() | OFFSETS,
        TEXTS,
    ),
    max_size=2,
).map(tuple)
EDGES = st.builds(Edge, TEXTS, FLOATS)
CHUNKS = st.builds(
    Chunk,
    id=TEXTS,
    document=st.just("d"),
    version=st.just("v"),
    ordinal=st.just(0),
    total=st.just(1),
    start=OFFSETS,
    end=OFFSETS,
    text=TEXTS,
    tokens=OFFSETS,
    kind=st.text("abc", max_size=3),
    heading_path=st.lists(TEXTS, max_size=2).map(tuple),
    context=CONTEXTS,
    shed=CONTEXTS,
    boundary_start=EDGES,
    boundary_end=EDGES,
    lines=st.none() | st.tuples(OFFSETS, OFFSETS),
    pages=st.lists(st.integers(1, 9), max_size=2).map(tuple),
    boxes=st.lists(
        st.builds(Box, st.integers(1, 9), FLOATS, FLOATS, FLOATS, FLOATS), max_size=2
    ).map(tuple),
    attributes=METADATA,
    metadata=METADATA,
    units=st.lists(
        st.builds(Unit, OFFSETS, OFFSETS, st.just("sentence"), TEXTS, OFFSETS, OFFSETS), max_size=2
    ).map(tuple),
    config=st.text("abc", max_size=3),
)


def record_of(document: Document) -> DocumentRecord:
    return DocumentRecord(
        id=document.id,
        version=document.version,
        uri=document.uri,
        source_hash=document.source_hash,
        title=document.title,
        language=document.language,
        media_type=document.media_type,
        metadata=document.metadata,
    )


@given(DOCUMENTS)
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    body = encode_body(document)
    assert decode_document(record_of(document), document.text, body) == document
    bare = decode_document(record_of(document), document.text, body, blocks=False)
    pages = tuple(replace(page, words=()) for page in document.pages)
    assert bare == replace(document, blocks=(), pages=pages)


@given(RECORDS)
def test_a_record_comes_back_as_it_was(record: DocumentRecord) -> None:
    row = record_row(record, 3, 0)
    assert read_record((*row, to_json(record.access))) == record


@given(TEXTS)
def test_a_text_is_stored_as_text_unless_utf8_cannot_hold_it(text: str) -> None:
    value = to_sql(text)
    assert from_sql(value) == text
    surrogate = any("\ud800" <= character <= "\udfff" for character in text)
    assert isinstance(value, bytes) is surrogate


@given(JSON_VALUES)
def test_json_comes_back_as_it_was(value: Any) -> None:
    assert from_json(to_json(value)) == value


@settings(max_examples=40)
@given(DOCUMENTS, CHUNKS, METADATA)
def test_documents_and_chunks_survive_the_database(
    tmp_path_factory: pytest.TempPathFactory,
    document: Document,
    chunk: Chunk,
    metadata: dict[str, Any],
) -> None:
    document = replace(document, id="d", version="v", metadata=metadata)
    store = SQLiteStore(tmp_path_factory.mktemp("codec") / "state")
    row = ChunkRow(chunk, "hash", ("term",), vector("x"))
    with writing(store) as writer:
        writer.apply([Put(record_of(document), document, (row,))])
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.document("d") == document
        assert snapshot.record("d") == record_of(document)
        assert snapshot.chunks_of("d") == [chunk]
        assert snapshot.chunk(chunk.id) == chunk
    store.close()


def test_ids_that_are_not_utf8_work_everywhere(store: SQLiteStore) -> None:
    name = "caf\udce9.md"
    with writing(store) as writer:
        writer.apply([put(name, ["bad \udce9 words", "good words"], title="\ud800")])
        writer.apply([put("new.md", ["words"], moved_from=name)])
    with store.snapshot(OWNER) as snapshot:
        assert [record.id for record in snapshot.records()] == ["new.md", name]
        assert [chunk.text for chunk in snapshot.chunks_of(name)] == [
            "bad \udce9 words",
            "good words",
        ]
        assert len(snapshot.inputs(name)) == 2
        assert snapshot.history("new.md")[0].moved_from == name
        assert len(snapshot.lexical(["\udce9"], 5)) == 1
        assert snapshot.check() == []
    with writing(store) as writer:
        assert writer.apply([put(name, ["good words"])]).kept == 1


def test_metadata_of_a_chunk_follows_its_document_where_they_are_equal(store: SQLiteStore) -> None:
    change = put("d", ["a b"], metadata={"team": "x"})
    with writing(store) as writer:
        writer.apply([change])
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.chunks_of("d")[0].metadata == {"team": "x"}


def test_a_damaged_body_is_named(store: SQLiteStore) -> None:
    record = DocumentRecord("guide.md")
    with pytest.raises(StoreError, match=r"guide\.md") as error:
        decode_document(record, "", b"not zlib")
    assert error.value.code == "store-damaged"


def test_a_json_column_that_is_nothing_is_damage() -> None:
    with pytest.raises(StoreError) as error:
        from_json(None)  # type: ignore[arg-type]
    assert error.value.code == "store-damaged"


@pytest.mark.parametrize("column", ["[1] [2]", "[1]]", "[1", "", b"[1"])
def test_a_json_column_that_is_cut_or_goes_on_is_damage(column: str | bytes) -> None:
    with pytest.raises(StoreError):
        from_json(column)
