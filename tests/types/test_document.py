from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.text.builder import TextBuilder
from merestone.text.lines import line_starts
from merestone.types import Block, Box, Document, Page, Segments, Status, Word


def page(number: int, *words: Word) -> Page:
    return Page(number, None, 600.0, 800.0, 0, 100, words=words)


@given(st.text("ab\n", max_size=30), st.data())
def test_lines_are_those_of_the_first_and_last_character(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    document = Document(
        "a", text, segments=Segments.identity(len(text)), line_starts=line_starts(text)
    )
    if start == len(text):
        assert document.lines_of(start, end) is None
        return
    last = max(start, end - 1)
    expected = (text.count("\n", 0, start) + 1, text.count("\n", 0, last) + 1)
    assert document.lines_of(start, end) == expected


def test_lines_are_counted_in_the_source_and_not_in_the_text() -> None:
    source = "<p>\nOne\n<b>two</b>\n\n<p>Three"
    builder = TextBuilder()
    builder.copy("One ", 4)
    builder.copy("two", 11)
    builder.insert("\n\n")
    builder.copy("Three", source.index("Three"))
    document = Document(
        "a", builder.text(), segments=builder.segments(), line_starts=line_starts(source)
    )
    assert document.lines_of(0, 7) == (2, 3)
    assert document.lines_of(4, len(document.text)) == (3, 5)
    assert document.lines_of(7, 9) is None


def test_lines_of_text_in_another_order_than_its_source_reach_over_both() -> None:
    builder = TextBuilder()
    builder.copy("later", 10)
    builder.copy("sooner", 0)
    document = Document("a", builder.text(), segments=builder.segments(), line_starts=(0, 7, 9))
    assert document.lines_of(0, 11) == (1, 3)


def test_a_document_without_lines_or_pages_has_none() -> None:
    document = Document("a", "text", segments=Segments.identity(4))
    assert document.lines_of(0, 4) is None
    assert document.pages_of(0, 4) == ()
    assert document.boxes_of(0, 4) == ()


def test_pages_are_those_that_the_characters_stand_on() -> None:
    builder = TextBuilder()
    builder.copy("one", 0, page=2)
    builder.insert(" ")
    builder.copy("two", 0, page=1)
    document = Document(
        "a", builder.text(), segments=builder.segments(), pages=(page(1), page(2), page(3))
    )
    assert document.pages_of(0, 7) == (1, 2)
    assert document.pages_of(0, 4) == (2,)
    assert document.pages_of(3, 4) == ()
    assert document.pages_of(4, 4) == (1,), "an empty span is where the next character is"


def test_boxes_surround_the_words_of_each_line_of_each_page() -> None:
    document = Document(
        "a",
        "one two three four five",
        pages=(
            page(
                1,
                Word(0, 3, 0, 10, 20, 40, 30),
                Word(4, 7, 0, 45, 18, 80, 31),
                Word(8, 13, 1, 10, 40, 60, 50),
            ),
            page(2),
            page(3, Word(14, 18, 0, 10, 20, 40, 30), Word(19, 23, 0, 50, 20, 80, 30)),
        ),
    )
    assert document.boxes_of(0, 18) == (
        Box(1, 10, 18, 80, 31),
        Box(1, 10, 40, 60, 50),
        Box(3, 10, 20, 40, 30),
    )
    assert document.boxes_of(6, 7) == (Box(1, 45, 18, 80, 31),), "a part of a word has its box"
    assert document.boxes_of(7, 8) == ()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=8), st.data())
def test_boxes_are_of_the_words_that_share_a_character_with_the_span(
    gaps_and_sizes: list[tuple[int, int]], data: st.DataObject
) -> None:
    words: list[Word] = []
    length = 0
    for line, (gap, size) in enumerate(gaps_and_sizes):
        start = length + gap
        length = start + size
        words.append(Word(start, length, line, line, 0, line + 1, 1))
    start = data.draw(st.integers(0, length))
    end = data.draw(st.integers(start, length))
    document = Document("a", "x" * length, pages=(page(1, *words),))
    if start < end:
        touched = [word for word in words if word.start < end and word.end > start]
        assert document.boxes_of(start, end) == tuple(Box(1, *word[3:]) for word in touched)


def test_the_body_ends_where_the_other_layers_begin() -> None:
    blocks = (Block("paragraph", 0, 4), Block("paragraph", 5, 9, layer="furniture"))
    assert Document("a", "body page", blocks).body_end == 4
    assert Document("a", "page", (Block("paragraph", 0, 4, layer="furniture"),)).body_end == 0
    assert Document("a", "no blocks").body_end == 9


@pytest.mark.parametrize("status", list(Status))
def test_only_what_was_read_has_text(status: Status) -> None:
    assert status.has_text == (status in ("ok", "partial"))


@given(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.integers(0, 3),
    st.integers(0, 9000),
    st.integers(0, 9000),
)
def test_bytes_of_a_span_are_those_of_its_utf_8(
    text: str, times: int, one: int, other: int
) -> None:
    document = Document(id="d", text=text * 10**times)
    start, end = sorted(min(at, len(document.text)) for at in (one, other))
    data = document.text.encode("utf-8", "surrogatepass")
    first, last = document.bytes_of(start, end)
    assert data[first:last].decode("utf-8", "surrogatepass") == document.text[start:end]
