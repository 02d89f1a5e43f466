"""Blocks that do not fit their text are told of."""

from __future__ import annotations

import pytest

import merestone
from merestone.text.block_tree import fault_in_blocks
from merestone.types import Block, Document, SettingsError

TEXT = "one two three"


@pytest.mark.parametrize(
    ("blocks", "fault"),
    [
        ([Block("paragraph", 0, 3), Block("paragraph", 4, 13)], None),
        ([Block("quote", 0, 13), Block("paragraph", 4, 7, parent=0)], None),
        ([Block("heading", 0, 3, attributes={"content": [0, 3]})], None),
        ([Block("paragraph", 0, 14)], "no range of the text"),
        ([Block("paragraph", -1, 3)], "no range of the text"),
        ([Block("paragraph", 3, 3)], "no range of the text"),
        ([Block("paragraph", 4, 7), Block("paragraph", 0, 3)], "begins before"),
        ([Block("paragraph", 0, 7), Block("paragraph", 4, 13)], "begins before"),
        ([Block("quote", 0, 3), Block("paragraph", 4, 7, parent=0)], "its parent"),
        ([Block("paragraph", 0, 3, parent=0)], "its parent"),
        ([Block("paragraph", 0, 3, parent=7)], "its parent"),
        ([Block("heading", 0, 3, attributes={"content": [0, 99]})], "content = "),
        ([Block("heading", 0, 3, attributes={"content": "one"})], "content = "),
    ],
)
def test_a_fault_names_the_block(blocks: list[Block], fault: str | None) -> None:
    found = fault_in_blocks(Document("a", TEXT, tuple(blocks)))
    assert found is None if fault is None else found is not None and fault in found


def test_a_document_with_such_blocks_is_not_cut() -> None:
    with pytest.raises(SettingsError, match="no range of the text"):
        merestone.chunk(Document("a", TEXT, (Block("paragraph", 0, 99),)))


@pytest.mark.parametrize("chunks", [5, ["abc"], [None], [{"start": 1}], [(0,)], [("a", "b")]])
def test_what_is_no_chunk_is_not_examined(chunks: object) -> None:
    with pytest.raises(SettingsError, match="is not a range"):
        merestone.examine_cutting(TEXT, chunks)  # type: ignore[arg-type]


@pytest.mark.parametrize("chunks", [5, "abc", [(0, 3)]])
def test_what_is_no_chunk_is_not_compared(chunks: object) -> None:
    with pytest.raises(SettingsError, match="is not a list of chunks"):
        merestone.changes_between(TEXT, TEXT, old_chunks=chunks)  # type: ignore[arg-type]
