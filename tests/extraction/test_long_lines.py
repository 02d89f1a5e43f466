"""Long lines cost time linear in their length. What takes the square of it does not end here."""

from __future__ import annotations

import pytest
from extraction.checks import check, read

NAMES = (
    "a.txt a.md a.mdx a.rst a.html a.csv a.tsv a.jsonl a.json a.yaml a.vtt a.srt a.py a.vue a.log"
).split()
FILLERS = (" ", "\t", "x", "x ", "\x0b", "\u00a0")


@pytest.mark.parametrize("filler", FILLERS, ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_a_long_line_is_read_in_linear_time(name: str, filler: str) -> None:
    check(read("Ann: one\n\nBob: two\n" + filler * 200_000, name))
