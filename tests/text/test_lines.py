from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.text.lines import line_of, line_starts

texts = st.text(st.sampled_from("ab\n\r\x0b\x0c\x85\u2028 "), max_size=30)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", (0,)),
        ("one", (0,)),
        ("one\n", (0,)),
        ("\n", (0,)),
        ("\n\n", (0, 1)),
        ("one\ntwo", (0, 4)),
        ("a\r\nb\rc\nd", (0, 3, 5, 7)),
        ("a\n\rb", (0, 2, 3)),
        ("a\x0bb\x0cc\x85d\u2028e", (0,)),
    ],
)
def test_lines_are_those_of_an_editor(text: str, starts: tuple[int, ...]) -> None:
    assert line_starts(text) == starts


@given(texts)
def test_every_line_but_the_last_is_ended_once(text: str) -> None:
    starts = line_starts(text)
    lines = [text[first:last] for first, last in zip(starts, [*starts[1:], len(text)], strict=True)]
    assert "".join(lines) == text
    for line in lines:
        assert not set("\r\n") & set(line.removesuffix("\n").removesuffix("\r"))
    assert all(line.endswith(("\n", "\r")) for line in lines[:-1])


@given(texts, st.data())
def test_line_of_counts_the_line_ends_before_an_offset(text: str, data: st.DataObject) -> None:
    starts = line_starts(text)
    offset = data.draw(st.integers(0, max(0, len(text) - 1)))
    number = line_of(starts, offset)
    assert starts[number - 1] <= offset
    assert number == len(starts) or offset < starts[number]
