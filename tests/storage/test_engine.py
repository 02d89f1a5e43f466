"""The file: how it is made, recognised, opened and shared."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import apsw
import pytest
from storage.building import DIMENSION, contents, numbers_by_id, put, vector, writing

from merestone.storage import connection as connections
from merestone.storage import generations, open_store, schema
from merestone.storage.engine import SQLiteStore
from merestone.storage.writer import write_transaction
from merestone.types import OWNER, Delete, EmbedderIdentity, StoreError


def code_of(store: SQLiteStore) -> str:
    with pytest.raises(StoreError) as error, store.snapshot(OWNER):
        pass
    assert str(store.path) in error.value.message
    return error.value.code


def test_a_library_that_was_never_made_says_so(store: SQLiteStore, state: Path) -> None:
    assert not store.exists()
    with pytest.raises(StoreError, match="merestone sync") as error, store.snapshot(OWNER):
        pass
    assert error.value.code == "no-library"
    store.journal("sync", {})
    assert not state.exists()


def test_a_state_folder_that_cannot_be_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert code_of(SQLiteStore(tmp_path / "file" / "state")) == "no-library"


def test_a_new_library_is_empty(store: SQLiteStore, state: Path) -> None:
    with writing(store):
        pass
    assert store.exists()
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.library_version == 0
        assert snapshot.schema == 2
        assert snapshot.generation.embedder.fingerprint == "e1"
        assert list(snapshot.records()) == []
        assert snapshot.chunk_count() == 0
        assert snapshot.numbers() == []
        assert snapshot.check() == []
    store.close()
    assert sorted(path.name for path in state.iterdir()) == [
        ".gitignore",
        "library.db",
        "writer.lock",
    ]


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_the_state_folder_is_for_its_owner_alone(store: SQLiteStore, state: Path) -> None:
    state.mkdir(mode=0o755)
    with writing(store):
        assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_the_file_is_set_up_as_documented(store: SQLiteStore) -> None:
    with writing(store) as writer:
        connection = writer._connection
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("synchronous") == 2
        assert connection.pragma("secure_delete") == 1
        assert connection.pragma("page_size") == 8192
        assert connection.pragma("busy_timeout") == 5000
        assert connection.pragma("journal_size_limit") == 64 << 20
        assert connection.pragma("user_version") == schema.SCHEMA
        assert connection.pragma("application_id") == schema.APPLICATION_ID


def test_other_tools_can_read_it(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["plain words"], metadata={"created": "2024-01-01"})])
    with sqlite3.connect(store.path) as connection:
        rows = connection.execute(
            "SELECT d.id, d.created, c.text FROM chunk AS c JOIN document AS d "
            "ON d.number = c.document"
        ).fetchall()
    connection.close()
    assert rows == [("a", "2024-01-01", "plain words")]


def test_a_half_made_library_is_made_again(store: SQLiteStore, state: Path) -> None:
    state.mkdir()
    (state / "library.db.new").write_bytes(b"half a page")
    (state / "library.db.new-wal").write_bytes(b"half a log")
    assert not store.exists()
    with writing(store) as writer:
        writer.apply([put("a", ["one"])])
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.check() == []
    assert not list(state.glob("library.db.new*"))


def test_a_newer_schema_is_refused_in_words(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer._connection.pragma("user_version", 7)
    with (
        pytest.raises(StoreError, match=r"schema 7.*up to 2.*Update Merestone"),
        store.snapshot(OWNER),
    ):
        pass
    assert code_of(store) == "schema-too-new"
    with pytest.raises(StoreError, match="schema 7"), writing(store):
        pass


@pytest.mark.parametrize("data", [b"", b"not a database at all, but long enough" * 40])
def test_a_file_that_is_no_library_is_refused(store: SQLiteStore, state: Path, data: bytes) -> None:
    state.mkdir()
    store.path.write_bytes(data)
    assert code_of(store) == "not-a-library"
    with pytest.raises(StoreError), writing(store):
        pass
    assert store.path.read_bytes() == data


def test_a_database_of_another_program_is_refused(store: SQLiteStore, state: Path) -> None:
    state.mkdir()
    with sqlite3.connect(store.path) as connection:
        connection.execute("CREATE TABLE chunk (number INTEGER)")
    connection.close()
    assert code_of(store) == "not-a-library"
    with pytest.raises(StoreError), writing(store):
        pass


def test_damage_is_told_from_other_errors(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", [f"words {n}" * 50 for n in range(50)])])
    store.close()
    data = bytearray(store.path.read_bytes())
    data[3 * 8192 :] = b"\xff" * (len(data) - 3 * 8192)
    store.path.write_bytes(data)
    with pytest.raises(StoreError) as error:
        contents(store)
    assert error.value.code == "store-damaged"


def test_a_lone_change_of_embedder_is_refused_once_there_are_rows(store: SQLiteStore) -> None:
    with writing(store, "e1"):
        pass
    with writing(store, "e2") as writer:
        writer.apply([put("a", ["one"])])
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.generation.number == 2
        assert snapshot.generation.embedder.fingerprint == "e2"
        assert snapshot.check() == []
    before = contents(store)
    with pytest.raises(StoreError, match="merestone sync") as error, writing(store, "e1"):
        pass
    assert error.value.code == "embedder-changed"
    assert contents(store) == before
    with writing(store, "e2") as writer:
        writer.apply([Delete("a")])
    with writing(store, "e3") as writer:
        assert writer.apply([put("a", ["one"])]).added == 1


def test_a_snapshot_stays_as_it_was_when_it_was_taken(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one", "two"])])
        before = contents(store)
        with store.snapshot(OWNER) as old:
            writer.apply([put("a", ["three"]), put("b", ["four"])])
            writer.maintain()
            assert old.library_version == 1
            assert [record.id for record in old.records()] == ["a"]
            assert [chunk.text for chunk in old.chunks_of("a")] == ["one", "two"]
            assert len(old.dense(vector("x"), 9)) == 2
            assert len(old.lexical(["one"], 9)) == 1
            assert old.lexical(["four"], 9) == []
            with store.snapshot(OWNER) as new:
                assert new.library_version == 2
                assert len(new.dense(vector("x"), 9)) == 2
                assert len(new.lexical(["four"], 9)) == 1
    assert contents(store) != before


def test_a_snapshot_cannot_be_used_after_its_end(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one"])])
    with store.snapshot(OWNER) as snapshot:
        pass
    with pytest.raises(RuntimeError, match="has ended"):
        snapshot.chunk_count()


def test_a_snapshot_cannot_write(store: SQLiteStore) -> None:
    with writing(store):
        pass
    with pytest.raises(StoreError), store.snapshot(OWNER) as snapshot:
        snapshot._connection.execute("DELETE FROM meta")


def test_many_threads_read_while_one_writes(store: SQLiteStore) -> None:
    """Each document has as many equal passages as its version says: a reader never sees a mix."""
    sizes = [3, 7, 5, 2, 6, 1, 4]

    def passages(size: int) -> list[str]:
        return [f"size{size} words {n}" for n in range(size)]

    done = Event()

    def read() -> int:
        seen = 0
        while not done.is_set() or not seen:
            with store.snapshot(OWNER) as snapshot:
                chunks = snapshot.chunks_of("a")
                assert [chunk.text for chunk in chunks] == passages(len(chunks))
                assert {chunk.total for chunk in chunks} == {len(chunks)}
                assert len(snapshot.dense(vector("x"), 99)) == len(chunks)
                assert len(snapshot.lexical(["words"], 99)) == len(chunks)
                seen += 1
        return seen

    with writing(store) as writer:
        writer.apply([put("a", passages(1))])
        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read) for _ in range(4)]
            try:
                for size in sizes * 2:
                    writer.apply([put("a", passages(size))])
                    writer.maintain()
            finally:
                done.set()
            assert all(reader.result() > 0 for reader in readers)


def test_a_library_that_was_made_anew_is_read_anew(store: SQLiteStore, state: Path) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one", "two"])])
    with store.snapshot(OWNER) as snapshot:
        assert len(snapshot.dense(vector("x"), 9)) == 2
    shutil.rmtree(state)
    assert code_of(store) == "no-library"
    with writing(store) as writer:
        writer.apply([put("b", ["three"])])
    with store.snapshot(OWNER) as snapshot:
        ((number, _, _),) = snapshot.numbers()
        assert [hit.number for hit in snapshot.dense(vector("x"), 9)] == [number]
        assert snapshot.by_number([number])[number].document == "b"


def test_a_reader_of_a_removed_library_does_not_pass_it_on(store: SQLiteStore, state: Path) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one"])])
    with store.snapshot(OWNER) as old:
        shutil.rmtree(state)
        with writing(store) as writer:
            writer.apply([put("b", ["two"])])
        # The one that is idle now is taken, so that the next comes from the end of ``old``.
        with store.snapshot(OWNER) as new:
            assert [record.id for record in new.records()] == ["b"]
        store._pool._idle.clear()
        assert [record.id for record in old.records()] == ["a"]
    with store.snapshot(OWNER) as newest:
        assert [record.id for record in newest.records()] == ["b"]


def test_a_query_left_open_does_not_hold_the_next_snapshot_back(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put(str(n), ["one"]) for n in range(300)])
        with store.snapshot(OWNER) as snapshot:
            records = snapshot.records()
            assert next(records).id == "0"
        writer.apply([put("new", ["two"])])
        with store.snapshot(OWNER) as snapshot:
            assert snapshot.library_version == 2
            assert snapshot.record("new") is not None
    del records


def test_unwritable_media_are_read_without_locks(
    store: SQLiteStore, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one"])])
    before = contents(store)
    store.close()
    monkeypatch.setattr(connections, "is_writable", lambda path: False)
    assert contents(store) == before
    assert not (state / "library.db-shm").exists()
    with pytest.raises(StoreError) as error, writing(store):
        pass
    assert error.value.code == "store-not-writable"
    (state / "library.db-wal").write_bytes(b"")
    store.close()
    assert contents(store) == before
    (state / "library.db-wal").write_bytes(b"what is not in the file yet")
    store.close()
    with pytest.raises(StoreError, match=r"library\.db-wal") as error, store.snapshot(OWNER):
        pass
    assert error.value.code == "unwritable-with-log"


def test_the_journal_keeps_what_was_noted(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merestone.storage.engine._JOURNAL_ENTRIES", 3)
    with writing(store) as writer:
        for number in range(5):
            store.journal("sync", {"added": number, "name": "caf\udce9"})
        writer.apply([put("a", ["one"])])
    with apsw.Connection(str(store.path)) as connection:
        rows = connection.execute(
            "SELECT event, json_extract(detail, '$.added') FROM journal ORDER BY number"
        ).fetchall()
    connection.close()
    assert rows == [("sync", 2), ("sync", 3), ("sync", 4)]
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.library_version == 1


def test_sizes_add_up_to_the_file(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", [f"words {n}" for n in range(40)])])
    with store.snapshot(OWNER) as snapshot:
        sizes = snapshot.bytes()
    assert {"documents", "texts", "chunks", "lexical", "vectors", "log"} <= sizes.keys()
    assert sum(sizes.values()) - sizes["log"] == store.path.stat().st_size


def test_closing_lets_the_store_be_used_again(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one"])])
    before = numbers_by_id(store)
    store.close()
    assert numbers_by_id(store) == before


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are not UTF-8")
def test_a_path_may_be_any(tmp_path: Path) -> None:
    for name in ("with space?#%20", "ünï", os.fsdecode(b"caf\xe9")):
        store = open_store(tmp_path / name)
        with writing(store) as writer:
            writer.apply([put("a", ["one"])])
        with store.snapshot(OWNER) as snapshot:
            assert snapshot.chunk_count() == 1
        assert (tmp_path / name / "library.db").exists()
        store.close()


def test_a_lexical_answer_loads_no_vector_code(store: SQLiteStore, state: Path) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["needle"])])
    script = (
        "import sys\n"
        "import merestone\n"
        "assert 'merestone.storage' not in sys.modules\n"
        "from merestone.storage import open_store\n"
        "assert 'apsw' not in sys.modules\n"
        "from merestone.types import OWNER, Comparison\n"
        f"with open_store({str(state)!r}).snapshot(OWNER) as snapshot:\n"
        "    hits = snapshot.lexical(['needle'], 5, Comparison('document', '=', 'a'))\n"
        "    chunks = snapshot.by_number([hit.number for hit in hits])\n"
        "    assert [chunk.text for chunk in chunks.values()] == ['needle']\n"
        "loaded = {'numpy', 'simsimd', 'filelock'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_generation_that_is_half_deleted_is_no_fault(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one", "two"]), put("b", ["three"])])
    with store.writer(EmbedderIdentity("e2", "test", DIMENSION), rebuild=True) as writer:
        writer.apply([put("a", ["one", "two"]), put("b", ["three"])])
        writer.flip()
        with write_transaction(writer._connection) as commit:
            assert not generations.drop_some(writer._connection, 1)
            commit()
        with store.snapshot(OWNER) as snapshot:
            assert snapshot.check() == []
            assert snapshot.chunk_count() == 3
        writer.drop_others()
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.check() == []
        assert snapshot.chunk_count() == 3
        assert [hit.number for hit in snapshot.lexical(["three"], 9)] == [6]
