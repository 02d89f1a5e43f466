from __future__ import annotations

from hypothesis import given
from text.building import Built, built

from merestone.text.builder import TextBuilder
from merestone.types import Segment, Span


def test_each_call_gives_the_span_of_what_it_appended() -> None:
    builder = TextBuilder()
    assert builder.copy("one", 4) == Span(0, 3)
    assert builder.insert("\n\n") == Span(3, 5)
    assert builder.replace("&", 7, 12) == Span(5, 6)
    assert builder.delete(12, 16) == Span(6, 6)
    assert builder.text() == "one\n\n&"
    assert len(builder) == 6
    assert builder.segments().items == (
        Segment(0, 3, 4, 7, "copy"),
        Segment(3, 5, 0, 0, "insert"),
        Segment(5, 6, 7, 12, "replace"),
        Segment(6, 6, 12, 16, "delete"),
    )


def test_copies_that_follow_in_the_source_are_one_segment() -> None:
    builder = TextBuilder()
    builder.copy("ab", 10, page=1)
    builder.copy("cd", 12, page=1)
    builder.copy("ef", 14, page=2)
    builder.copy("gh", 20, page=2)
    assert builder.segments().items == (
        Segment(0, 4, 10, 14, "copy", 1),
        Segment(4, 6, 14, 16, "copy", 2),
        Segment(6, 8, 20, 22, "copy", 2),
    )


def test_replacements_stay_apart_since_each_stands_for_its_own_source() -> None:
    builder = TextBuilder()
    builder.replace("<", 0, 4)
    builder.replace(">", 4, 8)
    assert len(builder.segments().items) == 2


def test_a_replacement_by_nothing_is_a_deletion() -> None:
    builder = TextBuilder()
    assert builder.replace("", 3, 5, page=2) == Span(0, 0)
    assert builder.segments().items == (Segment(0, 0, 3, 5, "delete", 2),)


def test_nothing_leaves_no_trace() -> None:
    builder = TextBuilder()
    builder.copy("", 3)
    builder.insert("")
    builder.delete(4, 4)
    builder.replace("", 4, 4)
    assert builder.text() == ""
    assert builder.segments().items == ()


@given(built())
def test_spans_stay_true_and_segments_tile_the_text(case: Built) -> None:
    assert case.text == "".join(case.pieces)
    assert [case.text[start:end] for start, end in case.spans] == case.pieces
    reached = 0
    for item in case.segments.items:
        assert item.start == reached
        reached = item.end
        assert (item.start == item.end) == (item.kind == "delete")
        assert (item.source_start == item.source_end) == (item.kind == "insert")
        if item.kind == "copy":
            assert item.end - item.start == item.source_end - item.source_start
    assert reached == len(case.text)
