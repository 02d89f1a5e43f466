"""How many chunks hold a term, as far as who asks may know."""

from __future__ import annotations

from pathlib import Path

from merestone import Library
from merestone.types import TermCounts

RULES = """
[access]
groups = {hr = ["user:bob"]}

[[access.rules]]
allow = ["public"]

[[access.rules]]
paths = ["hr/**"]
allow = ["group:hr"]
"""


def test_chunks_that_hold_a_term_are_counted_among_those_that_the_reader_may_see(
    tmp_path: Path,
) -> None:
    (tmp_path / "hr").mkdir()
    (tmp_path / "open.txt").write_text("The pump runs.\n")
    (tmp_path / "other.txt").write_text("The valve opens.\n")
    (tmp_path / "hr" / "secret.txt").write_text("The merger of the pump works.\n")
    (tmp_path / "merestone.toml").write_text(RULES)
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        library.sync()
        asked = ["pump", "merger", "nowher"]
        with library.snapshot() as snapshot:
            public = snapshot.term_counts(asked)
        with library.snapshot(principals=["user:bob"]) as snapshot:
            bob = snapshot.term_counts(asked)
        with library.snapshot(as_owner=True) as snapshot:
            owner = snapshot.term_counts(asked)
    assert public == TermCounts(2, {"pump": 1, "merger": 0, "nowher": 0})
    assert bob.total == 3
    assert bob.holders["merger"] == 1
    assert owner.holders == bob.holders
