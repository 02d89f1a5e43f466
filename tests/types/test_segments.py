from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.building import Built, Position, built

from merestone.types import Segment, Segments, SourceSpan, Span, StoredSegments

offsets = st.integers(0, 24)


def positions(ranges: tuple[SourceSpan, ...]) -> set[Position]:
    return {(page, position) for start, end, page in ranges for position in range(start, end)}


def test_an_identity_maps_each_range_to_itself() -> None:
    segments = Segments.identity(10)
    assert segments.is_identity
    assert segments.to_source((3, 7)) == (SourceSpan(3, 7),)
    assert segments.from_source((3, 7)) == (Span(3, 7),)
    assert Segments.identity(0).items == ()


def test_a_byte_order_mark_moves_the_source_by_one() -> None:
    segments = Segments.identity(10, 1)
    assert segments.to_source((0, 4)) == (SourceSpan(1, 5),)
    assert segments.from_source((0, 3)) == (Span(0, 2),)


@pytest.mark.parametrize(
    "items",
    [
        [Segment(0, 4, 0, 4, "copy", 1)],
        [Segment(0, 1, 0, 5, "replace")],
        [Segment(0, 2, 0, 2, "copy"), Segment(2, 4, 3, 5, "copy")],
    ],
)
def test_a_text_with_pages_or_changes_is_no_identity(items: list[Segment]) -> None:
    assert not Segments(tuple(items)).is_identity


def test_a_paragraph_over_two_pages_has_a_range_on_each() -> None:
    segments = Segments(
        (
            Segment(0, 10, 5, 15, "copy", 1),
            Segment(10, 11, 0, 0, "insert"),
            Segment(11, 20, 30, 39, "copy", 2),
        )
    )
    assert segments.to_source((4, 13)) == (SourceSpan(9, 15, 1), SourceSpan(30, 32, 2))
    assert segments.to_source((10, 11)) == ()
    assert segments.from_source(SourceSpan(0, 40, 2)) == (Span(11, 20),)
    assert segments.from_source((0, 40)) == ()


def test_ranges_parted_by_what_was_deleted_come_as_one() -> None:
    # one <b>two</b> three
    segments = Segments(
        (
            Segment(0, 4, 0, 4, "copy"),
            Segment(4, 4, 4, 7, "delete"),
            Segment(4, 7, 7, 10, "copy"),
            Segment(7, 7, 10, 14, "delete"),
            Segment(7, 13, 14, 20, "copy"),
        )
    )
    assert segments.to_source((2, 9)) == (SourceSpan(2, 16),)
    assert segments.from_source((5, 12)) == (Span(4, 7),)
    assert segments.from_source((4, 7)) == ()


def test_ranges_parted_by_a_note_that_stands_elsewhere_in_the_text_stay_two() -> None:
    segments = Segments(
        (
            Segment(0, 4, 0, 4, "copy"),
            Segment(4, 8, 9, 13, "copy"),
            Segment(8, 13, 4, 9, "copy"),
        )
    )
    assert segments.to_source((0, 8)) == (SourceSpan(0, 4), SourceSpan(9, 13))


def test_a_part_of_a_replacement_stands_for_all_of_its_source() -> None:
    segments = Segments((Segment(0, 2, 0, 1, "replace"), Segment(2, 3, 1, 6, "replace")))
    assert segments.to_source((1, 2)) == (SourceSpan(0, 1),)
    assert segments.from_source((3, 4)) == (Span(2, 3),)


def test_a_range_over_pieces_in_reverse_order_holds_no_other_text() -> None:
    # The source "head|body" is written as "bodyhead".
    segments = Segments((Segment(0, 4, 4, 8, "copy"), Segment(4, 8, 0, 4, "copy")))
    assert segments.from_source((2, 6)) == (Span(0, 2), Span(6, 8))
    assert segments.from_source((0, 8)) == (Span(0, 8),)


@given(built(), offsets, offsets)
def test_a_span_comes_from_its_characters_sources_and_from_no_other_text(
    case: Built, start: int, end: int
) -> None:
    start, end = min(start, end), max(start, end)
    ranges = case.segments.to_source((start, end))
    if start == end:
        return
    expected = set().union(*case.sources[start:end])
    everywhere = set().union(*case.sources)
    assert positions(ranges) & everywhere == expected
    assert all(first < last for first, last, _ in ranges)
    for before, after in pairwise(ranges):
        assert before[1:] != (after.start, after.page)


@given(built(), offsets, offsets)
def test_pieces_and_ranges_stand_for_the_same_source(made: Built, start: int, end: int) -> None:
    """But for source without text between two pieces, which a range may take in."""
    pieces = tuple(made.segments.source_pieces((start, end)))
    ranges = made.segments.to_source((start, end))
    assert positions(pieces) <= positions(ranges)
    assert {piece.page for piece in pieces} == {found.page for found in ranges}
    assert min((p.start for p in pieces), default=0) == min((r.start for r in ranges), default=0)
    assert max((p.end for p in pieces), default=0) == max((r.end for r in ranges), default=0)


@given(built(), offsets, offsets, st.sampled_from([None, 1, 2, 3]))
def test_a_source_range_gives_all_its_text_and_none_of_other_source(
    case: Built, start: int, end: int, page: int | None
) -> None:
    start, end = min(start, end), max(start, end)
    spans = case.segments.from_source(SourceSpan(start, end, page))
    if start == end:
        return
    asked = {(page, position) for position in range(start, end)}
    found = {index for span in spans for index in range(*span)}
    touched = {index for index, source in enumerate(case.sources) if source & asked}
    assert touched <= found
    assert all(not case.sources[index] for index in found - touched)
    assert all(first < last for first, last in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


@given(built(), offsets)
def test_there_and_back_reaches_the_same_character(case: Built, offset: int) -> None:
    ranges = case.segments.to_source((offset, offset + 1))
    spans = [span for part in ranges for span in case.segments.from_source(part)]
    back = {index for span in spans for index in range(*span)}
    assert (offset in back) == (offset < len(case.text) and bool(case.sources[offset]))


def test_stored_segments_are_the_segments_that_were_stored() -> None:
    items = (
        Segment(0, 3, 5, 8, "copy"),
        Segment(3, 4, 8, 8, "insert"),
        Segment(4, 6, 9, 12, "copy"),
    )
    stored = StoredSegments([list(item) for item in items])
    assert stored == items == tuple(stored)
    assert stored != items[:2]
    assert (stored[1], stored[-1], stored[:2], len(stored)) == (items[1], items[2], items[:2], 3)
    assert Segments(stored) == Segments(items)
    assert hash(stored) == hash(items)
    for span in ((0, 6), (2, 5), (3, 4)):
        assert Segments(stored).to_source(span) == Segments(items).to_source(span)
    assert pickle.loads(pickle.dumps(stored)) == items
    with pytest.raises(ValueError, match="fields"):
        StoredSegments([[0, 1]])
