"""Reading PDF: text, positions, layers and what becomes of files that have none."""

from __future__ import annotations

import io

import pytest
from extraction.checks import outline, read, text_of, texts
from extraction.pdf_checks import check_pdf
from extraction.pdf_files import PageFile, write_pdf
from fpdf import FPDF
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone.extraction import read_document
from merestone.extraction.pdf_metadata import parse_date
from merestone.types import Document, ExtractionError, RawDocument, Status


def read_pdf(*pages: PageFile, **catalog: object) -> Document:
    data = write_pdf(*pages, **catalog)  # type: ignore[arg-type]
    document = read(data, "a.pdf")
    check_pdf(document, data)
    return document


def body(document: Document) -> str:
    return document.text[: document.body_end]


# Characters and positions


def test_each_character_keeps_its_page_and_index() -> None:
    document = read_pdf(
        PageFile().text(72, 700, "First page."), PageFile().text(72, 700, "Second.")
    )
    start = document.text.index("Second")
    (source,) = document.segments.to_source((start, start + 6))
    assert (source.page, source.start, source.end) == (2, 0, 6)
    assert document.pages_of(start, start + 6) == (2,)
    assert document.pages_of(0, len(document.text)) == (1, 2)


def test_boxes_are_of_the_page_from_its_top_left() -> None:
    document = read_pdf(PageFile().text(72, 700, "Word", size=20))
    (box,) = document.boxes_of(0, 4)
    assert box.page == 1
    assert 72 <= box.x0 < 75
    assert 76 < box.y0 < 80
    assert box.y1 == pytest.approx(92, abs=1)


@pytest.mark.parametrize(
    ("rotate", "corner"), [(0, (50, 42)), (90, (650, 50)), (180, (417, 650)), (270, (42, 417))]
)
def test_boxes_follow_rotation_and_cropping(rotate: int, corner: tuple[float, float]) -> None:
    page = PageFile(rotate=rotate, crop=(50, 50, 562, 742)).text(100, 692, "Words at a corner.")
    document = read_pdf(page)
    first = document.pages[0]
    assert (first.width, first.height) == ((692, 512) if rotate % 180 else (512, 692))
    assert first.rotation == rotate
    word = first.words[0]
    assert document.text[word.start : word.end] == "Words"
    assert (word.x0, word.y0) == pytest.approx(corner, abs=8)


def test_one_box_a_line() -> None:
    page = PageFile()
    page.lines(72, 700, "One paragraph that stands on", "two lines of the same page.")
    document = read_pdf(page)
    assert outline(document) == [
        ("paragraph", "One paragraph that stands on two lines of the same page.")
    ]
    assert len(document.boxes_of(0, len(document.text))) == 2


def test_ligatures_become_letters_and_pairs_of_surrogates_one() -> None:
    document = read_pdf(PageFile().text(72, 700, "eAcient B CxE F", font="special"))
    assert document.text == "efficient \U0001d6fc x"
