from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from merestone.text.builder import TextBuilder
from merestone.types import Segment, SourceSpan, Span

SOURCE = "The quick brown fox jumps over the lazy dog"

steps = st.lists(
    st.tuples(
        st.sampled_from(["copy", "replace", "insert", "delete"]),
        st.integers(0, 20),
        st.integers(0, 20),
        st.text("xyz", max_size=3),
        st.sampled_from([None, 1, 2]),
    ),
    max_size=20,
)


def test_pieces_of_each_kind_find_their_way_back() -> None:
    builder = TextBuilder()
    assert builder.copy("Fish", 3) == Span(0, 4)
    assert builder.replace(" & ", 7, 14) == Span(4, 7)
    assert builder.delete(14, 20) == Span(7, 7)
    assert builder.copy("chips", 20) == Span(7, 12)
    assert builder.insert("\n\n") == Span(12, 14)
    assert len(builder) == 14
    assert builder.text() == "Fish & chips\n\n"
    segments = builder.segments()
    assert [item.kind for item in segments.items] == ["copy", "replace", "delete", "copy", "insert"]
    assert segments.to_source((7, 12)) == (SourceSpan(20, 25),)
    assert segments.to_source((0, 14)) == (SourceSpan(3, 25),)
    assert segments.to_source((12, 14)) == ()


def test_copies_that_follow_in_the_source_are_one_segment() -> None:
    builder = TextBuilder()
    builder.copy("ab", 0)
    builder.copy("cd", 2)
    builder.copy("ef", 7)
    builder.copy("gh", 9, page=2)
    builder.insert("-")
    builder.insert("-")
    assert builder.segments().items == (
        Segment(0, 4, 0, 4, "copy"),
        Segment(4, 6, 7, 9, "copy"),
        Segment(6, 8, 9, 11, "copy", 2),
        Segment(8, 10, 0, 0, "insert"),
    )


def test_what_adds_nothing_leaves_no_trace() -> None:
    builder = TextBuilder()
    builder.copy("", 5)
    builder.insert("")
    builder.delete(3, 3)
    builder.replace("", 3, 3)
    assert builder.segments().items == ()


def test_a_replacement_by_nothing_is_a_deletion() -> None:
    builder = TextBuilder()
    builder.replace("", 3, 6, page=1)
    assert builder.segments().items == (Segment(0, 0, 3, 6, "delete", 1),)


@given(steps)
def test_segments_tile_the_text_and_spans_stay_true(
    steps: list[tuple[str, int, int, str, int | None]],
) -> None:
    builder = TextBuilder()
    written: list[tuple[Span, str]] = []
    for kind, start, length, text, page in steps:
        end = min(len(SOURCE), start + length)
        if kind == "copy":
            text = SOURCE[start:end]
            span = builder.copy(text, start, page)
        elif kind == "replace":
            span = builder.replace(text, start, end, page)
        elif kind == "insert":
            span = builder.insert(text)
        else:
            text = ""
            span = builder.delete(start, end, page)
        written.append((span, text))
    whole = builder.text()
    items = builder.segments().items
    assert len(builder) == len(whole)
    assert all(whole[span.start : span.end] == text for span, text in written)
    bounds = [0, *(item.end for item in items)]
    assert [item.start for item in items] == bounds[:-1]
    assert bounds[-1] == len(whole)
    for item in items:
        if item.kind == "copy":
            assert whole[item.start : item.end] == SOURCE[item.source_start : item.source_end]
