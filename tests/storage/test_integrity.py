"""Whatever is wrong with a library, its check finds it."""

from __future__ import annotations

import pytest
from storage.building import put, writing

from merestone.storage.engine import SQLiteStore
from merestone.types import OWNER, Delete

TAMPERING = {
    "a chunk belongs to no document": "DELETE FROM document WHERE id = 'a'",
    "a text belongs to no document": "UPDATE document_body SET document = 99 WHERE document = 2",
    "a document has chunks but no text": "DELETE FROM document_body",
    "not numbered from 0 to its total: a": "UPDATE chunk SET ordinal = 5 WHERE ordinal = 0",
    "numbered from 0 to its total: a": "UPDATE document SET total = 1 WHERE id = 'a'",
    "another generation than its document: ": "UPDATE chunk SET generation = 3",
    "a chunk has an unknown access class": "UPDATE chunk SET access = 4",
    "a document has an unknown access class": "UPDATE document SET access = 4",
    "different access classes": (
        "INSERT INTO access_class VALUES (1, '[[]]'); UPDATE document SET access = 1"
    ),
    "a chunk is not in the lexical index": "DELETE FROM lexical_1 WHERE rowid = 1",
    "the lexical index holds a chunk that is gone: number 1": "DELETE FROM chunk WHERE number = 1",
    "both stored and left out: a": "INSERT INTO left_out VALUES ('a')",
    "a history entry is from the future": "UPDATE history SET library_version = 9",
    "the text of a chunk is not that of its document": "UPDATE chunk SET text = 'x' || text",
    "of its document": "UPDATE chunk SET span_start = span_start + 1",
    "a chunk has no vector: number 1": "DELETE FROM dense",
    "a chunk has two vectors: number 1": (
        "INSERT INTO dense (generation, rows, dimension, chunks, documents, scales, bounds, codes, "
        "vectors) SELECT generation, rows, dimension, chunks, documents, scales, bounds, codes, "
        "vectors FROM dense"
    ),
    "names another document: number 1": (
        "UPDATE dense SET documents = zeroblob(LENGTH(documents))"
    ),
    "a document is of an unknown generation": "UPDATE document SET generation = 3",
    "is of another dimension": "UPDATE generation SET dimension = 7",
    "holds numbers that are not finite": (
        "UPDATE dense SET vectors = CAST(x'007c' || substr(vectors, 3) AS BLOB)"
    ),
    "is not in order": "UPDATE dense SET chunks = zeroblob(LENGTH(chunks))",
    "vector segment 1: its bytes": "UPDATE dense SET codes = x'00'",
    "SQLite: ": (
        "PRAGMA writable_schema = ON; "
        "UPDATE sqlite_schema SET sql = replace(sql, 'UNIQUE (generation, id)', "
        "'UNIQUE (generation, input_hash)') WHERE name = 'chunk'"
    ),
}


@pytest.mark.parametrize("fault", TAMPERING)
def test_a_fault_is_found(store: SQLiteStore, fault: str) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one", "two words", "three"]), put("b", ["four"])])
        with store.snapshot(OWNER) as snapshot:
            assert snapshot.check() == []
        writer._connection.execute(TAMPERING[fault])
    store.close()
    with store.snapshot(OWNER) as snapshot:
        assert any(fault in line for line in snapshot.check()), snapshot.check()


@pytest.mark.parametrize("first", [5, 8, 11, 14, 17])
def test_pages_of_rubbish_are_told_in_words(store: SQLiteStore, first: int) -> None:
    with writing(store) as writer:
        writer.apply([put("a", [f"words {n} " * 40 for n in range(60)])])
    store.close()
    data = bytearray(store.path.read_bytes())
    data[first * 8192 : (first + 1) * 8192] = b"\xff" * 8192
    store.path.write_bytes(data)
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.check() != []


def test_text_that_is_no_text_is_found(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one"]), put("b", ["two"])])
        writer._connection.execute(
            "UPDATE chunk SET text = CAST(x'ff80' AS TEXT) WHERE number = 1; DELETE FROM dense"
        )
    with store.snapshot(OWNER) as snapshot:
        found = snapshot.check()
    assert any(line.startswith("SQLite: ") for line in found)
    assert "a chunk has no vector: number 2" in found


def test_dead_vectors_are_no_fault(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one", "two"]), put("b", ["three", "four", "five"])])
        writer.apply([Delete("a")])
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.check() == []


def test_what_another_connection_merged_is_no_fault(store: SQLiteStore) -> None:
    with writing(store) as writer:
        for changes in ([put("a", ["one"])], [Delete("a")], []):
            writer.apply(changes)
            writer.maintain()
            with store.snapshot(OWNER) as snapshot:
                assert snapshot.check() == []


def test_many_faults_of_a_kind_are_counted(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", [f"passage {n}" for n in range(12)])])
        writer._connection.execute("DELETE FROM lexical_1")
    with store.snapshot(OWNER) as snapshot:
        found = snapshot.check()
    assert len(found) == 6
    assert found[-1].endswith("(7 more)")
