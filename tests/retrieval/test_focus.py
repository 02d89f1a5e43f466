"""Which sentence of a candidate answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from merestone import chunk
from merestone.retrieval.candidates import Candidate
from merestone.retrieval.focus import FocusedUnit, focus_units
from merestone.retrieval.question_words import telling
from merestone.retrieval.units import units_of
from merestone.text.analysis import query_terms, terms
from merestone.types import Chunk

_WORDS = st.sampled_from(["pump", "valve", "bar", "opens", "at", "12", "the", "Alpha", "?", "."])
_TEXTS = st.lists(_WORDS, min_size=1, max_size=120).map(" ".join)


def focused(chunks: list[Chunk], query: str, scores: list[float] | None = None) -> list[str]:
    found = units(chunks, query, scores)
    return [text_of(each) for each in found]


def units(
    chunks: list[Chunk], query: str, scores: list[float] | None = None
) -> tuple[FocusedUnit, ...]:
    dense = scores or [0.0] * len(chunks)
    pairs = [
        (Candidate(number, 0.0, None, score, None, None), one)
        for number, (one, score) in enumerate(zip(chunks, dense, strict=True))
    ]
    return focus_units(pairs, query_terms(query))


def text_of(each: FocusedUnit) -> str:
    one = each.chunk
    return one.text[each.unit.start - one.start : each.unit.end - one.start].strip()


def cut(text: str) -> list[Chunk]:
    return list(chunk(text))


def test_the_sentence_that_holds_the_words_is_first() -> None:
    chunks = cut("The alpha pump runs at 40 bar. Paint it blue. The gate is closed on Sunday.")
    assert focused(chunks, "gate on sunday")[0] == "The gate is closed on Sunday."


def test_neighbours_lift_a_sentence_without_the_words() -> None:
    chunks = cut("Fish swim. The gate opens. It needs a key. Birds sing. Cows eat grass.")
    ranked = focused(chunks, "gate opens")
    assert ranked[0] == "The gate opens."
    assert set(ranked[1:3]) == {"Fish swim.", "It needs a key."}


def test_the_chunk_decides_between_equal_sentences() -> None:
    chunks = [*cut("The lamp is red."), *cut("The lamp is red. ")]
    assert units(chunks, "lamp", [0.1, 0.9])[0].candidate.number == 0
    second = cut("The lamp is red.")[0]
    other = cut("Green lamps and trees. The lamp is red.")[0]
    first = units([second, other], "lamp", [0.1, 0.9])[0]
    assert first.candidate.number == 1


def test_a_question_does_not_answer_a_question() -> None:
    chunks = cut(
        "What was the total debt in 2015? The total debt at the end of the year 2015 was 12 euros."
    )
    assert focused(chunks, "What was the total debt in 2015?")[0].startswith("The total debt")


def test_asking_words_are_not_looked_for_unless_little_else_is_left() -> None:
    assert telling(query_terms("What was the net debt in 2015")) == (
        "the",
        "net",
        "debt",
        "in",
        "2015",
    )
    assert telling(query_terms("The Who")) == tuple(query_terms("The Who"))


def test_rows_of_a_loose_table_are_units_and_are_read_with_its_first_row() -> None:
    text = "Sales by year.\n\nyear | north | south\n2014 | 11 | 12\n2015 | 13 | 14\n2016 | 15 | 16"
    (one,) = cut(text)
    read = units_of(one)
    rows = [unit for unit in read.units if unit.kind == "table_row"]
    assert [text[unit.start : unit.end].strip() for unit in rows] == [
        "year | north | south",
        "2014 | 11 | 12",
        "2015 | 13 | 14",
        "2016 | 15 | 16",
    ]
    last = len(read.units) - 1
    assert read.near[last] == (0, 1, last)
    assert focused([one], "south sales 2016")[0] == "2016 | 15 | 16"


@given(_TEXTS)
def test_units_tile_the_chunk_and_their_terms_are_counted(text: str) -> None:
    for one in cut(text):
        read = units_of(one)
        bounds = [unit.start for unit in read.units] + [read.units[-1].end]
        assert bounds[0] == one.start
        assert bounds[-1] == one.end
        assert [unit.end for unit in read.units] == bounds[1:]
        assert (
            sum(read.lengths)
            == len(read.terms)
            == sum(map(len, read.places(read.holders).values()))
        )
        assert all(at in group for at, group in enumerate(read.near))
        assert {(each, at) for at, group in enumerate(read.near) for each in group} == {
            (at, each) for at, group in enumerate(read.beside) for each in group
        }
        for at, unit in enumerate(read.units):
            own = terms(text[unit.start : unit.end])
            assert len(own) == read.lengths[at]
            for word, held in read.places(read.holders).items():
                assert held.count(at) == own.count(word)


@given(_TEXTS, _TEXTS)
def test_scores_are_shares_best_first_and_no_range_comes_twice(text: str, query: str) -> None:
    chunks = cut(text)
    found = units([*chunks, *chunks], query)
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    ranges = [(each.unit.start, each.unit.end) for each in found]
    assert len(set(ranges)) == len(ranges)
