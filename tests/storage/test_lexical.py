"""BM25 over ready-made terms, whatever characters they hold."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage.building import numbers_by_id, put, writing

from merestone.storage import lexical
from merestone.storage.engine import SQLiteStore
from merestone.storage.lexical import stored_term, stored_terms
from merestone.types import OWNER, AnyOf, Comparison, Delete, Put, Scored

ODD_TERMS = [
    "c++",
    "c#",
    "f#",
    ".net",
    "foo.bar_baz",
    "err_conn_42",
    "--no-cache",
    "--max-old-space-size",
    '"quoted"',
    '"',
    "'",
    "日本",
    "本語",
    "naïve",
    "naive",
    "ß",
    "x\u0301",
    "😀",
    "👨‍👩‍👧",
    "🫨",
    "*",
    "pre*",
    "^first",
    "-",
    "+",
    "(",
    ")",
    "a:b",
    "terms:",
    "tags:class",
    "{terms}",
    "and",
    "or",
    "not",
    "near",
    "near(",
    "near(a,b)",
    "\\",
    "a\\b",
    "`",
    "%",
    "_",
    "a\u00adb",
    "\u200b",
    "\ue000",
    "\U0010fffd",
    ";drop table chunk",
    "a\x00b",
    "c\ud800d",
    "e\u2028f",
    "!=",
    "€",
    "①",
]


def with_terms(document: str, *terms: tuple[str, ...], **record: Any) -> Put:
    change = put(document, [f"passage {index}" for index in range(len(terms))], **record)
    rows = zip(change.rows, terms, strict=True)
    return replace(change, rows=tuple(replace(row, terms=own) for row, own in rows))


def found(store: SQLiteStore, *terms: str, limit: int = 99) -> list[str]:
    ids = {number: chunk for chunk, number in numbers_by_id(store).items()}
    with store.snapshot(OWNER) as snapshot:
        return [ids[hit.number] for hit in snapshot.lexical(terms, limit)]


@pytest.fixture(scope="module")
def odd_store(tmp_path_factory: pytest.TempPathFactory) -> SQLiteStore:
    store = SQLiteStore(tmp_path_factory.mktemp("odd"))
    with writing(store) as writer:
        writer.apply([with_terms("odd", *[(term,) for term in ODD_TERMS])])
    return store


@pytest.mark.parametrize("index", range(len(ODD_TERMS)), ids=lambda i: ascii(ODD_TERMS[i]))
def test_a_term_finds_itself_alone(odd_store: SQLiteStore, index: int) -> None:
    with odd_store.snapshot(OWNER) as snapshot:
        hits = snapshot.lexical([ODD_TERMS[index]], 99)
        texts = [snapshot.by_number([hit.number])[hit.number].text for hit in hits]
    assert texts == [f"passage {index}"]


@given(st.lists(st.text(st.characters(codec=None), max_size=8), max_size=5))
def test_no_term_is_read_as_an_operator(odd_store: SQLiteStore, terms: list[str]) -> None:
    known = {stored_term(term).lower(): n for n, term in enumerate(ODD_TERMS)}
    with odd_store.snapshot(OWNER) as snapshot:
        hits = snapshot.lexical(terms, 99)
        texts = {snapshot.by_number([hit.number])[hit.number].text for hit in hits}
    expected = {
        f"passage {known[stored_term(term).lower()]}"
        for term in terms
        if stored_term(term).lower() in known
    }
    assert expected <= texts
    if not any(character.isalpha() for term in terms for character in term):
        assert texts == expected


@given(st.text(st.characters(codec=None), min_size=1))
def test_a_term_is_one_token(term: str) -> None:
    assert len(stored_terms([term]).split()) == 1


def test_case_does_not_matter_but_accents_do(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([with_terms("a", ("café",), ("cafe",))])
    assert len(found(store, "CAFÉ")) == 1
    assert found(store, "café") != found(store, "cafe")


def test_language_and_type_are_not_searched(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([with_terms("a", ("x",), language="en")])
    for tag in ("language:en", "type:text/markdown"):
        assert found(store, tag) == []


def test_no_terms_no_hits(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([with_terms("a", ("x",), ())])
    assert found(store) == []
    assert found(store, "") == []
    assert found(store, "x", limit=0) == []
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.lexical_scores([], [1]) == {}
        assert snapshot.lexical_scores(["x"], []) == {}


def bm25(passages: dict[int, list[str]], terms: list[str]) -> dict[int, float]:
    """As SQLite's FTS5 defines it: k1 1.2, b 0.75."""
    total = len(passages)
    mean = sum(len(words) for words in passages.values()) / total
    scores: dict[int, float] = {}
    for term in dict.fromkeys(terms):
        holders = sum(term in words for words in passages.values())
        weight = math.log((total - holders + 0.5) / (holders + 0.5))
        weight = weight if weight > 0 else 1e-6
        for number, words in passages.items():
            if frequency := words.count(term):
                length = 0.25 + 0.75 * len(words) / mean
                gain = frequency * 2.2 / (frequency + 1.2 * length)
                scores[number] = scores.get(number, 0) + weight * gain
    return scores


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), min_size=1, max_size=9),
    st.lists(st.sampled_from("abcdefghx"), min_size=1, max_size=3),
    st.sets(st.integers(0, 8)),
)
def test_scores_are_bm25_of_what_lives(
    tmp_path_factory: pytest.TempPathFactory,
    passages: list[list[str]],
    terms: list[str],
    deleted: set[int],
) -> None:
    store = SQLiteStore(tmp_path_factory.mktemp("bm25"))
    with writing(store) as writer:
        writer.apply([with_terms(str(n), tuple(words)) for n, words in enumerate(passages)])
        writer.apply([Delete(str(n)) for n in deleted])
    with store.snapshot(OWNER) as snapshot:
        numbers = {
            number: passages[int(chunk.document)]
            for number, chunk in snapshot.by_number(range(99)).items()
        }
        hits = snapshot.lexical(terms, 99)
        expected = bm25(numbers, terms) if numbers else {}
        assert dict(hits) == pytest.approx(expected)
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.number))
        assert snapshot.lexical(terms, 2) == hits[:2]
        assert snapshot.lexical_scores(terms, list(numbers)) == dict(hits)
        assert snapshot.lexical_scores(terms, [n for n in numbers if n % 2]) == {
            hit.number: hit.score for hit in hits if hit.number % 2
        }
    store.close()


def test_in_a_small_library_no_term_is_left_out(store: SQLiteStore) -> None:
    words = ("alpha", "beta", "gamma", "delta")
    with writing(store) as writer:
        writer.apply([with_terms("a", *[(word,) for word in words])])
    assert len(found(store, *words)) == 4


def test_common_terms_are_left_out_while_three_others_remain(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_SMALL", 0)
    passages: list[tuple[str, ...]] = [("common", "often")] * 10
    passages += [("often", "rare1"), ("rare2",), ("rare3",), *[("other",)] * 27]
    with writing(store) as writer:
        writer.apply([with_terms("a", *passages)])
    rare = found(store, "rare1", "rare2", "rare3")
    assert len(rare) == 3
    assert found(store, "common", "rare1", "rare2", "rare3") == rare
    assert found(store, "often", "common", "rare1", "rare2", "rare3") == rare
    # Only two others: nothing is left out.
    assert len(found(store, "common", "rare1", "rare2")) == 12
    # Terms that occur nowhere are no others.
    assert len(found(store, "common", "rare1", "rare2", "nowhere", "never")) == 12
    # The most common goes first.
    assert len(found(store, "often", "common", "rare1", "rare2")) == 12


def test_of_some_documents_common_terms_are_asked_for_where_others_find_too_few(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_SMALL", 0)
    asked = ("common", "rare1", "rare2", "rare3")
    with writing(store) as writer:
        writer.apply([with_terms("a", *[("common",)] * 10, ("rare1",), ("rare2",), ("rare3",))])
        writer.apply([with_terms("b", ("common", "other"), ("other",))])
    where = Comparison("document", "=", "a")
    with store.snapshot(OWNER) as snapshot:
        assert len(snapshot.lexical(asked, 99)) == 3
        whole = snapshot.lexical(asked, 99, where)
        assert len(whole) == 13
        assert whole[:3] == snapshot.lexical(asked, 3, where) == snapshot.lexical(asked, 99)
        assert whole == sorted(whole, key=lambda hit: -hit.score)
        assert len(snapshot.lexical(asked, 99, Comparison("document", "=", "b"))) == 1


def test_a_filter_comes_before_the_ranking(store: SQLiteStore) -> None:
    generator = random.Random(7)
    changes = [
        with_terms(str(n), *[("word",) * generator.randint(1, 5) for _ in range(3)])
        for n in range(40)
    ]
    with writing(store) as writer:
        writer.apply(changes)
    where = AnyOf(tuple(Comparison("document", "=", name) for name in ("3", "17", "29")))
    with store.snapshot(OWNER) as snapshot:
        everything = snapshot.lexical(["word"], 999)
        documents = {n: chunk.document for n, chunk in snapshot.by_number(range(999)).items()}
        allowed = [hit for hit in everything if documents[hit.number] in ("3", "17", "29")]
        assert len(allowed) == 9
        assert snapshot.lexical(["word"], 5, where) == allowed[:5]
        assert snapshot.lexical(["word"], 99, where) == allowed
        assert snapshot.lexical(["word"], 5, AnyOf(())) == []


def test_many_terms_are_no_error(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([with_terms("a", ("needle",), ("hay",))])
    assert len(found(store, *[f"t{n}" for n in range(2000)], "needle")) == 1


def test_hits_are_numbers_with_scores(store: SQLiteStore) -> None:
    with writing(store) as writer:
        writer.apply([with_terms("a", ("x",), ("y",), ("z",))])
    with store.snapshot(OWNER) as snapshot:
        (hit,) = snapshot.lexical(["x"], 1)
    assert isinstance(hit, Scored)
    assert hit.score > 0


def test_counts_that_are_remembered_follow_the_library(tmp_path: Path) -> None:
    """A term that becomes common is left out by a store that knew it as rare."""
    stores = SQLiteStore(tmp_path / "one"), SQLiteStore(tmp_path / "other")
    common = [put(f"c{n}", [f"often also {n} here and"]) for n in range(60)]
    for at, store in enumerate(stores):
        with writing(store) as writer:
            writer.apply([put("a", ["often seldom other words"])])
        if at == 0:
            assert len(found(store, "often", "also", "here", "and", "seldom")) == 1
        with writing(store) as writer:
            writer.apply(common)
    asked = ("often", "also", "here", "and", "seldom")
    first, second = (found(store, *asked) for store in stores)
    assert first == second
    with stores[0].snapshot(OWNER) as snapshot:
        assert snapshot.term_counts(["often"]).holders == {"often": 61}
