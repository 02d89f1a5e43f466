"""Copies collapse; what differs in a word that matters does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone import Library, chunk
from merestone.retrieval.duplicates import collapse
from merestone.text.analysis import query_terms
from merestone.types import Chunk

_LONG = (
    "Goods may be returned to any branch within {} days of the sale, as long as the box is whole, "
    "the bill is shown and no seal was broken before the goods came back to us."
)


def made(text: str, name: str, path: tuple[str, ...] = ()) -> Chunk:
    (one,) = chunk(text)
    return replace(one, id=name, document=name, heading_path=path or one.heading_path)


def kept(query: str, *chunks: Chunk) -> list[str]:
    dropped = collapse(chunks, query_terms(query))
    return [one.id for one in chunks if one.id not in dropped]


def test_the_same_text_in_another_document_is_a_copy() -> None:
    text = _LONG.format(14)
    assert kept("return goods", made(text, "a"), made(text, "b")) == ["a"]


def test_a_part_of_a_passage_is_a_copy_and_more_than_it_is_not() -> None:
    text = _LONG.format(14)
    more = f"{text} Gift cards are never taken back by anyone."
    assert kept("return goods", made(more, "a"), made(text, "b")) == ["a"]
    assert kept("return goods", made(text, "a"), made(more, "b")) == ["a", "b"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_LONG.format(14), _LONG.format(30)),
        (_LONG.format(14), _LONG.format(14).replace("no seal", "the seal")),
        ("Pump 1 has valve 2. Pump 1 has valve 1.", "Pump 2 has valve 1. Pump 2 has valve 2."),
        ("The guest pays and the host does not.", "The host pays and the guest does not."),
    ],
)
def test_distinct_answers_stay(one: str, other: str) -> None:
    assert kept("goods pump pays", made(one, "a"), made(other, "b")) == ["a", "b"]


def test_the_same_few_words_under_other_headings_are_another_answer() -> None:
    text = "Default: 30 seconds."
    first, second = made(text, "a", ("connect_timeout",)), made(text, "b", ("read_timeout",))
    assert kept("timeout default", first, second) == ["a", "b"]
    assert kept("timeout default", first, made(text, "b", ("connect_timeout",))) == ["a"]


def test_a_word_of_the_question_in_the_headings_keeps_a_long_copy() -> None:
    text = _LONG.format(14)
    first, second = made(text, "a", ("Germany",)), made(text, "b", ("France",))
    assert kept("return goods", first, second) == ["a"]
    assert kept("return goods in france", first, second) == ["a", "b"]


@given(st.lists(st.sampled_from(["pump", "valve", "12", "7", "not"]), min_size=1, max_size=60))
def test_a_kept_chunk_holds_every_word_and_number_of_what_it_stands_for(words: list[str]) -> None:
    half = words[: max(1, len(words) // 2)]
    chunks = [made(" ".join(each) + " x", name) for name, each in (("a", words), ("b", half))]
    for name, other in collapse(chunks, ["pump"]).items():
        texts = {one.id: one.text.split() for one in chunks}
        assert set(texts[name]) <= set(texts[other])


def test_search_names_the_copies_and_fills_up(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# Returns\n\n{_LONG.format(14)}\n")
    (tmp_path / "d.md").write_text(f"# Returns\n\n{_LONG.format(30)}\n")
    settings = {"embedding": {"model": "hashing"}}
    with Library.open(tmp_path, **settings) as library:  # type: ignore[arg-type]
        library.sync()
        result = library.search("days to return goods", k=2, explain=True)
        context = library.context("days to return goods", budget=2000)
    assert len(result.hits) == 2
    (copied,) = [hit for hit in result.hits if hit.also]
    documents = {copied.chunk.document, *(each.split("#")[0] for each in copied.also)}
    assert documents == {"a.md", "b.md", "c.md"}
    assert context.text.count("within 14 days") == 1
    assert context.text.count("within 30 days") == 1
    assert all("near-duplicate" in left.reason for left in context.left_out)
    ranked = result.trace[1]["ranked"]
    assert isinstance(ranked, list)
    removed = [row["removed_by"] for row in ranked]
    assert sum("near-duplicate" in str(reason) for reason in removed) == 2
    with Library.open(tmp_path, retrieval={"collapse": False}, **settings) as library:  # type: ignore[arg-type]
        assert len(library.search("days to return goods", k=4).hits) == 4


def test_which_of_equal_texts_is_named_does_not_depend_on_what_was_stored_first(
    tmp_path: Path,
) -> None:
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        for name in ("b", "a"):
            (tmp_path / f"{name}.md").write_text(f"# Returns\n\n{_LONG.format(14)}\n")
            library.sync()
        for mode in ("hybrid", "dense", "lexical"):
            (hit,) = library.search("days to return goods", mode=mode).hits
            assert hit.chunk.document == "a.md"
