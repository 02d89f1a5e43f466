"""A library of an older schema is brought up to date without any embedding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from storage.building import contents, put, vector, writing

from merestone.storage.engine import SQLiteStore
from merestone.storage.schema import APPLICATION_ID, PAGE_SIZE
from merestone.types import OWNER, Delete, StoreBusyError, StoreError

_SAME = ("document_body", "left_out", "journal", "dense", "document", "chunk", "history")
_PUTS = [
    put("a.md", ["one", "two words"], heading="Head", title="A", language="en"),
    put("dir/b.md", ["two words", "\ud800 three"], metadata={"year": 2024}),
    put("gone.md", ["four"]),
]


def old_library(state: Path) -> None:
    """A library of schema 1 with the content that a new one gets from ``_PUTS``."""
    store = SQLiteStore(state.with_name("new"))
    with writing(store) as writer:
        writer.apply(_PUTS)
        writer.apply([Delete("gone.md", leave_out=True)])
    store.close()
    state.mkdir()
    connection = apsw.Connection(str(state / "library.db"))
    connection.pragma("page_size", PAGE_SIZE)
    connection.execute((Path(__file__).parent / "schema_1.sql").read_text("utf-8"))
    connection.execute("ATTACH ? AS new", (str(store.path),))
    connection.execute(
        "INSERT INTO meta SELECT row, identity, library_version, generation FROM new.meta; "
        "INSERT INTO generation SELECT number, embedder, embedder_name, dimension "
        "FROM new.generation; INSERT INTO access_class VALUES (0, '[\"public\"]')"
    )
    for table in _SAME:
        both = [
            name
            for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            if (name,)
            in set(connection.execute("SELECT name FROM pragma_table_info(?, 'new')", (table,)))
        ]
        names = ", ".join(both)
        extra = {"dense": "classes", "history": "removed"}.get(table)
        value = {"dense": "zeroblob(4 * rows)", "history": "'[]'"}.get(table)
        if extra:
            connection.execute(
                f"INSERT INTO {table} ({names}, {extra}) SELECT {names}, {value} FROM new.{table}"
            )
        else:
            connection.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM new.{table}")
    connection.execute(
        "UPDATE history SET removed = (SELECT json_group_array(chunk) FROM new.departed "
        "WHERE entry = history.number)"
    )
    numbers = dict(connection.execute("SELECT id, number FROM chunk"))
    for change in _PUTS[:2]:
        for row in change.rows:
            terms = " ".join(row.terms).replace("\ud800", "\ufffd")
            tags = f"class:0 language:{change.record.language or '-'} type:text/markdown"
            connection.execute(
                "INSERT INTO lexical (rowid, terms, tags) VALUES (?, ?, ?)",
                (numbers[row.chunk.id], terms, tags),
            )
    connection.execute("DELETE FROM sqlite_sequence")
    connection.execute("INSERT INTO sqlite_sequence SELECT * FROM new.sqlite_sequence")
    connection.execute("DETACH new")
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", 1)
    connection.pragma("journal_mode", "wal")
    connection.close()


@pytest.fixture
def old(state: Path) -> SQLiteStore:
    old_library(state)
    return SQLiteStore(state)


def test_a_reader_finds_all_that_was_there(old: SQLiteStore, state: Path) -> None:
    new = SQLiteStore(state.with_name("new"))
    assert without_scores(old) == without_scores(new)
    with old.snapshot(OWNER) as snapshot, new.snapshot(OWNER) as fresh:
        assert snapshot.schema == 2
        assert snapshot.check() == []
        assert snapshot.library_version == fresh.library_version == 2
        assert snapshot.left_out() == {"gone.md"}
        first, last = snapshot.history("gone.md")
        assert [first.added, last.removed[0].id] == [
            fresh.history("gone.md")[0].added,
            first.added[0],
        ]
        assert snapshot.mentions(first.added[0]) == [last]
        assert len(snapshot.dense(vector("query"), 9)) == 4
        assert {hit.number for hit in snapshot.lexical(["two"], 9)} == {
            hit.number for hit in fresh.lexical(["two"], 9)
        }
    old.close()
    new.close()


def test_scores_are_those_of_fts5_where_the_index_has_a_second_column(old: SQLiteStore) -> None:
    terms = ["one", "two", "three"]
    with old.snapshot(OWNER) as snapshot:
        by_fts5 = snapshot.lexical(terms, 9)
        assert by_fts5
        assert snapshot._remembered.known_postings() is None
        assert snapshot.lexical(terms, 9) == by_fts5
        assert snapshot._remembered.known_postings() is not None
        assert snapshot.lexical_scores(terms, [hit.number for hit in by_fts5]) == dict(by_fts5)
    old.close()


def without_scores(store: SQLiteStore) -> dict[str, object]:
    # Schema 1 counted three tags to the length of each passage.
    found = contents(store)
    found["lexical"] = {
        word: [chunk for chunk, _ in hits] for word, hits in found["lexical"].items()
    }
    return found


def test_numbers_are_not_used_again(old: SQLiteStore) -> None:
    with writing(old) as writer:
        writer.apply([put("new.md", ["five"])])
    with old.snapshot(OWNER) as snapshot:
        assert max(number for number, _, _ in snapshot.numbers()) == 6
        assert snapshot.check() == []
    old.close()


def test_a_writer_goes_on_from_there(old: SQLiteStore) -> None:
    changed = put("a.md", ["one", "three"], heading="Head", title="A", language="en")
    with writing(old) as writer:
        counts = writer.apply([changed, replace(_PUTS[1], rows=_PUTS[1].rows)])
        assert (counts.added, counts.removed, counts.kept) == (1, 1, 3)
        writer.maintain()
    with old.snapshot(OWNER) as snapshot:
        assert snapshot.check() == []
        assert snapshot.history("a.md")[-1].removed[0].start == 4
    old.close()


def test_a_holder_of_the_lease_is_waited_for_in_words(old: SQLiteStore, state: Path) -> None:
    from merestone.storage.lease import lease

    with lease(state), pytest.raises(StoreBusyError), old.snapshot(OWNER):
        pass
    with old.snapshot(OWNER) as snapshot:
        assert snapshot.schema == 2
    old.close()


def test_what_is_damaged_is_left_as_it_is(old: SQLiteStore, state: Path) -> None:
    connection = apsw.Connection(str(state / "library.db"))
    connection.execute("DROP TABLE lexical_vocabulary")
    connection.close()
    with pytest.raises(StoreError), old.snapshot(OWNER):
        pass
    old.close()
    connection = apsw.Connection(str(state / "library.db"))
    assert connection.pragma("user_version") == 1
    assert connection.execute("SELECT COUNT(*) FROM chunk").fetchone() == (4,)
    connection.close()
