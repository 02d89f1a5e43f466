from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.text.lines import line_of, line_starts

texts = st.text("ab\n\r\x0b\x0c\x85\u2028", max_size=30)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", (0,)),
        ("one", (0,)),
        ("one\n", (0,)),
        ("one\ntwo", (0, 4)),
        ("one\r\ntwo\rthree\n", (0, 5, 9)),
        ("\n\n", (0, 1)),
        ("a\x0cb\x0bc\x85d\u2028e", (0,)),
    ],
)
def test_lines_begin_behind_lf_crlf_and_cr_alone(text: str, starts: tuple[int, ...]) -> None:
    assert line_starts(text) == starts


@given(texts)
def test_lines_tile_the_text_and_each_has_one_end(text: str) -> None:
    bounds = [*line_starts(text), len(text)]
    lines = [text[start:end] for start, end in pairwise(bounds)]
    assert "".join(lines) == text
    assert all(re.fullmatch(r"[^\r\n]*(\r\n|\r|\n)", line) for line in lines[:-1])
    assert re.fullmatch(r"[^\r\n]*(\r\n|\r|\n)?", lines[-1])


@given(texts.filter(bool), st.data())
def test_the_line_of_an_offset_holds_it(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text) - 1))
    starts = line_starts(text)
    number = line_of(starts, offset)
    assert starts[number - 1] <= offset < [*starts, len(text)][number]
