"""Reading PDF: text, positions, layers and what becomes of files that have none."""

from __future__ import annotations

import contextlib

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
    ("rotate", "corner"), [(0, (50, 43)), (90, (642, 50)), (180, (433, 642)), (270, (43, 433))]
)
def test_boxes_follow_rotation_and_cropping(rotate: int, corner: tuple[float, float]) -> None:
    page = PageFile(rotate=rotate, crop=(50, 50, 562, 742)).text(100, 692, "Words at a corner.")
    document = read_pdf(page)
    first = document.pages[0]
    assert (first.width, first.height) == ((692, 512) if rotate % 180 else (512, 692))
    assert first.rotation == rotate
    word = first.words[0]
    assert document.text[word.start : word.end] == "Words"
    assert (word.x0, word.y0) == pytest.approx(corner, abs=2)


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


def test_words_of_turned_text_stand_where_they_are_shown() -> None:
    page = PageFile()
    page.draw("BT /regular 10 Tf 0 1 -1 0 100 100 Tm (Sideways words) Tj ET")
    page.lines(200, 700, "Upright words are many more", "than those at the side.")
    document = read_pdf(page)
    assert texts(document, "paragraph") == [
        "Sideways words",
        "Upright words are many more than those at the side.",
    ]
    first = document.pages[0].words[0]
    assert first.y1 - first.y0 > first.x1 - first.x0
    assert first.y1 == pytest.approx(692, abs=2)


WORD = st.text("abcdefghij", min_size=1, max_size=9)


@settings(max_examples=25)
@given(
    pages=st.lists(
        st.lists(st.lists(WORD, min_size=1, max_size=12), max_size=12), min_size=1, max_size=3
    ),
    indent=st.sampled_from([0, 15, -40]),
    size=st.sampled_from([7, 10, 14]),
    gap=st.sampled_from([" ", "        ", "-"]),
)
def test_no_word_is_lost_and_each_has_its_place(
    pages: list[list[list[str]]], indent: int, size: int, gap: str
) -> None:
    drawn = []
    for lines in pages:
        page = PageFile()
        for index, words in enumerate(lines):
            page.text(100 + indent * (index % 3), 720 - 1.3 * size * index, gap.join(words), size)
        drawn.append(page)
    data = write_pdf(*drawn)
    document = read_document(RawDocument("a.pdf", data, media_type="application/pdf"))
    check_pdf(document, data)
    assert read_document(RawDocument("a.pdf", data, media_type="application/pdf")) == document


# Lines and paragraphs


def test_a_paragraph_over_a_page_end_is_one_block() -> None:
    first, second = PageFile(), PageFile()
    first.lines(
        72,
        120,
        "The first paragraph says something short.",
        "",
        "The valve of the third tank must stay open for as long as the",
        "pump is running, because the pressure in the line would other-",
    )
    second.lines(
        72,
        700,
        "wise rise above the limit and break the seal of the flange at",
        "the end of the pipe.",
        "",
        "Another paragraph begins here and ends on this very page too.",
    )
    document = read_pdf(first, second)
    assert texts(document, "paragraph") == [
        "The first paragraph says something short.",
        "The valve of the third tank must stay open for as long as the pump is running, because "
        "the pressure in the line would otherwise rise above the limit and break the seal of the "
        "flange at the end of the pipe.",
        "Another paragraph begins here and ends on this very page too.",
    ]
    block = document.blocks[1]
    assert document.pages_of(block.start, block.end) == (1, 2)
    assert [box.page for box in document.boxes_of(block.start, block.end)] == [1, 1, 2, 2]


def test_a_note_and_a_page_number_do_not_part_a_paragraph() -> None:
    pages = [PageFile() for _ in range(3)]
    notes = ["A note in small print.", "This explains a word.", "See the other book."]
    for number, (page, note) in enumerate(zip(pages, notes, strict=True), 1):
        page.lines(
            72,
            700,
            *[f"Words of line {line} go on until the edge of it is reached" for line in range(3)],
        )
        page.text(72, 664, "and here the line runs over the end of the page into")
        page.text(72, 100, f"{number} {note}", size=7)
        page.text(300, 40, str(number), size=9)
    pages[-1].text(72, 652, "nothing at all.")
    document = read_pdf(*pages)
    found = outline(document)
    assert [kind for kind, _ in found] == ["paragraph", "footnote", "footnote", "footnote"]
    assert found[0][1].endswith("into nothing at all.")
    assert texts(document, "paragraph", "furniture") == ["1", "2", "3"]


def test_hyphens_at_line_ends_follow_the_documents_own_spelling() -> None:
    page = PageFile()
    page.lines(
        72,
        700,
        "This device is state-of-the-art and its read-only memory holds",
        "what the makers of it wrote. The memory is read-",
        "only, so nobody writes to it, and it is state-",
        "of-the-art as was said. The characteris-",
        "tics are in the table, the years 2013-",
        "2014 are in another.",
    )
    document = read_pdf(page)
    assert body(document) == (
        "This device is state-of-the-art and its read-only memory holds what the makers of it "
        "wrote. The memory is read-only, so nobody writes to it, and it is state-of-the-art as "
        "was said. The characteristics are in the table, the years 2013-2014 are in another."
    )


def test_an_address_over_a_line_end_stays_whole() -> None:
    page = PageFile()
    page.lines(
        72,
        700,
        "The rules are found at https://example.org/rules/",
        "of/2024, where all of them are.",
    )
    assert "https://example.org/rules/of/2024, where" in body(read_pdf(page))


def test_indents_begin_paragraphs() -> None:
    page = PageFile()
    for index in range(4):
        y = 700 - 36 * index
        page.text(87, y, f"Paragraph {index} begins with an indent and goes on to the very end")
        page.text(
            72, y - 12, "of the line and beyond, in lines that stand at the left edge, for as"
        )
        page.text(72, y - 24, "long as it has something to say to you.")
    document = read_pdf(page)
    assert [text.split(" begins")[0] for text in texts(document, "paragraph")] == [
        f"Paragraph {index}" for index in range(4)
    ]


def test_entries_whose_first_line_stands_out_stay_whole() -> None:
    page = PageFile()
    for index in range(3):
        y = 700 - 36 * index
        page.text(
            72, y, f"Author {index}, A. (2020). A title that is long enough to fill the line up to"
        )
        page.text(
            87, y - 12, "the edge and a little more. A Journal of Things, and its volume and its"
        )
        page.text(87, y - 24, "number, 1-20.")
    document = read_pdf(page)
    assert len(texts(document, "paragraph")) == 3


def test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other() -> None:
    page = PageFile()
    left = [
        "Alpha goes first down the left",
        "side of the page with words",
        "that fill its narrow lines and",
        "ends the first column here.",
    ]
    right = [
        "Beta goes second down the right",
        "side of the page with others",
        "that fill narrow lines too and",
        "end the second column there.",
    ]
    page.text(
        72, 740, "A line over both columns of the page, as a heading would stand there", size=12
    )
    for index, (one, other) in enumerate(zip(left, right, strict=True)):
        page.text(72, 700 - 12 * index, one)
        page.text(260, 700 - 12 * index, other)
    document = read_pdf(page)
    assert texts(document, "paragraph")[-2:] == [" ".join(left), " ".join(right)]


# Lists, tables, code


def test_lists_nest_and_have_their_introduction() -> None:
    page = PageFile()
    page.text(72, 700, "Do these things in this order:")
    page.text(90, 682, "1. Open the door and look into the box whether anything is in it that")
    page.text(102, 670, "should not be there.")
    page.text(90, 658, "2. Close it:")
    page.text(114, 646, "a. gently,")
    page.text(114, 634, "b. fully.")
    page.text(90, 622, "3. Go home.")
    page.text(72, 600, "• one")
    page.text(72, 588, "• two")
    document = read_pdf(page)
    items = [(b.level, b.attributes["marker"]) for b in document.blocks if b.kind == "list_item"]
    assert items == [
        (1, "1."),
        (1, "2."),
        (2, "a."),
        (2, "b."),
        (1, "3."),
        (1, "\u2022"),
        (1, "\u2022"),
    ]
    lists = [block for block in document.blocks if block.kind == "list"]
    assert [block.attributes["ordered"] for block in lists] == [True, True, False]
    start, end = lists[0].attributes["lead_in"]
    assert document.text[start:end] == "Do these things in this order:"


def test_a_number_at_a_line_start_is_no_list() -> None:
    page = PageFile()
    page.lines(
        72,
        700,
        "The house was built in the spring of the year which is written as",
        "1994. It stands to this day on the same hill where it was built.",
    )
    assert [kind for kind, _ in outline(read_pdf(page))] == ["paragraph"]


def rows(document: Document) -> list[list[str]]:
    found = [block for block in document.blocks if block.kind == "table_row"]
    return [[document.text[s:e] for s, e in block.attributes["cells"]] for block in found]


def test_a_ruled_table_keeps_its_empty_cells_and_its_wrapped_ones() -> None:
    page = PageFile().grid([72, 200, 300, 400], [700, 680, 640, 620])
    for x, words in ((75, "Part"), (203, "Size"), (303, "Price")):
        page.text(x, 686, words, font="bold")
    page.text(75, 668, "A bolt with a")
    page.text(75, 656, "very long name")
    page.text(203, 668, "M8")
    page.text(75, 626, "Nut")
    page.text(303, 626, "0.10")
    document = read_pdf(page)
    assert rows(document) == [
        ["Part", "Size", "Price"],
        ["A bolt with a very long name", "M8", ""],
        ["Nut", "", "0.10"],
    ]
    table = document.blocks[0]
    start, end = table.attributes["header"]
    assert document.text[start:end] == "Part | Size | Price"
    assert table.attributes["columns"] == 3


def test_a_cell_over_two_columns_is_one() -> None:
    page = PageFile()
    for y in (700, 680, 660, 640):
        page.draw(f"72 {y} m 400 {y} l S")
    for x in (72, 400):
        page.draw(f"{x} 700 m {x} 640 l S")
    page.draw("200 680 m 200 640 l S")
    page.text(75, 686, "Over both")
    page.text(75, 666, "left").text(203, 666, "right")
    page.text(75, 646, "low").text(203, 646, "end")
    assert rows(read_pdf(page)) == [["Over both"], ["left", "right"], ["low", "end"]]


def test_rows_with_wide_gaps_are_a_table_with_heads() -> None:
    page = PageFile()
    page.text(72, 740, "Table 1: income")
    page.text(250, 720, "2023").text(350, 720, "2024")
    for index, (name, one, other) in enumerate(
        [
            ("Sales", "1,204", "1,310"),
            ("Cost of what was sold", "731", "802"),
            ("Rest", "473", "508"),
        ]
    ):
        y = 704 - 14 * index
        page.text(72, y, name).text(250, y, one).text(350, y, other)
    document = read_pdf(page)
    assert rows(document) == [
        ["2023", "2024"],
        ["Sales", "1,204", "1,310"],
        ["Cost of what was sold", "731", "802"],
        ["Rest", "473", "508"],
    ]
    table = next(block for block in document.blocks if block.kind == "table")
    assert document.text[slice(*table.attributes["header"])] == "2023 | 2024"
    assert document.text[slice(*table.attributes["caption"])] == "Table 1: income"


def test_one_line_with_a_wide_gap_is_no_table() -> None:
    page = PageFile().text(72, 700, "Place").text(300, 700, "Date")
    assert outline(read_pdf(page)) == [("paragraph", "Place Date")]


def test_code_keeps_its_lines_and_indents() -> None:
    page = PageFile()
    page.text(72, 720, "A program that greets whoever runs it, and nothing else:")
    page.text(72, 700, "def greet():", font="mono")
    page.text(96, 688, 'print("hello")', font="mono")
    page.text(72, 664, "greet()", font="mono")
    document = read_pdf(page)
    assert texts(document, "code") == ['def greet():\n    print("hello")\n\ngreet()']


# Headings and title


def paragraphs(page: PageFile, y: float, count: int = 3) -> float:
    for _ in range(count):
        y = page.lines(
            72,
            y,
            "Ordinary words stand here in the size of the body, line after line",
            "until the paragraph has come to its end.",
        )
        y -= 8
    return y


def test_headings_are_found_by_size_and_weight() -> None:
    page = PageFile()
    page.text(72, 740, "A manual of everything", size=20, font="bold")
    page.text(72, 700, "1 Beginnings", size=14, font="bold")
    y = paragraphs(page, 680)
    page.text(72, y - 10, "1.1 Details", font="bold")
    y = paragraphs(page, y - 30)
    page.text(72, y - 10, "2 Ends", size=14, font="bold")
    paragraphs(page, y - 30)
    document = read_pdf(page)
    assert [(b.level, text_of(document, b)) for b in document.blocks if b.kind == "heading"] == [
        (1, "A manual of everything"),
        (2, "1 Beginnings"),
        (3, "1.1 Details"),
        (2, "2 Ends"),
    ]
    assert document.title == "A manual of everything"
    assert document.metadata["heading_source"] == "fonts"


def test_a_document_all_in_bold_has_no_headings_by_weight() -> None:
    page = PageFile()
    for index in range(5):
        page.text(72, 700 - 30 * index, f"Line {index} is bold like all", font="bold")
    assert "heading" not in {kind for kind, _ in outline(read_pdf(page))}


def test_an_outline_gives_headings_with_their_levels() -> None:
    file = FPDF()
    file.set_font("Helvetica", size=11)
    for chapter in ("First things", "Second things", "Third things"):
        file.add_page()
        file.start_section(chapter)
        file.cell(text=chapter, new_x="LMARGIN", new_y="NEXT")
        file.start_section(f"Inside {chapter.lower()}", level=1)
        file.cell(text=f"Inside {chapter.lower()}", new_x="LMARGIN", new_y="NEXT")
        file.multi_cell(w=0, text="Words that say something about it. " * 8)
    data = bytes(file.output())
    document = read(data, "a.pdf")
    check_pdf(document, data)
    assert document.metadata["heading_source"] == "outline"
    headings = [(b.level, text_of(document, b)) for b in document.blocks if b.kind == "heading"]
    assert headings[:3] == [(1, "First things"), (2, "Inside first things"), (1, "Second things")]
    assert len(headings) == 6


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("The Care of Boats", "The Care of Boats"),
        ("untitled", None),
        ("Microsoft Word - boats.doc", None),
        ("boats_final_v2.docx", None),
        ("a", None),
        ("PowerPoint Presentation", None),
    ],
)
def test_a_title_of_the_metadata_is_taken_if_it_is_one(given: str, title: str | None) -> None:
    page = PageFile()
    page.text(72, 700, "words without a heading")
    assert read_pdf(page, info={"Title": given}).title == title


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("D:20240131120000+01'00'", "2024-01-31T12:00:00+01:00"),
        ("D:20240131120000Z", "2024-01-31T12:00:00+00:00"),
        ("D:20240131", "2024-01-31"),
        ("20240131120000", "2024-01-31T12:00:00"),
        ("D:20241399000000", None),
        ("D:20240131120000+99'99'", None),
        ("yesterday", None),
    ],
)
def test_dates(text: str, moment: str | None) -> None:
    assert parse_date(text) == moment


# Layers


def test_running_heads_and_page_numbers_are_furniture() -> None:
    pages = []
    for number in range(1, 6):
        page = PageFile()
        page.text(72, 760, "The Care of Boats", size=8)
        page.text(500, 760, f"Part {number}", size=8)
        paragraphs(page, 700)
        page.text(300, 30, f"- {number + 6} -", size=8)
        pages.append(page)
    document = read_pdf(*pages)
    furniture = texts(document, "paragraph", "furniture")
    assert furniture[:3] == ["The Care of Boats Part 1", "- 7 -", "The Care of Boats Part 2"]
    assert len(furniture) == 10
    assert "Boats" not in body(document)


def test_similar_first_lines_of_the_body_are_no_furniture() -> None:
    pages = []
    for number in range(1, 5):
        page = PageFile()
        page.lines(
            72, 700, f"Step {number} of the work begins here", "and goes on in this line below it."
        )
        pages.append(page)
    document = read_pdf(*pages)
    assert texts(document, "paragraph", "furniture") == []
    lonely = [PageFile().text(72, 760, f"Sheet {number}") for number in range(1, 5)]
    assert texts(read_pdf(*lonely), "paragraph", "furniture") == []


def test_what_no_reader_sees_is_hidden() -> None:
    page = PageFile().text(72, 700, "Seen words.")
    page.text(72, 650, "Invisible words", more="3 Tr").text(72, 600, "White words", more="1 g")
    page.draw("0 0 0.5 rg 70 540 200 30 re f").text(72, 550, "White on blue", more="1 g")
    page.text(-300, 700, "Beside the page")
    document = read_pdf(page)
    assert [text for _, text in outline(document)] == ["Seen words.", "White on blue"]
    hidden = texts(document, "paragraph", "hidden")
    assert hidden == ["Invisible words", "White words", "Beside the page"]


def test_the_text_layer_of_a_scan_is_its_text() -> None:
    page = PageFile().picture(0, 0, 612, 792)
    page.text(72, 700, "Recognised words of the scan", more="3 Tr")
    document = read_pdf(page)
    assert outline(document) == [("paragraph", "Recognised words of the scan")]
    assert document.status == Status.OK


# Status


def test_pages_of_images_need_ocr() -> None:
    scan = PageFile().picture(0, 0, 612, 792)
    document = read_pdf(scan)
    assert (document.status, document.text) == (Status.NEEDS_OCR, "")
    assert document.pages[0].needs_ocr
    document = read_pdf(PageFile().text(72, 700, "Words."), scan)
    assert document.status == Status.PARTIAL
    assert [page.needs_ocr for page in document.pages] == [False, True]
    assert [w.code for w in document.warnings] == ["pdf-pages-need-ocr"]
    assert "Page 2 " in document.warnings[0].message


def test_a_file_without_anything_is_empty() -> None:
    assert read_pdf(PageFile()).status == Status.EMPTY


@pytest.mark.parametrize(("owner_only", "readable"), [(True, True), (False, False)])
def test_a_password_to_open_is_an_error_and_one_to_change_is_not(
    owner_only: bool, readable: bool
) -> None:
    file = FPDF()
    file.add_page()
    file.set_font("Helvetica", size=12)
    file.cell(text="Secret words.")
    file.set_encryption(owner_password="owner", user_password=None if owner_only else "user")
    data = bytes(file.output())
    if readable:
        assert read(data, "a.pdf").text == "Secret words."
        return
    with pytest.raises(ExtractionError) as caught:
        read(data, "a.pdf")
    assert (caught.value.code, caught.value.status) == ("pdf-encrypted", Status.ENCRYPTED)


def damaged(data: bytes, cut: str) -> bytes:
    if cut == "trailer":
        return data[: data.rindex(b"xref\n0")]
    if cut == "tail":
        return data[: data.rindex(b"endstream")]
    return data[20:]


@pytest.mark.parametrize("cut", ["trailer", "tail", "header"])
def test_a_damaged_file_is_mended_and_says_so(cut: str) -> None:
    data = damaged(write_pdf(PageFile().text(72, 700, "These words are left.")), cut)
    document = read_document(RawDocument("a.pdf", data, media_type="application/pdf"))
    assert document.text == "These words are left."
    if document.status != Status.OK:
        assert document.status == Status.PARTIAL
        assert [warning.code for warning in document.warnings] == ["pdf-repaired"]


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4\nnonsense", bytes(range(256)) * 8])
def test_what_is_no_pdf_is_unreadable(data: bytes) -> None:
    with pytest.raises(ExtractionError) as caught:
        read_document(RawDocument("a.pdf", data, media_type="application/pdf"))
    assert (caught.value.code, caught.value.status) == ("pdf-damaged", Status.UNREADABLE)


@settings(max_examples=40)
@given(places=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=40))
def test_flipped_bytes_give_a_document_or_an_error(places: list[tuple[int, int]]) -> None:
    pages = [PageFile().text(72, 700, f"Words of page {number}.") for number in range(3)]
    data = bytearray(write_pdf(*pages))
    for place, value in places:
        data[place % len(data)] = value
    raw = RawDocument("a.pdf", bytes(data), media_type="application/pdf")
    with contextlib.suppress(ExtractionError):
        check_pdf(read_document(raw), None)


# What the file says about itself


def test_labels_dates_and_language() -> None:
    labels = "/PageLabels<</Nums[0<</S/r>>1<</S/D/St 9>>]>>"
    document = read_pdf(
        PageFile().text(72, 700, "One."),
        PageFile().text(72, 700, "Two."),
        info={"Author": "A. Writer", "CreationDate": "D:20240131"},
        labels=labels,
        more="/Lang(en-GB)",
    )
    assert [page.label for page in document.pages] == ["i", "9"]
    assert document.language == "en-GB"
    assert document.metadata["author"] == "A. Writer"
    assert document.metadata["created"] == "2024-01-31"
    assert document.metadata["page_count"] == 2
