"""How much of a run is done, by tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.indexing.workload import Workload


def test_what_is_to_come_is_judged_by_what_was_read_of_its_kind() -> None:
    work = Workload([("a.md", 4_000), ("b.md", 4_000), ("c.pdf", 1_000_000), ("d.pdf", 1_000_000)])
    work.cut("a.md", 1_000)
    work.cut("c.pdf", 1_000)
    assert work.share(0) == 0
    assert work.share(1_000) == pytest.approx(0.25, abs=0.01)
    work.stored("a.md", 2_000)
    work.stored("c.pdf", 2_000)
    # A page of a PDF has many bytes and few words: its size says nothing beside a text's.
    assert work.share(2_000) == pytest.approx(0.5, abs=0.01)


@given(
    st.lists(st.tuples(st.sampled_from(["md", "pdf"]), st.integers(0, 9**9), st.integers(0, 999)))
)
def test_a_share_is_a_share_and_ends_at_one(documents: list[tuple[str, int, int]]) -> None:
    names = [f"{number}.{kind}" for number, (kind, _, _) in enumerate(documents)]
    work = Workload((name, size) for name, (_, size, _) in zip(names, documents, strict=True))
    embedded = 0
    for name, (_, _, tokens) in zip(names, documents, strict=True):
        work.cut(name, tokens)
        embedded += tokens
        assert 0 <= work.share(embedded) <= 1
        work.stored(name, embedded)
        assert 0 <= work.share(embedded) <= 1
    assert work.share(embedded) == pytest.approx(1)
