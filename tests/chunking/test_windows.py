"""Plain windows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import merestone
from merestone import windows


@given(st.text(max_size=300), st.integers(1, 50), st.data())
def test_windows_touch_as_told_and_reach_the_end(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    found = windows(text, size, overlap)
    assert all(text[w["start"] : w["end"]] == w["text"] for w in found)
    assert all(0 < len(w["text"]) <= size for w in found)
    for before, after in pairwise(found):
        assert after["start"] == before["end"] - overlap
    assert (found[-1]["end"] if found else 0) == len(text)
    assert not found or found[0]["start"] == 0


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, 6), (5, -1), (2.5, 0)])
def test_sizes_that_cannot_be_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="invalid-window") as caught:
        windows("some text", size, overlap)
    assert isinstance(caught.value, merestone.SettingsError)
