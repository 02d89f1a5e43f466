"""The lexical index in memory gives what FTS5 gives, to the last bit."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage.building import put, writing
from storage.test_lexical import ODD_TERMS, with_terms

from merestone.indexing import open_policy
from merestone.storage import lexical, postings
from merestone.storage.engine import SQLiteStore
from merestone.storage.snapshot import SQLiteSnapshot
from merestone.types import (
    OWNER,
    AccessSettings,
    AnyOf,
    Asker,
    Comparison,
    Delete,
    EmbedderIdentity,
    Filter,
    Phrase,
    Reader,
    Scored,
    SourceSettings,
)

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def by_fts5(
    store: SQLiteStore, terms: list[str], limit: int, where: Filter | None, reader: Reader = OWNER
) -> list[Scored]:
    """From a store that remembers nothing."""
    with SQLiteStore(store.path.parent).snapshot(reader) as snapshot:
        found = snapshot.lexical(terms, limit, where)
        assert not is_in_memory(snapshot)
    return found


def in_memory(
    store: SQLiteStore, terms: list[str], limit: int, where: Filter | None, reader: Reader = OWNER
) -> list[Scored]:
    with store.snapshot(reader) as snapshot:
        snapshot.lexical(["nothing"], 1)
        found = snapshot.lexical(terms, limit, where)
        assert is_in_memory(snapshot)
        numbers = [hit.number for hit in found]
        assert snapshot.lexical_scores(terms, numbers) == dict(found)
    return found


def is_in_memory(snapshot: SQLiteSnapshot) -> bool:
    return snapshot._remembered.known_postings() is not None


@settings(max_examples=20)
@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=12),
    st.lists(st.sampled_from([*"abcdefghx", "a b", "b c d"]), min_size=1, max_size=5),
    st.sets(st.integers(0, 11)),
    st.sets(st.integers(0, 11)),
    st.integers(1, 20),
)
def test_hits_and_scores_are_those_of_fts5(
    tmp_path_factory: pytest.TempPathFactory,
    documents: list[list[list[str]]],
    asked: list[str],
    deleted: set[int],
    wanted: set[int],
    limit: int,
) -> None:
    store = SQLiteStore(tmp_path_factory.mktemp("memory"))
    terms = [Phrase(each) if " " in each else each for each in asked]
    changes = [with_terms(str(n), *map(tuple, rows)) for n, rows in enumerate(documents)]
    where = AnyOf(tuple(Comparison("document", "=", str(n)) for n in wanted))
    with writing(store) as writer:
        writer.apply(changes)
        writer.apply([Delete(str(n)) for n in deleted])
        writer.maintain()
        writer.apply(changes[:1])
    for chosen in (None, where):
        expected = by_fts5(store, terms, limit, chosen)
        assert in_memory(store, terms, limit, chosen) == expected
    store.close()


@pytest.mark.parametrize("term", [*ODD_TERMS, "ẞ", "CAFÉ", "ﬁ"], ids=ascii)
def test_whatever_a_term_is_made_of(store: SQLiteStore, term: str) -> None:
    with writing(store) as writer:
        writer.apply([with_terms("odd", *[(each, "x") for each in [*ODD_TERMS, "ß", "café"]])])
    assert in_memory(store, [term, "x"], 99, None) == by_fts5(store, [term, "x"], 99, None)


def test_a_selective_filter_gives_all_that_it_lets_through(store: SQLiteStore) -> None:
    drawn = random.Random(3)
    with writing(store) as writer:
        writer.apply(
            with_terms(str(n), *[("word",) * drawn.randint(1, 6), ("other",)]) for n in range(150)
        )
    where = AnyOf(tuple(Comparison("document", "=", str(n)) for n in (7, 100, 125)))
    for limit in (1, 2, 3, 50):
        expected = by_fts5(store, ["word", "other"], limit, where)
        assert len(expected) == min(limit, 6)
        assert in_memory(store, ["word", "other"], limit, where) == expected


def test_what_a_reader_may_not_see_is_not_found_and_takes_no_place(store: SQLiteStore) -> None:
    drawn = random.Random(4)
    closed = (("user:eve",),)
    with writing(store) as writer:
        writer.apply(
            with_terms(
                str(n), ("word",) * drawn.randint(1, 6), access=closed if n % 25 else (("public",),)
            )
            for n in range(150)
        )
    policy = open_policy(AccessSettings(), [SourceSettings("/")], store.path.parent)
    bob = Asker(policy, policy.principals(["user:bob"]))
    for where in (None, Comparison("document", "!=", "100")):
        expected = by_fts5(store, ["word"], 10, where, bob)
        assert len(expected) == (6 if where is None else 5)
        assert in_memory(store, ["word"], 10, where, bob) == expected
        with store.snapshot(bob) as snapshot:
            numbers = [hit.number for hit in in_memory(store, ["word"], 300, None)]
            assert set(snapshot.lexical_scores(["word"], numbers)) <= {
                hit.number for hit in by_fts5(store, ["word"], 300, None, bob)
            }


def test_a_generation_that_came_after_the_connection_is_searched(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([put("a", ["one two", "two"])])
    with store.snapshot(OWNER) as snapshot:
        snapshot.lexical(["one"], 1)
    with store.writer(EmbedderIdentity("e2", "test", 24), rebuild=True) as writer:
        writer.apply([put("a", ["two three", "three", "one"])])
        writer.flip()
    for terms in (["two"], ["three", "two"], ["one"]):
        assert in_memory(store, terms, 9, None) == by_fts5(store, terms, 9, None) != []


def test_little_memory_changes_no_answer(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "_MOST_POSTINGS", 5)
    drawn = random.Random(5)
    with writing(store) as writer:
        writer.apply([with_terms("a", *[tuple(drawn.choices("abcdef", k=5)) for _ in range(30)])])
    for _ in range(20):
        terms = drawn.sample("abcdef", 3)
        assert in_memory(store, terms, 9, None) == by_fts5(store, terms, 9, None)
    with store.snapshot(OWNER) as snapshot:
        held = snapshot._remembered.known_postings()
        assert held is not None
        assert held._size == sum(len(gains.rows) for gains in held._held.values())
        assert len(held._held) == 1


def test_after_a_change_the_new_state_is_searched(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    with writing(store) as writer:
        writer.apply([put("a", ["pump valve"])])
    with store.snapshot(OWNER) as before:
        assert len(before.lexical(["pump"], 9)) == len(before.lexical(["pump"], 9)) == 1
        with writing(store) as writer:
            writer.apply([put("b", ["pump pump"]), Delete("a")])
        (hit,) = in_memory(store, ["pump"], 9, None)
        with store.snapshot(OWNER) as after:
            assert after.by_number([hit.number])[hit.number].document == "b"
        # What was begun before goes on with what was then.
        assert [before.by_number([each.number]) for each in before.lexical(["pump"], 9)] != [{}]


def test_useful_terms_are_the_same_in_memory(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_SMALL", 0)
    passages: list[tuple[str, ...]] = [("common", "often")] * 10
    passages += [("often", "rare1"), ("rare2",), ("rare3",), *[("other",)] * 27]
    with writing(store) as writer:
        writer.apply([with_terms("a", *passages)])
    terms = ["often", "common", "rare1", "rare2", "rare3"]
    assert in_memory(store, terms, 99, None) == by_fts5(store, terms, 99, None)
    assert len(in_memory(store, terms, 99, None)) == 3
