"""Chunks as values."""

from __future__ import annotations

from dataclasses import replace

from merestone.types import Chunk

CHUNK = Chunk(
    id="c1",
    document="a.md",
    version="v1",
    ordinal=0,
    total=1,
    start=0,
    end=5,
    text="Words",
    tokens=3,
    kind="paragraph",
    attributes={"symbol": "f"},
    metadata={"tags": ["x"]},
)


def test_chunks_can_be_in_a_set_where_equal_ones_are_one() -> None:
    same = replace(CHUNK, metadata={"tags": ["x"]})
    elsewhere = replace(CHUNK, start=10, end=15)
    other = replace(CHUNK, id="c2")
    assert {CHUNK, same, elsewhere, other} == {CHUNK, elsewhere, other}
    assert len({CHUNK, same, elsewhere, other}) == 3
    assert hash(CHUNK) == hash(elsewhere)
