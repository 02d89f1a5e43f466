"""What one batch of changes does."""

from __future__ import annotations

from dataclasses import replace

import apsw
import pytest
from storage.building import contents, key, numbers_by_id, put, vector, writing

from merestone.storage import faults
from merestone.storage.engine import SQLiteStore
from merestone.types import (
    OWNER,
    Change,
    ChunkRow,
    Counts,
    Delete,
    DocumentRecord,
    Problem,
    Put,
    RemovedChunk,
    Status,
    StoreError,
    Touch,
)


def version_of(store: SQLiteStore) -> int:
    with store.snapshot(OWNER) as snapshot:
        return snapshot.library_version


def apply(store: SQLiteStore, *changes: Change) -> Counts:
    with writing(store) as writer:
        return writer.apply(changes)


def chunk_id(document: str, passage: str, occurrence: int = 1) -> str:
    return key(f"{document}|{passage}|{occurrence}")


def test_a_document_is_stored_whole(store: SQLiteStore) -> None:
    change = put("guide.md", ["first words", "second words"], title="Guide", language="en")
    assert apply(store, change) == Counts(added=2)
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.library_version == 1
        assert snapshot.record("guide.md") == change.record
        assert snapshot.document("guide.md") == change.document
        assert snapshot.chunks_of("guide.md") == [row.chunk for row in change.rows]
        assert snapshot.chunks_of("guide.md", 1, 1) == [change.rows[1].chunk]
        assert snapshot.inputs("guide.md") == {row.chunk.id: row.input_hash for row in change.rows}
        assert snapshot.chunk(change.rows[1].chunk.id) == change.rows[1].chunk
        assert snapshot.chunk_count() == 2
        assert snapshot.check() == []


def test_unknown_names_are_absent(store: SQLiteStore) -> None:
    apply(store, put("a", ["words"]))
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.record("b") is None
        assert snapshot.document("b") is None
        assert snapshot.chunk("b") is None
        assert snapshot.chunks_of("b") == []
        assert snapshot.inputs("b") == {}
        assert snapshot.history("b") == []
        assert snapshot.by_number([99]) == {}
        assert snapshot.vectors([99]) == {}


def test_unchanged_passages_keep_their_number_and_need_no_vector(store: SQLiteStore) -> None:
    apply(store, put("a", ["one", "two"]))
    before = numbers_by_id(store)
    change = put("a", ["zero", "one", "two"], vectors={"zero": vector("zero")})
    assert apply(store, change) == Counts(added=1, kept=2)
    after = numbers_by_id(store)
    assert {chunk: after[chunk] for chunk in before} == before
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.chunks_of("a") == [row.chunk for row in change.rows]
        assert snapshot.check() == []


def test_another_embedder_input_gives_a_new_number_to_the_same_id(store: SQLiteStore) -> None:
    apply(store, put("a", ["one"]))
    before = numbers_by_id(store)
    assert apply(store, put("a", ["one"], heading="New")) == Counts(changed=1)
    after = numbers_by_id(store)
    assert after.keys() == before.keys()
    assert set(after.values()).isdisjoint(before.values())
    with store.snapshot(OWNER) as snapshot:
        assert len(snapshot.lexical(["new"], 5)) == 1
        assert snapshot.check() == []


def test_numbers_are_never_used_again(store: SQLiteStore) -> None:
    apply(store, put("a", ["one", "two"]))
    last = max(numbers_by_id(store).values())
    apply(store, Delete("a"))
    apply(store, put("a", ["one"]))
    assert min(numbers_by_id(store).values()) > last


def test_a_row_without_vector_undoes_the_whole_batch(store: SQLiteStore) -> None:
    apply(store, put("a", ["one"]))
    before = contents(store)
    with pytest.raises(StoreError, match="'b'") as error:
        apply(store, put("a", ["changed"]), put("b", ["two"], vectors=False))
    assert error.value.code == "missing-vector"
    assert contents(store) == before
    assert version_of(store) == 1


def test_a_batch_that_changes_nothing_is_no_transaction(store: SQLiteStore) -> None:
    change = put("a", ["one", "two"])
    apply(store, change)
    assert apply(store, change) == Counts(kept=2)
    assert apply(store, Touch(change.record)) == Counts()
    assert apply(store, Delete("unknown")) == Counts()
    assert apply(store) == Counts()
    assert version_of(store) == 1


def test_a_batch_raises_the_version_by_one(store: SQLiteStore) -> None:
    apply(store, put("a", ["one"]), put("b", ["two"]), Delete("a"))
    assert version_of(store) == 1
    apply(store, put("c", ["three"]), put("d", ["four"]))
    assert version_of(store) == 2


def test_a_touch_changes_the_record_alone(store: SQLiteStore) -> None:
    change = put("a", ["one"])
    apply(store, change)
    problem = Problem("a", Status.CRASHED, "worker-crashed", "It broke.", "Look.")
    record = replace(change.record, mtime_ns=5, problem=problem, failed_hash="f")
    assert apply(store, Touch(record)) == Counts()
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.record("a") == record
        assert snapshot.document("a") == change.document
        assert snapshot.chunk_count() == 1
        assert len(snapshot.history("a")) == 1


def test_a_document_that_never_had_a_text_is_a_record(store: SQLiteStore) -> None:
    record = DocumentRecord("scan.pdf", status=Status.NEEDS_OCR, media_type="application/pdf")
    apply(store, Touch(record))
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.record("scan.pdf") == record
        document = snapshot.document("scan.pdf")
        assert document is not None
        assert (document.text, document.status) == ("", Status.NEEDS_OCR)
        assert snapshot.check() == []
    assert apply(store, put("scan.pdf", ["now read"])) == Counts(added=1)


def test_a_document_may_have_no_chunks(store: SQLiteStore) -> None:
    apply(store, put("empty.md", []))
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.chunks_of("empty.md") == []
        assert snapshot.dense(vector("x"), 5) == []
        assert snapshot.lexical(["x"], 5) == []
        assert snapshot.check() == []


def test_a_deleted_document_leaves_nothing_but_history(store: SQLiteStore) -> None:
    apply(store, put("a", ["one", "two"]), put("b", ["one"]))
    assert apply(store, Delete("a")) == Counts(removed=2)
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.record("a") is None
        assert snapshot.document("a") is None
        assert [chunk.document for chunk in snapshot.by_number(range(99)).values()] == ["b"]
        assert [
            snapshot.by_number([hit.number])[hit.number].document
            for hit in snapshot.lexical(["one"], 9)
        ] == ["b"]
        assert len(snapshot.dense(vector("x"), 9)) == 1
        last = snapshot.history("a")[-1]
        assert (last.version, last.added) == ("", ())
        assert {chunk.id for chunk in last.removed} == {chunk_id("a", "one"), chunk_id("a", "two")}
        assert snapshot.check() == []


def test_history_tells_which_passages_came_and_went(store: SQLiteStore) -> None:
    first, second = put("a", ["one", "two"]), put("a", ["two", "three"])
    apply(store, first)
    apply(store, second)
    apply(store, Touch(replace(second.record, size=9)))
    with store.snapshot(OWNER) as snapshot:
        entries = snapshot.history("a")
    assert [(entry.version, entry.library_version) for entry in entries] == [
        (first.record.version, 1),
        (second.record.version, 2),
    ]
    assert entries[0].added == (chunk_id("a", "one"), chunk_id("a", "two"))
    assert (entries[1].added, entries[1].removed) == (
        (chunk_id("a", "three"),),
        (RemovedChunk(chunk_id("a", "one"), 0, 3),),
    )


def test_a_moved_document_says_where_it_was(store: SQLiteStore) -> None:
    apply(store, put("old.md", ["one"]))
    counts = apply(store, Delete("old.md"), put("new.md", ["one"], moved_from="old.md"))
    assert counts == Counts(added=1, removed=1)
    with store.snapshot(OWNER) as snapshot:
        record = snapshot.record("new.md")
        assert record is not None
        assert record.moved_from == "old.md"
        assert snapshot.history("new.md")[0].moved_from == "old.md"
        assert [item.id for item in snapshot.records()] == ["new.md"]
        assert snapshot.check() == []


def test_a_document_may_go_and_come_back_in_one_batch(store: SQLiteStore) -> None:
    apply(store, put("a", ["one", "two"]))
    assert apply(store, Delete("a"), put("a", ["two", "three"])) == Counts(added=2, removed=2)
    with store.snapshot(OWNER) as snapshot:
        assert [chunk.text for chunk in snapshot.chunks_of("a")] == ["two", "three"]
        assert snapshot.check() == []


def test_a_document_may_come_and_go_in_one_batch(store: SQLiteStore) -> None:
    apply(store, put("a", ["one"]), Delete("a"), put("b", ["two"]))
    with store.snapshot(OWNER) as snapshot:
        assert [record.id for record in snapshot.records()] == ["b"]
        assert snapshot.check() == []


def test_the_last_of_two_puts_stays(store: SQLiteStore) -> None:
    apply(store, put("a", ["one", "two"]), put("a", ["two", "three"]))
    with store.snapshot(OWNER) as snapshot:
        assert [chunk.text for chunk in snapshot.chunks_of("a")] == ["two", "three"]
        assert len(snapshot.lexical(["two"], 9)) == 1
        assert snapshot.check() == []


def test_two_documents_may_swap_their_content(store: SQLiteStore) -> None:
    apply(store, put("a", ["one", "two"]), put("b", ["three"]))
    assert apply(store, put("a", ["three"]), put("b", ["one", "two"])) == Counts(3, 3)
    with store.snapshot(OWNER) as snapshot:
        assert [chunk.text for chunk in snapshot.chunks_of("a")] == ["three"]
        assert [chunk.text for chunk in snapshot.chunks_of("b")] == ["one", "two"]
        assert snapshot.check() == []


def test_equal_passages_of_one_document_are_chunks_of_their_own(store: SQLiteStore) -> None:
    apply(store, put("a", ["same", "same", "same"]), put("b", ["same"]))
    before = numbers_by_id(store)
    assert apply(store, put("a", ["same", "same"])) == Counts(removed=1, kept=2)
    after = numbers_by_id(store)
    assert len(before) == 4
    assert after.items() <= before.items()


def test_an_id_that_was_left_out_stays_so_until_it_is_put(
    store: SQLiteStore,
) -> None:
    apply(store, put("a", ["one"]))
    apply(store, Delete("a", leave_out=True), Delete("b", leave_out=True))
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.left_out() == {"a", "b"}
    apply(store, put("a", ["one"]))
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.left_out() == {"b"}


def test_another_pipeline_brings_new_terms(store: SQLiteStore) -> None:
    apply(store, put("a", ["haus"], pipeline="old"))
    before = numbers_by_id(store)
    new = put("a", ["haus"], pipeline="new", vectors=False)
    row = replace(new.rows[0], terms=("stemmed",))
    assert apply(store, replace(new, rows=(row,))) == Counts(kept=1)
    assert numbers_by_id(store) == before
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.lexical(["haus"], 5) == []
        assert len(snapshot.lexical(["stemmed"], 5)) == 1
        assert snapshot.check() == []


def _two_of_one_id(change: Put) -> Put:
    first, second = change.rows
    return replace(change, rows=(first, _with(second, id=first.chunk.id)))


def _with(row: ChunkRow, **fields: object) -> ChunkRow:
    return replace(row, chunk=replace(row.chunk, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "spoil"),
    [
        ("duplicate-chunk", _two_of_one_id),
        ("put-mismatch", lambda c: replace(c, document=replace(c.document, id="other"))),
        ("put-mismatch", lambda c: replace(c, record=replace(c.record, version="other"))),
        ("put-mismatch", lambda c: replace(c, rows=(c.rows[0], _with(c.rows[1], document="z")))),
        ("chunk-order", lambda c: replace(c, rows=c.rows[1:])),
        ("chunk-order", lambda c: replace(c, rows=(c.rows[0], _with(c.rows[1], ordinal=0)))),
        ("bad-vector", lambda c: replace(c, rows=(replace(c.rows[0], vector=vector("x")[:3]),))),
        (
            "bad-vector",
            lambda c: replace(c, rows=(replace(c.rows[0], vector=vector("x") * float("nan")),)),
        ),
        ("bad-vector", lambda c: replace(c, rows=(replace(c.rows[0], vector=vector("x") * 1e9),))),
    ],
)
def test_changes_that_do_not_fit_are_refused_whole(
    store: SQLiteStore, code: str, spoil: object
) -> None:
    apply(store, put("kept", ["words"]))
    before = contents(store)
    with pytest.raises(StoreError) as error:
        apply(store, put("other", ["x"]), spoil(put("a", ["one", "two"])))  # type: ignore[operator]
    assert error.value.code == code
    assert contents(store) == before


def test_an_id_of_another_document_is_refused(store: SQLiteStore) -> None:
    first = put("a", ["one"])
    apply(store, first)
    second = put("b", ["one"])
    stolen = replace(second, rows=(_with(second.rows[0], id=first.rows[0].chunk.id),))
    with pytest.raises(StoreError, match="'b'") as error:
        apply(store, stolen)
    assert error.value.code == "duplicate-chunk"


def test_a_full_disk_leaves_the_library_as_it_was(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(store, put("a", ["one"]))
    before = contents(store)
    long = put("b", [f"word{n} " * 200 for n in range(60)])
    with writing(store) as writer:
        connection: apsw.Connection = writer._connection
        pages = connection.pragma("page_count")
        connection.pragma("max_page_count", pages + 5)
        with pytest.raises(StoreError) as error:
            writer.apply([put("a", ["changed"]), long])
        assert error.value.code == "disk-full"
        connection.pragma("max_page_count", pages + 5000)
        assert contents(store) == before
        assert writer.apply([long]).added == 60


def test_an_error_at_any_point_before_the_commit_undoes_the_batch(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(store, put("a", ["one", "two"]))
    before = contents(store)
    points = faults.TRANSACTION[: faults.TRANSACTION.index("before-commit") + 1]
    for point in points:

        def fail(name: str, point: str = point) -> None:
            if name == point:
                raise OSError(point)

        monkeypatch.setattr(faults, "reach", fail)
        with pytest.raises(OSError, match=point):
            apply(store, put("a", ["two", "three"]), put("b", ["four"]), Delete("a"))
        assert contents(store) == before
    assert version_of(store) == 1
