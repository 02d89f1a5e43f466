"""The steps by which a PDF is read: furniture, hyphens, marks, repairs, titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.extraction.pdf_furniture import find_furniture, roman_value
from merestone.extraction.pdf_headings import sensible_title
from merestone.extraction.pdf_hyphens import Vocabulary, first_word, last_word
from merestone.extraction.pdf_lines import Line, gather_lines
from merestone.extraction.pdf_lists import Marker, is_section_number, numbered
from merestone.extraction.pdf_page import (
    PageContent,
    Piece,
    Rectangle,
    Run,
    Style,
    turn_box,
)
from merestone.extraction.pdf_repair import repairs

STYLE = Style("Body", 10, False, False, False, 0, False, False, -1)


def run(
    text: str, x: float, y: float, *, size: float = 10, parted: bool = True, **more: object
) -> Run:
    width = 0.5 * size * len(text)
    style = Style("Body", size, False, False, False, 0, False, False, -1)
    pieces = [Piece(text, 0, len(text), "copy")]
    return Run(pieces, style, x, y - size, x + width, y, y, (), parted, **more)  # type: ignore[arg-type]


def line(text: str, x: float = 72, y: float = 100, size: float = 10, page: int = 1) -> Line:
    runs = []
    for word in text.split(" "):
        runs.append(run(word, x, y, size=size))
        x = runs[-1].x1 + 0.3 * size
    (found,) = gather_lines(runs, page)
    return found


# Lines


def test_a_raised_sign_stays_on_its_line() -> None:
    runs = [run("mass", 72, 100), run("2", 92, 95, size=6, parted=False), run("of", 100, 100)]
    assert [found.text for found in gather_lines(runs, 1)] == ["mass2 of"]


def test_a_wide_gap_parts_a_line_without_breaking_it() -> None:
    (found,) = gather_lines([run("left", 72, 100), run("right", 300, 100)], 1)
    assert [[each.text for each in part] for part in found.parts] == [["left"], ["right"]]
    assert found.text == "left right"


def test_parts_that_the_engine_held_apart_are_lines_of_their_own() -> None:
    runs = [run("left", 72, 100), run("right", 300, 100, begins_line=True)]
    (found,) = gather_lines(runs, 1)
    assert [each.text for each in found.flatten()] == ["left", "right"]


def test_text_from_right_to_left_stays_on_its_line() -> None:
    runs = [run("שלום", 200, 100), run("עולם", 160, 100)]
    assert len(gather_lines(runs, 1)) == 1


# Furniture


def pages_of(
    *texts: list[tuple[str, float, float]],
) -> tuple[list[PageContent], dict[int, list[Line]]]:
    """Pages of lines, each a text, its baseline and its size."""
    pages, lines = [], {}
    for number, entries in enumerate(texts, 1):
        pages.append(PageContent(number, None, 600, 800, 0))
        lines[number] = [line(text, 72, y, size, number) for text, y, size in entries]
        for index, each in enumerate(lines[number]):
            each.number = index
    return pages, lines


BODY = [("Words of the body stand here and go on", 200 + 12.0 * index, 10.0) for index in range(30)]


def test_heads_of_left_and_right_pages_are_each_found() -> None:
    pages = [
        [("The book" if number % 2 else "The chapter", 40.0, 8.0), *BODY, (str(number), 780.0, 8.0)]
        for number in range(1, 9)
    ]
    found = find_furniture(*pages_of(*pages))
    assert all(found[number] == {0, 31} for number in range(1, 9))


def test_a_changing_chapter_with_the_page_number_is_found() -> None:
    pages = [
        [(f"Chapter {number // 3}: on things {number + 4}", 40.0, 10.0), *BODY]
        for number in range(9)
    ]
    found = find_furniture(*pages_of(*pages))
    assert sum(bool(chosen) for chosen in found.values()) == 9


def test_a_number_that_does_not_count_is_no_page_number() -> None:
    pages = [[*BODY, (number, 780.0, 8.0)] for number in ("12", "90", "31", "17")]
    assert not any(find_furniture(*pages_of(*pages)).values())


def test_a_heading_a_page_that_counts_is_none() -> None:
    pages = [[(f"{number} Section {'abcd'[number]}", 60.0, 18.0), *BODY] for number in range(4)]
    assert not any(find_furniture(*pages_of(*pages)).values())


def test_a_large_numbered_line_a_page_is_a_heading() -> None:
    pages = [[(f"Step {number}", 60.0, 14.0), *BODY] for number in range(1, 7)]
    assert not any(find_furniture(*pages_of(*pages)).values())


@pytest.mark.parametrize(("text", "value"), [("i", 1), ("iv", 4), ("XXIX", 29), ("c", 100)])
def test_roman_numerals(text: str, value: int) -> None:
    assert roman_value(text) == value


# Hyphens


@pytest.mark.parametrize(
    ("left", "right", "keeps"),
    [
        ("charac", "ter", False),
        ("state", "of-the-art,", True),
        ("well", "known", True),
        ("co", "operate", False),
        ("species", "distribution", True),
        ("COVID", "19", True),
        ("anti", "American", True),
        ("https://example.org/a", "b", True),
    ],
)
def test_the_document_decides_about_hyphens(left: str, right: str, keeps: bool) -> None:
    words = "A well-known species and the distribution of it. They cooperate."
    assert Vocabulary([line(words)]).keeps_hyphen(left, right) is keeps


def test_words_at_line_edges_are_taken_whole() -> None:
    runs = [run("a", 72, 100), run("wo", 90, 100), run("rd", 100, 100, parted=False)]
    assert last_word(runs) == "word"
    assert first_word(runs[1:]) == "word"


# Marks


@pytest.mark.parametrize(
    ("word", "values"),
    [("3.", (3,)), ("(b)", (2,)), ("iv)", (4,)), ("i.", (9, 1)), ("[12]", (12,))],
)
def test_marks_of_lists(word: str, values: tuple[int, ...]) -> None:
    marker = numbered(word)
    assert marker is not None
    assert marker.values == values


@pytest.mark.parametrize("word", ["3", "1994.", "3.1", "word.", "[2)", "", "e.g."])
def test_what_is_no_mark(word: str) -> None:
    assert numbered(word) is None


@pytest.mark.parametrize(
    ("first", "second", "follows"),
    [
        ("1.", "2.", True),
        ("1.", "3.", False),
        ("a.", "b.", True),
        ("1.", "b.", False),
        ("1)", "2.", False),
        ("i.", "ii.", True),
    ],
)
def test_a_mark_follows_its_own_kind(first: str, second: str, follows: bool) -> None:
    one, other = numbered(first), numbered(second)
    assert isinstance(one, Marker)
    assert isinstance(other, Marker)
    assert other.follows(one) is follows


@pytest.mark.parametrize(
    ("word", "is_one"), [("2", True), ("2.1", True), ("A.3", True), ("A", False), ("2023", False)]
)
def test_section_numbers(word: str, is_one: bool) -> None:
    assert is_section_number(word) is is_one


# Repairs


def test_a_repair_names_the_last_catalog_and_adds_a_header() -> None:
    data = b"1 0 obj\n<</Type/Catalog>>\nendobj\n7 0 obj\n<</Type /Catalog>>\nendobj\n"
    first, second = repairs(data)
    assert first.startswith(b"%PDF-")
    assert b"/Root 7 0 R" in first
    assert b"/Root 1 0 R" in second


def test_a_lost_catalog_is_made_anew_over_the_pages() -> None:
    (mended,) = repairs(b"%PDF-1.4\n3 0 obj\n<</Type/Pages/Kids[]>>\nendobj\n")
    assert b"4 0 obj\n<</Type/Catalog/Pages 3 0 R>>" in mended


@given(st.binary(max_size=300))
def test_any_bytes_can_be_looked_at_for_repair(data: bytes) -> None:
    assert all(data in mended for mended in repairs(data))


# Titles and boxes


@pytest.mark.parametrize(
    ("title", "name", "found"),
    [
        ("  The Care\nof Boats ", "b.pdf", "The Care of Boats"),
        ("boats", "docs/boats.pdf", None),
        ("Untitled-1", "b.pdf", None),
        ("2023", "b.pdf", None),
    ],
)
def test_titles(title: str, name: str, found: str | None) -> None:
    assert sensible_title(title, name) == found


@given(st.tuples(*[st.floats(0, 500) for _ in range(4)]), st.integers(0, 3))
def test_turns_can_be_undone(corners: tuple[float, float, float, float], quarters: int) -> None:
    x0, y0, x1, y1 = corners
    box = Rectangle(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    width, height = 600.0, 800.0
    turned = turn_box(box, width, height, quarters)
    shape = (height, width) if quarters % 2 else (width, height)
    assert turn_box(turned, *shape, -quarters % 4) == pytest.approx(box)
