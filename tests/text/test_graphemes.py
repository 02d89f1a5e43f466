from __future__ import annotations

import pytest
from apsw import unicode
from hypothesis import given
from hypothesis import strategies as st

from merestone.text import graphemes
from merestone.text.graphemes import grapheme_boundary_before, grapheme_ends

AWKWARD = [
    *"a \r\n👨👩❤🇩🇪가각कรரკก",
    "\u0301",  # accent
    "\u200d",  # joiner
    "\ufe0f",  # emoji presentation
    "\U0001f3fd",  # skin tone
    "\u1100",  # Hangul consonant, vowel, final consonant
    "\u1161",
    "\u11a8",
    "\u094d",  # virama
    "\u093f",  # vowel sign
    "\u0600",  # prepended mark
    "\u17d2",  # Khmer subscript sign
    "\uff9e",  # half width voicing mark, a letter that extends
    "\U000e0067",  # tag
    "\ud800",  # half a surrogate pair
]
texts = st.lists(st.sampled_from(AWKWARD), max_size=30).map("".join) | st.text(max_size=30)

CLUSTERS = [
    "a",
    "e\u0301\u0323",
    "\r\n",
    "👨\u200d👩\u200d👧\u200d👦",
    "👍\U0001f3fd",
    "🇩🇪",
    "❤\ufe0f\u200d🔥",
    "\u1112\u1161\u11ab",
    "한",
    "क्षि",
    "กำ",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_cluster_is_never_parted(cluster: str) -> None:
    text = "x" + cluster + "y" + cluster
    size = len(cluster)
    assert list(grapheme_ends(text)) == [1, size + 1, size + 2, 2 * size + 2]
    for inside in range(1, size + 1):
        assert grapheme_boundary_before(text, inside) == 1
    assert grapheme_boundary_before(text, size + 1) == size + 1


def test_flags_are_counted_from_their_first() -> None:
    text = "x" + "🇩🇪" * 300
    assert [grapheme_boundary_before(text, 1 + offset) for offset in range(4)] == [1, 1, 3, 3]
    assert grapheme_boundary_before(text, 600) == 599


def test_a_range_is_read_as_if_it_were_the_whole_text() -> None:
    text = "a🇩🇪🇫🇷b"
    assert list(grapheme_ends(text, 2, 5)) == [4, 5]
    assert list(grapheme_ends(text, 2, 2)) == []


def test_a_mark_before_a_line_end_does_not_join_it() -> None:
    assert list(grapheme_ends("\u0600\r\nx")) == [1, 3, 4]


@given(texts)
def test_ends_are_ascending_and_reach_the_end(text: str) -> None:
    ends = list(grapheme_ends(text))
    assert ends == sorted(set(ends))
    assert (ends[-1] if ends else 0) == len(text)


@given(texts, st.integers(-2, 40))
def test_boundary_before_is_the_last_end_up_to_the_offset(text: str, offset: int) -> None:
    bounds = [0, *grapheme_ends(text)]
    expected = max((bound for bound in bounds if bound <= offset), default=0)
    assert grapheme_boundary_before(text, offset) == expected


@pytest.mark.parametrize("filler", ["word ", "\u0301", "🇩🇪", "👨\u200d", "\u1100", "क\u094d"])
def test_looking_back_costs_the_same_in_a_long_text(
    filler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    class Counting:
        @staticmethod
        def grapheme_next_break(text: str, offset: int) -> int:
            seen.append(len(text))
            return unicode.grapheme_next_break(text, offset)

    monkeypatch.setattr(graphemes, "unicode", Counting)
    text = filler * (1_000_000 // len(filler))
    boundary = grapheme_boundary_before(text, 900_001)
    assert 900_001 - 1024 <= boundary <= 900_001
    assert len(seen) < 4000
    assert max(seen) < 2000


@pytest.mark.parametrize("filler", ["e\u0301", "ש\u05b8", "か\u3099", "👩\u200d👧x"])
def test_letters_with_marks_are_not_looked_back_over(
    filler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in decomposed text, where a mark stands before every letter."""
    seen: list[int] = []

    class Counting:
        @staticmethod
        def grapheme_next_break(text: str, offset: int) -> int:
            seen.append(len(text))
            return unicode.grapheme_next_break(text, offset)

    monkeypatch.setattr(graphemes, "unicode", Counting)
    assert grapheme_boundary_before(filler * 1000, 500 * len(filler)) == 500 * len(filler)
    assert len(seen) < 40
