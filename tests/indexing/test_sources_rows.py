"""Rows of databases and lines of JSON as documents."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing.conftest import open_library

from merestone import Library, MerestoneError, SettingsError
from merestone.indexing.sources import list_source, open_source, rows, scope_of, sqlite
from merestone.indexing.sources.identifiers import key_identifier
from merestone.indexing.sources.record_lines import first_members, record_lines
from merestone.types import DocumentRecord, Listing, Look, Source, SourceSettings

TICKETS = """
CREATE TABLE ticket (id INTEGER PRIMARY KEY, title TEXT, body TEXT, changed TEXT, access TEXT);
INSERT INTO ticket VALUES (1, 'Pump', 'The alpha pump runs at 40 bar.', '2026-01-01T10:00', NULL);
INSERT INTO ticket VALUES (2, 'Valve', 'The beta valve closes.', '2026-01-02T10:00', 'group:hr');
INSERT INTO ticket VALUES (3, 'Lamp', 'The gamma lamp is green.', '2026-01-03T10:00', NULL);
"""
QUERY = 'query = "SELECT * FROM ticket"\nkey = "id"\n'
WHOLE = f'{QUERY}updated = "changed"\ntext = ["title", "body"]\n'


class Base:
    """A database file, and a library over a query of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "base.db"
        self.run(TICKETS)

    def run(self, statements: str) -> None:
        connection = sqlite3.connect(self.file)
        connection.executescript(statements)
        connection.commit()
        connection.close()

    def library(self, source: str, key: str = 'sqlite = "base.db"') -> Library:
        (self.folder / "merestone.toml").write_text(f"[[sources]]\n{key}\n{source}\n")
        return open_library(self.folder)


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return Base(tmp_path)


def records(library: Library) -> dict[str, DocumentRecord]:
    with library.snapshot(as_owner=True) as snapshot:
        return {record.id: record for record in snapshot.records()}


@pytest.fixture
def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The keys of the rows that were read whole."""
    found: list[object] = []
    read = sqlite._Table.rows

    def counted(table: sqlite._Table, values: list[object], limit: rows.Limit) -> Iterator[object]:
        found.extend(values)
        return read(table, values, limit)

    monkeypatch.setattr(sqlite._Table, "rows", counted)
    return found


def test_a_row_is_a_document_and_its_other_columns_are_metadata(base: Base) -> None:
    with base.library(WHOLE) as library:
        assert library.sync().documents["added"] == 3
        record = records(library)["2"]
        assert record.metadata == {"id": 2, "changed": "2026-01-02T10:00", "access": "group:hr"}
        assert record.uri == f"{base.file.as_uri()}#2"
        with library.snapshot(as_owner=True) as snapshot:
            assert snapshot.text("2") == "Valve\n\nThe beta valve closes."
        assert "access" not in records(library)["1"].metadata
        assert library.search("pump", where="id = 1", mode="lexical", as_owner=True).hits
        assert not library.verify(as_owner=True).findings


def test_edits_deletions_and_new_rows_are_found_by_their_time(
    base: Base, rows_read: list[object]
) -> None:
    with base.library(WHOLE) as library:
        library.sync()
        base.run(
            "UPDATE ticket SET body = 'The alpha pump runs at 41 bar.', changed = '2026-02-01'"
            " WHERE id = 1; DELETE FROM ticket WHERE id = 2;"
            "INSERT INTO ticket VALUES (4, 'Door', 'The delta door.', '2026-02-02', NULL);"
        )
        rows_read.clear()
        report = library.sync()
        assert {(c.document, c.change) for c in report.changes} == {
            ("1", "changed"),
            ("2", "removed"),
            ("4", "added"),
        }
        assert 3 not in rows_read
        rows_read.clear()
        again = library.sync()
        assert again.documents["unchanged"] == 3
        assert again.library_version == report.library_version
        assert rows_read == []


def test_a_row_whose_time_lies_is_found_by_a_full_look(base: Base) -> None:
    with base.library(WHOLE) as library:
        library.sync()
        base.run("UPDATE ticket SET body = 'Quite other words.' WHERE id = 1")
        assert library.sync().documents["unchanged"] == 3
        assert library.sync(full_hash=True).documents["changed"] == 1


def test_without_a_time_contents_are_compared(base: Base, rows_read: list[object]) -> None:
    with base.library(QUERY) as library:
        library.sync()
        with library.snapshot(as_owner=True) as snapshot:
            assert snapshot.text("1") == (
                "id: 1\ntitle: Pump\nbody: The alpha pump runs at 40 bar.\n"
                "changed: 2026-01-01T10:00\n"
            )
        rows_read.clear()
        base.run("UPDATE ticket SET body = 'Other words.' WHERE id = 3")
        assert library.sync().documents["changed"] == 1
        assert set(rows_read) == {3}


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("CAST(access AS BLOB) AS access", '["body"]'),
        ("access AS ACCESS", '["body"]'),
        ("access", '["body", "access"]'),
    ],
    ids=["bytes", "another case", "part of the text"],
)
def test_no_form_of_the_column_access_leaves_a_row_open(base: Base, column: str, text: str) -> None:
    query = f'query = "SELECT id, body, {column} FROM ticket"\nkey = "id"\ntext = {text}\n'
    rules = '[[access.rules]]\nallow = ["public"]\n'
    with base.library(query + rules) as library:
        library.sync()
        found = {hit.chunk.document for hit in library.search("valve", k=9).hits}
        assert "1" in found
        assert "2" not in found
        hits = library.search("valve", principals=["group:hr"]).hits
        assert "2" in {hit.chunk.document for hit in hits}


def test_a_change_of_access_alone_changes_the_document(base: Base) -> None:
    source = f'{QUERY}text = ["title", "body"]\n'
    with base.library(source) as library:
        library.sync()
        base.run("UPDATE ticket SET access = 'user:bob' WHERE id = 2")
        assert library.sync().documents["changed"] == 1
        assert records(library)["2"].metadata["access"] == "user:bob"
        base.run("UPDATE ticket SET access = NULL WHERE id = 2")
        library.sync()
        assert "access" not in records(library)["2"].metadata


def test_rows_without_a_key_are_told_of_once(base: Base) -> None:
    base.run(
        "CREATE TABLE note (name TEXT, body TEXT);"
        "INSERT INTO note VALUES ('a', 'Words of a.'), (NULL, 'Lost.'), ('', 'Lost too.');"
    )
    with base.library('query = "SELECT * FROM note"\nkey = "name"\ntext = "body"') as library:
        report = library.sync()
        assert [(p.code, p.document) for p in report.problems] == [("record-without-key", "%NULL")]
        assert "2 of the records" in report.problems[0].message
        assert report.documents["added"] == 1
        assert not library.sync().retry
        base.run("DELETE FROM note WHERE name IS NULL OR name = ''")
        assert not library.sync().problems
        assert set(records(library)) == {"a"}


def test_a_key_that_two_rows_have_is_an_error_that_names_it(base: Base) -> None:
    with base.library('query = "SELECT * FROM ticket"\nkey = "title"\ntext = "body"') as library:
        library.sync()
        base.run("INSERT INTO ticket VALUES (9, 'Pump', 'x', '', NULL), (8, 'Pump', 'y', '', NULL)")
        with pytest.raises(MerestoneError, match=r"'Pump' \(3 times\)") as caught:
            library.sync()
        assert caught.value.code == "duplicate-key"
        assert len(records(library)) == 3


def test_bytes_are_text_or_a_document_of_their_own(base: Base) -> None:
    base.run("CREATE TABLE blob (name TEXT, body BLOB, more BLOB)")
    connection = sqlite3.connect(base.file)
    page = b"<html><body><p>Words in a page.</p></body></html>"
    connection.executemany(
        "INSERT INTO blob VALUES (?, ?, ?)",
        [("plain", "Bytes that are text: é".encode(), b"x"), ("page", page, None)],
    )
    connection.commit()
    connection.close()
    with base.library('query = "SELECT * FROM blob"\nkey = "name"\ntext = "body"') as library:
        assert not library.sync().problems
        found = records(library)
        assert found["page"].media_type == "text/html"
        assert found["plain"].media_type == "text/plain"
        assert found["plain"].metadata == {"name": "plain"}
        with library.snapshot(as_owner=True) as snapshot:
            assert snapshot.text("plain") == "Bytes that are text: é"


def test_a_view_a_comment_and_a_common_table_expression_are_queries(base: Base) -> None:
    base.run(
        "CREATE VIEW open AS SELECT id, title || ': ' || body AS line FROM ticket WHERE id < 3"
    )
    for query in (
        "SELECT * FROM open -- all of it",
        "WITH o AS (SELECT * FROM open) SELECT id, line FROM o;",
    ):
        with base.library(f'query = "{query}"\nkey = "id"\ntext = "line"') as library:
            library.sync()
            assert set(records(library)) == {"1", "2"}


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM ticket",
        "SELECT 1 AS id; DELETE FROM ticket",
        "SELECT id FROM ticket) ; DELETE FROM ticket; --",
        "SELECT load_extension('x') AS id",
        "SELECT id FROM ticket WHERE",
        "ATTACH 'other.db' AS other",
        "PRAGMA journal_mode = DELETE",
        "SELECT title FROM ticket",
    ],
)
def test_what_is_no_single_select_is_refused_and_writes_nothing(base: Base, query: str) -> None:
    before = base.file.read_bytes()
    with base.library(f'query = "{query}"\nkey = "id"') as library:
        with pytest.raises(SettingsError) as caught:
            library.sync()
        assert caught.value.code == "invalid-query"
    assert base.file.read_bytes() == before


def test_a_database_that_cannot_be_read_now_is_not_empty(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_WAIT_SECONDS", 0.05)
    with base.library(WHOLE) as library:
        library.sync()
        holder = sqlite3.connect(base.file, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        assert failure(library) == "source-unreachable"
        holder.close()
        whole = base.file.read_bytes()
        base.file.write_bytes(b"no database at all, but some bytes" * 100)
        assert failure(library) == "source-failed"
        base.file.unlink()
        assert failure(library) == "source-unreachable"
        assert not base.file.exists()
        base.file.write_bytes(whole)
        base.run("ALTER TABLE ticket RENAME TO other")
        assert failure(library) == "query-failed"
        assert len(records(library)) == 3


def failure(library: Library) -> str:
    with pytest.raises(MerestoneError) as caught:
        library.sync()
    return caught.value.code


def test_a_writer_is_not_kept_waiting_by_a_sync(base: Base) -> None:
    with base.library(WHOLE) as library:
        library.sync(progress=lambda _: base.run("UPDATE ticket SET title = title || '!'"))
        assert len(records(library)) == 3


def test_rows_are_read_ahead_only_where_one_follows_the_other(
    base: Base, rows_read: list[object]
) -> None:
    base.run(
        "".join(f"INSERT INTO ticket (id, body) VALUES ({n}, 'w {n}');" for n in range(10, 200))
    )
    settings = SourceSettings(
        kind="sqlite",
        location=str(base.file),
        query="SELECT * FROM ticket",
        key="id",
        text=("body",),
    )
    source = open_source(settings)
    listing = source.scan(Look())
    for item in (listing.documents[50], listing.documents[7], listing.documents[90]):
        assert source.read(item, 1000).data == b"w " + item.id.encode()
    assert len(rows_read) == 3
    rows_read.clear()
    texts = [source.read(item, 1000).data for item in listing.documents[3:]]
    assert texts == [f"w {item.id}".encode() for item in listing.documents[3:]]
    assert len(rows_read) == len(texts)


def test_a_row_can_be_named_and_a_new_one_comes_with_its_source(base: Base) -> None:
    settings = SourceSettings(name="desk", kind="sqlite", location=str(base.file))
    assert scope_of(["desk:1"], [settings], ["desk:1"], Path("/")).prefixes == ("desk:1",)
    assert scope_of(["desk:"], [settings], [], Path("/")).prefixes == ("desk:",)
    with pytest.raises(MerestoneError):
        scope_of(["desk:7"], [settings], ["desk:1"], Path("/"))


@given(st.lists(st.text(min_size=1), unique=True))
def test_no_two_keys_meet_in_one_id(keys: list[str]) -> None:
    ids = [key_identifier(key) for key in keys]
    assert len(set(ids)) == len(keys)
    for identifier in ids:
        assert identifier
        identifier.encode("utf-8")
        assert not any(part in ("", ".", "..") for part in identifier.split("/"))


@pytest.mark.parametrize(
    ("key", "identifier"),
    [
        (7, "7"),
        ("docs/a b.md", "docs/a b.md"),
        ("50%", "50%25"),
        ("a//b", "a%2F%2Fb"),
        ("..", "%2E%2E"),
        ("tab\t", "tab%09"),
        (b"bytes\xff", "bytes%FF"),
        ("", None),
        (None, None),
    ],
)
def test_a_key_is_its_id_as_far_as_it_can_be(key: object, identifier: str | None) -> None:
    assert key_identifier(key) == identifier


# Any database, by SQLAlchemy


def test_another_database_gives_the_same_documents(base: Base) -> None:
    pytest.importorskip("sqlalchemy")

    def held(library: Library) -> dict[str, tuple[str, str]]:
        """Versions and times of change."""
        found = records(library).values()
        return {each.id: (each.version, each.stamp.partition(":")[2]) for each in found}

    with base.library(WHOLE) as library:
        library.sync()
        known = held(library)
    place = f'sql = "sqlite:///{base.file}"'
    with base.library(WHOLE, place) as library:
        assert library.sync(full_hash=True).documents["unchanged"] == 3
        assert held(library) == known
        base.run("UPDATE ticket SET body = 'At 12:30 :time', changed = 'x' WHERE id = 1")
        assert library.sync().documents["changed"] == 1
        assert library.sync().documents["unchanged"] == 3
    colons = "SELECT id, ':b' AS body FROM ticket WHERE title <> 'a:b'"
    with base.library(f'query = "{colons}"\nkey = "id"\ntext = "body"', place) as library:
        assert library.sync().documents["changed"] == 3


@pytest.mark.parametrize(
    "query", ["DELETE FROM ticket", "SELECT id FROM ticket) ; DELETE FROM ticket; --"]
)
def test_another_database_is_not_written_to(base: Base, query: str) -> None:
    pytest.importorskip("sqlalchemy")
    before = base.file.read_bytes()
    place = f'sql = "sqlite:///{base.file}"'
    with base.library(f'query = "{query}"\nkey = "id"', place) as library:
        assert failure(library) in ("query-failed", "source-unreachable")
    assert base.file.read_bytes() == before


def test_a_password_comes_from_the_environment_and_goes_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    monkeypatch.setenv("DESK_PASSWORD", "hunter2")
    given: list[str] = []

    def fail() -> None:
        raise sqlite3.OperationalError("no login for desk with hunter2")

    def engine(url: Any, **_: object) -> Any:
        given.append(str(url.password))
        return real("sqlite://", creator=fail)

    real = sqlalchemy.create_engine
    monkeypatch.setattr(sqlalchemy, "create_engine", engine)
    settings = SourceSettings(
        kind="sql",
        location="postgresql+psycopg://desk@db.example/tickets",
        query="SELECT 1 AS id",
        key="id",
        password_env="DESK_PASSWORD",
    )
    with pytest.raises(MerestoneError) as caught:
        list_source(settings)
    assert caught.value.code == "source-unreachable"
    assert "hunter2" not in str(caught.value)
    assert given == ["hunter2"]
    monkeypatch.delenv("DESK_PASSWORD")
    with pytest.raises(SettingsError, match="DESK_PASSWORD"):
        list_source(settings)


# Lines of JSON


def write_lines(path: Path, *values: object) -> None:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))


def test_each_line_is_a_document(tmp_path: Path) -> None:
    file = tmp_path / "faq.jsonl"
    one = {"id": "a", "text": "The alpha pump.", "access": ["group:hr"], "tags": {"x": [1, None]}}
    two = {"id": "b/c", "text": "The beta valve.", "at": 5}
    write_lines(file, one, two)
    (tmp_path / "merestone.toml").write_text(
        '[[sources]]\njsonl = "faq.jsonl"\nkey = "id"\ntext = "text"\n'
    )
    with open_library(tmp_path) as library:
        assert library.sync().documents["added"] == 2
        found = records(library)
        assert found["a"].metadata == {"id": "a", "access": ["group:hr"], "tags": {"x": [1, None]}}
        write_lines(file, two, {**one, "text": "The alpha pump runs."}, {"id": 3, "text": "New."})
        report = library.sync()
        assert {(c.document, c.change) for c in report.changes} == {
            ("a", "changed"),
            ("3", "added"),
        }
        assert library.sync().documents["unchanged"] == 3


def test_a_file_of_lines_that_was_cut_short_removes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "faq.jsonl"
    lines = [{"id": n, "text": f"Words of line {n}."} for n in range(5)]
    write_lines(file, *lines)
    (tmp_path / "merestone.toml").write_text(
        '[[sources]]\njsonl = "faq.jsonl"\nkey = "id"\ntext = "text"\n'
    )
    with open_library(tmp_path) as library:
        library.sync()
        whole = file.read_bytes()
        file.write_bytes(b"\xef\xbb\xbf" + whole[:-50])
        report = library.sync()
        assert [p.code for p in report.problems] == ["record-line-invalid"]
        assert "line 4" in report.problems[0].message
        assert len(records(library)) == 5
        file.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
        assert library.sync().documents["removed"] == 1
        write_lines(file, *lines, lines[2])
        assert failure(library) == "duplicate-key"
        os.remove(file)
        assert failure(library) == "source-unreachable"
        assert len(records(library)) == 4


def test_a_row_over_the_limit_is_too_large(base: Base) -> None:
    base.run("UPDATE ticket SET body = zeroblob(3000000) WHERE id = 2")
    limit = "[extraction]\nmax_document_bytes = 2000000"
    with base.library(f'{QUERY}text = "body"\n{limit}') as library:
        report = library.sync()
        assert [problem.code for problem in report.problems] == ["document-too-large"]
        assert report.documents["added"] == 2


@pytest.mark.parametrize(
    ("setting", "value", "count"),
    [
        ("text", "title", 3),
        ("media_type", "text/markdown", 3),
        ("query", "SELECT id, title, body, changed FROM ticket", 1),
        ("sqlite", "copy.db", 3),
    ],
)
def test_times_of_change_prove_nothing_where_the_source_is_another(
    base: Base, rows_read: list[object], setting: str, value: str, count: int
) -> None:
    def lines(**settings: object) -> str:
        return "".join(f"{key} = {json.dumps(each)}\n" for key, each in settings.items())

    first: dict[str, object] = {
        "sqlite": "base.db",
        "query": "SELECT * FROM ticket",
        "key": "id",
        "updated": "changed",
        "text": ["title", "body"],
    }
    shutil.copy(base.file, base.folder / "copy.db")
    with base.library(lines(**first), key="") as library:
        library.sync()
        rows_read.clear()
        library.sync()
        assert not rows_read
    copy = sqlite3.connect(base.folder / "copy.db")
    copy.execute("UPDATE ticket SET body = body || ' More.'")
    copy.commit()
    copy.close()
    with base.library(lines(**{**first, setting: value}), key="") as library:
        assert library.sync().documents["changed"] == count
        rows_read.clear()
        assert library.sync().documents["unchanged"] == 3
        assert not rows_read


def test_a_failure_is_told_once_also_after_the_source_got_times_of_change(base: Base) -> None:
    base.run("UPDATE ticket SET body = zeroblob(3000000) WHERE id = 2")
    limit = "[extraction]\nmax_document_bytes = 2000000"
    with base.library(f'{QUERY}text = "body"\n{limit}') as library:
        library.sync()
    with base.library(f'{QUERY}text = "body"\nupdated = "changed"\n{limit}') as library:
        library.sync()
        again = library.sync()
        assert again.documents["failed"] == 0
        assert again.failed_before == 1
        base.run("UPDATE ticket SET body = 'Short.', changed = '2031-01-01' WHERE id = 2")
        assert library.sync().documents["added"] == 1


@pytest.mark.parametrize("wrong", ['text = "anwser"', 'text = "answer"\nupdated = "changd"'])
def test_settings_that_no_line_has_anything_for_are_refused(tmp_path: Path, wrong: str) -> None:
    write_lines(tmp_path / "faq.jsonl", {"id": "a", "answer": "Alpha."}, {"id": "b"})
    source = '[[sources]]\njsonl = "faq.jsonl"\nkey = "id"\n'
    settings = tmp_path / "merestone.toml"
    settings.write_text(f'{source}text = "answer"\n')
    with open_library(tmp_path) as library:
        library.sync()
    settings.write_text(f"{source}{wrong}\n")
    with open_library(tmp_path) as library:
        with pytest.raises(SettingsError, match=r"No record of .* has (anwser|changd)"):
            library.sync()
        assert set(records(library)) == {"a", "b"}


def test_half_a_character_in_a_line_is_no_fault_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "faq.jsonl").write_text(r'{"id": "\ud800", "text": "The \ud800 pump."}')
    (tmp_path / "merestone.toml").write_text(
        '[[sources]]\njsonl = "faq.jsonl"\nkey = "id"\ntext = "text"\n'
    )
    with open_library(tmp_path) as library:
        library.sync()
        assert library.show("%ED%A0%80")["text"] == "The \ufffd pump."


# More than a document may have


LONG = 8_000_000
SHORT = 100_000


def peak_of(work: Callable[[], object]) -> int:
    """Bytes that Python held at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("key_first", [True, False])
def test_of_a_line_over_the_limit_no_more_than_the_limit_is_held(
    tmp_path: Path, key_first: bool
) -> None:
    file = tmp_path / "faq.jsonl"
    huge = {"id": "huge", "text": "w" * LONG} if key_first else {"text": "w" * LONG, "id": "huge"}
    write_lines(file, {"id": "a", "text": "Alpha."}, huge, {"id": "b", "text": "Beta."})
    settings = SourceSettings(kind="jsonl", location=str(file), key="id", text=("text",))
    source = open_source(settings)
    listings: list[Listing] = []
    held = peak_of(lambda: listings.append(source.scan(Look(max_bytes=SHORT))))
    # Pieces of the rest come and go, a megabyte at a time.
    assert held < LONG / 2
    (listing,) = listings
    faults = {item.id: item.fault.code for item in listing.documents if item.fault}
    if key_first:
        assert faults == {"huge": "document-too-large"}
        assert not listing.unlisted
    else:
        assert [problem.code for problem in listing.problems] == ["record-line-too-large"]
        assert "line 2" in listing.problems[0].message
        assert listing.unlisted == ("",)
    texts = {i.id: source.read(i, SHORT).data for i in listing.documents if not i.fault}
    assert texts == {"a": b"Alpha.", "b": b"Beta."}


def test_a_line_over_the_limit_is_told_once_and_read_when_it_may_be(tmp_path: Path) -> None:
    file = tmp_path / "faq.jsonl"
    write_lines(file, {"id": "a", "text": "Alpha."}, {"id": "b", "text": "The beta valve. " * 300})
    source = '[[sources]]\njsonl = "faq.jsonl"\nkey = "id"\ntext = "text"\n'
    (tmp_path / "merestone.toml").write_text(source)
    with open_library(tmp_path, extraction={"max_document_bytes": 1000}) as library:
        report = library.sync()
        assert [problem.code for problem in report.problems] == ["document-too-large"]
        assert set(records(library)) == {"a", "b"}
        again = library.sync()
        assert not again.retry
        assert again.documents["failed"] == 0
    with open_library(tmp_path) as library:
        assert library.sync().documents["added"] == 1
        assert library.search("beta valve", mode="lexical").hits


@pytest.mark.parametrize("more", range(-4, 5))
def test_a_byte_order_mark_does_not_lengthen_the_first_line(more: int) -> None:
    first = b"x" * (20 + more)
    lines = list(record_lines(BytesIO(b"\xef\xbb\xbf" + first + b"\nsecond\n"), 20))
    assert [line.number for line in lines] == [1, 2]
    assert [line.size for line in lines] == [len(first) + 1, len(b"second\n")]
    assert [line.offset for line in lines] == [3, 3 + len(first) + 1]
    assert lines[0].is_whole == (len(first) + 1 <= 20)


@given(
    members=st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
    ),
    cut=st.integers(0, 200),
    space=st.sampled_from([None, 2]),
)
def test_the_members_at_the_beginning_of_a_line_are_those_of_the_line(
    members: dict[str, object], cut: int, space: int | None
) -> None:
    whole = json.dumps(members, ensure_ascii=False, indent=space).encode("utf-8", "surrogatepass")
    found = first_members(whole[:cut])
    names = list(members)
    assert list(found) == names[: len(found)]
    assert all(found[name] == members[name] for name in found)
    assert dict(first_members(whole + b" ")) == members


@pytest.mark.parametrize("updated", ["", "changed"])
def test_a_row_over_the_limit_does_not_leave_its_database(base: Base, updated: str) -> None:
    base.run(f"UPDATE ticket SET body = printf('%.*c', {LONG}, 'w') WHERE id = 2")
    settings = SourceSettings(
        kind="sqlite",
        location=str(base.file),
        query="SELECT * FROM ticket",
        key="id",
        updated=updated,
        text=("title", "body"),
    )
    source = open_source(settings)
    outcomes: dict[str, str] = {}

    def look() -> None:
        for item in source.scan(Look(max_bytes=SHORT)).documents:
            try:
                outcomes[item.id] = item.fault.code if item.fault else ""
                if not item.fault:
                    source.read(item, SHORT)
            except MerestoneError as error:
                outcomes[item.id] = f"{error.code}: {error.message}"

    assert peak_of(look) < LONG / 10
    assert outcomes["1"] == outcomes["3"] == ""
    assert outcomes["2"].startswith("document-too-large")
    if updated:
        assert f"{LONG + len('Valve')} bytes" in outcomes["2"]


def test_the_lengths_of_a_newer_sqlite_are_the_same() -> None:
    connection = apsw.Connection(":memory:")
    older, newer = "length(CAST(? AS BLOB))", "octet_length(?)"
    for value in ("ä\U0001f600", b"\x00\xff", 12, -1.5, None, "a\x00b"):
        assert next(iter(connection.execute(f"SELECT {older} IS {newer}", (value, value))))[0]


def test_no_more_is_read_ahead_than_a_document_may_have(base: Base) -> None:
    size = SHORT // 2
    base.run(
        "DELETE FROM ticket;"
        + "".join(
            f"INSERT INTO ticket (id, body) VALUES ({n}, printf('%.*c', {size}, 'w'));"
            for n in range(100)
        )
    )
    settings = SourceSettings(
        kind="sqlite",
        location=str(base.file),
        query="SELECT * FROM ticket",
        key="id",
        updated="changed",
        text=("body",),
    )
    source = open_source(settings)
    listing = source.scan(Look())

    def read_all() -> None:
        assert all(len(source.read(item, SHORT).data) == size for item in listing.documents)

    assert peak_of(read_all) < 10 * SHORT


def source_of(base: Base, kind: str, **rest: Any) -> Source:
    if kind == "sql":
        pytest.importorskip("sqlalchemy")
    return open_source(
        SourceSettings(
            kind=kind,
            location=f"sqlite:///{base.file}" if kind == "sql" else str(base.file),
            **{"query": "SELECT * FROM ticket", "key": "id", "text": ("body",), **rest},
        )
    )


def outcomes_of(source: Source, max_bytes: int) -> dict[str, str]:
    """Codes of failures by document, and texts of the others."""
    found: dict[str, str] = {}
    for item in source.scan(Look(max_bytes=max_bytes)).documents:
        try:
            found[item.id] = (
                item.fault.code if item.fault else source.read(item, max_bytes).data.decode()
            )
        except MerestoneError as error:
            found[item.id] = error.code
    return found


@pytest.mark.parametrize("kind", ["sqlite", "sql"])
@pytest.mark.parametrize("updated", ["", "changed"])
@pytest.mark.parametrize("column", ["title", "changed", "access", "body"])
def test_no_column_of_a_row_is_longer_than_a_document_may_be(
    base: Base, kind: str, updated: str, column: str
) -> None:
    base.run(f"UPDATE ticket SET {column} = printf('%.*c', {LONG}, 'w') WHERE id = 2")
    source = source_of(base, kind, updated=updated)
    found: list[dict[str, str]] = []
    held = peak_of(lambda: found.append(outcomes_of(source, SHORT)))
    (outcomes,) = found
    assert outcomes.pop("2") == "document-too-large"
    assert set(outcomes.values()) == {
        "The alpha pump runs at 40 bar.",
        "The gamma lamp is green.",
    }
    if kind == "sqlite":
        assert held < LONG / 10


@pytest.mark.parametrize("kind", ["sqlite", "sql"])
@pytest.mark.parametrize("updated", ["", "changed", "title"])
def test_a_key_that_is_too_long_is_told_once_and_removes_nothing(
    base: Base, kind: str, updated: str
) -> None:
    base.run(f"UPDATE ticket SET title = printf('%.*c', {LONG}, 'w') WHERE id = 2")
    source = source_of(base, kind, key="title", updated=updated, name="desk")
    listings: list[Listing] = []
    held = peak_of(lambda: listings.append(source.scan(Look(max_bytes=SHORT))))
    faults = {item.id: item.fault.code for item in listings[0].documents if item.fault}
    assert faults == {"desk:%LONG": "record-key-too-long"}
    assert listings[0].unlisted == ("desk:",)
    assert len(listings[0].documents) == 3
    if kind == "sqlite":
        assert held < LONG / 10


@pytest.mark.parametrize("kind", ["sqlite", "sql"])
def test_bytes_that_are_part_of_no_document_may_be_long(base: Base, kind: str) -> None:
    base.run(f"UPDATE ticket SET title = zeroblob({LONG}) WHERE id = 2")
    source = source_of(base, kind)
    found: list[dict[str, str]] = []
    held = peak_of(lambda: found.append(outcomes_of(source, SHORT)))
    assert found[0]["2"] == "The beta valve closes."
    if kind == "sqlite":
        assert held < LONG / 10


def test_a_row_may_have_as_many_columns_as_a_table(base: Base) -> None:
    columns = ", ".join(f"c{number}" for number in range(1900))
    base.run(
        f"CREATE TABLE wide (id, body, {columns}); INSERT INTO wide (id, body) VALUES (1, 'W')"
    )
    for text in (("body",), ()):
        source = source_of(base, "sqlite", query="SELECT * FROM wide", text=text)
        assert "W" in outcomes_of(source, SHORT)["1"]


def test_metadata_of_rows_that_are_read_ahead_counts(base: Base) -> None:
    size = SHORT // 2
    base.run(
        "DELETE FROM ticket;"
        + "".join(
            f"INSERT INTO ticket (id, title) VALUES ({n}, printf('%.*c', {size}, 'w'));"
            for n in range(100)
        )
    )
    source = source_of(base, "sqlite", updated="changed")
    listing = source.scan(Look())
    read = lambda: [source.read(item, SHORT).id for item in listing.documents]  # noqa: E731
    assert peak_of(read) < 10 * SHORT


# Text that is no text


NO_TEXT = "CAST(x'61ff62' AS TEXT)"


@pytest.mark.parametrize("updated", ["", "changed"])
def test_a_key_that_is_no_text_is_a_key(base: Base, updated: str) -> None:
    base.run(
        "CREATE TABLE note (name TEXT PRIMARY KEY, body TEXT, changed TEXT);"
        "INSERT INTO note VALUES ('a', 'Alpha.', '1'), ('a%FFb', 'Beta.', '1');"
        f"INSERT INTO note VALUES ({NO_TEXT}, 'Gamma.', '1'), ('z', 'Delta.', '1');"
    )
    settings = {"query": "SELECT * FROM note ORDER BY rowid", "key": "name", "updated": updated}
    source = source_of(base, "sqlite", **settings)
    known = {"a": "Alpha.", "a%25FFb": "Beta.", "a%FFb": "Gamma.", "z": "Delta."}
    assert outcomes_of(source, SHORT) == known
    line = f'query = "SELECT * FROM note"\nkey = "name"\ntext = "body"\nupdated = "{updated}"'
    with base.library(line) as library:
        assert library.sync().documents["added"] == 4
        base.run(f"UPDATE note SET body = 'Other.', changed = '2' WHERE name = {NO_TEXT}")
        report = library.sync()
        assert [(c.document, c.change) for c in report.changes] == [("a%FFb", "changed")]
        assert not report.problems
        assert library.sync().documents["unchanged"] == 4


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_a_key_that_is_no_text_in_another_encoding_is_the_failure_of_its_row(
    base: Base, encoding: str
) -> None:
    base.file.unlink()
    half = "a\ud80ab".encode(encoding, "surrogatepass").hex()
    base.run(
        f"PRAGMA encoding = '{encoding}'; CREATE TABLE note (name TEXT, body TEXT);"
        f"INSERT INTO note VALUES ('é', 'A.'), (CAST(x'{half}' AS TEXT), 'B.'), ('z', 'C.');"
    )
    source = source_of(base, "sqlite", query="SELECT * FROM note", key="name")
    found = outcomes_of(source, SHORT)
    assert {found.pop("é"), found.pop("z")} == {"A.", "C."}
    assert list(found.values()) == ["document-gone"]


@pytest.mark.parametrize("column", ["title", "changed", "access", "body"])
def test_a_column_that_is_no_text_hinders_no_row(base: Base, column: str) -> None:
    with base.library(WHOLE.replace('["title", "body"]', '["body"]')) as library:
        library.sync()
        base.run(
            f"UPDATE ticket SET changed = changed || '!' WHERE id < 3;"
            f"UPDATE ticket SET {column} = {NO_TEXT} WHERE id = 2"
        )
        report = library.sync()
        assert report.documents["changed"] + report.documents["failed"] == 2
        assert {problem.document for problem in report.problems} <= {"2"}
        assert not library.sync().documents["changed"]


def test_two_times_of_change_that_are_no_text_are_two(base: Base) -> None:
    with base.library(WHOLE) as library:
        base.run(f"UPDATE ticket SET changed = {NO_TEXT} WHERE id = 2")
        library.sync()
        base.run(
            "UPDATE ticket SET body = 'Other words.', changed = CAST(x'61fe62' AS TEXT)"
            " WHERE id = 2"
        )
        assert library.sync().documents["changed"] == 1


def test_half_a_character_in_a_time_of_change_is_no_fault_of_the_source(tmp_path: Path) -> None:
    lines = [r'{"id": "a", "at": "\ud800", "text": "The pump."}', '{"id": "b", "text": "Two."}']
    (tmp_path / "faq.jsonl").write_text("\n".join(lines))
    source = 'jsonl = "faq.jsonl"\nkey = "id"\ntext = "text"\nupdated = "at"'
    (tmp_path / "merestone.toml").write_text(f"[[sources]]\n{source}\n")
    with open_library(tmp_path) as library:
        assert library.sync().documents["added"] == 2
        assert not library.sync().documents["changed"]
