from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.embedding.overlong import check_settings, input_too_long, windows
from merestone.types import EmbeddingSettings, SettingsError


@given(length=st.integers(0, 400), size=st.integers(1, 60))
def test_windows_cover_all_tokens_and_are_full(length: int, size: int) -> None:
    places = windows(length, size)
    assert places[0][0] == 0
    assert places[-1][1] == length
    for start, end in places:
        assert end - start == min(size, length)
    for (start, end), (following, _) in pairwise(places):
        assert start < following <= end
        assert following <= start + max(1, size // 2)


def test_windows_are_half_over_the_one_before_but_the_last() -> None:
    assert windows(25, 10) == [(0, 10), (5, 15), (10, 20), (15, 25)]
    assert windows(23, 10) == [(0, 10), (5, 15), (10, 20), (13, 23)]
    assert windows(10, 10) == [(0, 10)]


def test_error_names_tokens_limit_and_the_beginning() -> None:
    error = input_too_long("ab" * 100, 300, 256)
    assert error.code == "input-too-long"
    assert "300" in error.message
    assert "256" in error.message
    assert "'" + "ab" * 30 + "…'" in error.message


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (EmbeddingSettings(on_overlong="cut"), "bad-on-overlong"),
        (EmbeddingSettings(batch_tokens=0), "bad-embedding-size"),
        (EmbeddingSettings(threads=-1), "bad-embedding-size"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: EmbeddingSettings, code: str) -> None:
    with pytest.raises(SettingsError) as caught:
        check_settings(settings)
    assert caught.value.code == code
