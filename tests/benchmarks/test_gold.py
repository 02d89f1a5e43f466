"""Gold spans are found in the text of a document, whatever became of the source."""

from __future__ import annotations

from gold import View, located

from merestone.types import Block, Document, Page, Segment, Segments, Word

SOURCE = "<p>One two.</p><aside>Menu</aside><p>Three four five.</p>"
TEXT = "One two.\n\nThree four five.\n\nMenu"


def html() -> View:
    """Two paragraphs of a page, and behind them what stood between."""
    items = (
        Segment(0, 8, 3, 11, "copy"),
        Segment(8, 10, 11, 11, "insert"),
        Segment(10, 26, 37, 53, "copy"),
        Segment(26, 28, 53, 53, "insert"),
        Segment(28, 32, 22, 26, "copy"),
    )
    blocks = (
        Block("paragraph", 0, 8),
        Block("paragraph", 10, 26),
        Block("paragraph", 28, 32, layer="boilerplate"),
    )
    return View(Document("a.html", TEXT, blocks, Segments(items)))


def item(start: int, end: int) -> dict[str, object]:
    return {"doc": "a.html", "start": start, "end": end, "quote": SOURCE[start:end]}


def page_view(words: list[str]) -> View:
    """A page of the given words, one space between two."""
    text, found = "", []
    for word in words:
        start = len(text)
        text += word
        found.append(Word(start, len(text), 0, 0.0, 0.0, 1.0, 1.0))
        text += " "
    page = Page(1, None, 100.0, 100.0, 0, len(text), words=tuple(found))
    return View(Document("a.pdf", text, (Block("paragraph", 0, len(text)),), pages=(page,)))


def test_a_span_of_markup_is_its_text() -> None:
    view = html()
    place = view.locate(item(0, 15))
    assert place is not None
    assert TEXT[slice(*place)] == "One two."


def test_furniture_inside_a_span_is_no_part_of_it() -> None:
    place = html().locate(item(19, len(SOURCE)))
    assert place is not None
    assert TEXT[slice(*place)] == "Three four five."


def test_a_span_of_furniture_alone_is_found_behind_the_body() -> None:
    place = html().locate(item(15, 34))
    assert place is not None
    assert TEXT[slice(*place)] == "Menu"


def test_a_span_without_text_is_not_found() -> None:
    assert html().locate(item(0, 3)) is None


def test_a_question_is_left_out_when_none_of_its_gold_is_found() -> None:
    rows = [
        {"id": "1", "question": "?", "evidence": [item(0, 3)]},
        {"id": "2", "question": "?", "evidence": [item(0, 3), item(0, 15)]},
    ]
    found = list(located(rows, {"a.html": html()}.get))
    assert [(question.id, len(question.gold)) for question in found] == [("2", 1)]


def test_a_quote_is_found_on_its_page_by_its_words() -> None:
    view = page_view("the total of all sales was 12 in that year".split())
    place = view.locate({"page": 1, "quote": "Total of\nall SALES"})
    assert place is not None
    assert view.document.text[slice(*place)] == "total of all sales"


def test_a_stray_match_far_off_does_not_stretch_the_gold() -> None:
    filler = [f"w{number}" for number in range(60)]
    view = page_view([*"notes to the accounts".split(), *filler, *"sales grew by a third".split()])
    place = view.locate({"page": 1, "quote": "notes to the sales grew by a third"})
    assert place is not None
    assert view.document.text[slice(*place)] == "sales grew by a third"


def test_words_are_counted_as_letters_marks_and_single_cjk_characters() -> None:
    view = View(Document("a", "Ab-12, 東京 x"))
    assert [view.document.text[start] for start in view.starts] == list("A-1,東京x")
    assert view.words(0, 3) == range(2)
