"""A run of writing that a crash test ends at some point; ``python -m storage.crash_scenario``."""

from __future__ import annotations

import sys

from storage.building import put, writing

from merestone.storage.engine import SQLiteStore
from merestone.types import Delete, DocumentRecord, Touch


def run(store: SQLiteStore) -> None:
    """Several batches of every kind of change, then upkeep that merges their segments."""
    with writing(store) as writer:
        for number in range(5):
            writer.apply([put(f"{number}.md", [f"passage {number} {n}" for n in range(3)])])
        writer.apply(
            [
                put("0.md", ["passage 0 0", "a new one", "passage 0 2"]),
                put("1.md", ["passage 1 0"], heading="Reworded"),
                Delete("2.md"),
                Delete("3.md", leave_out=True),
                put("moved.md", ["passage 2 1"], moved_from="2.md"),
                Touch(DocumentRecord("broken.pdf", size=4)),
            ]
        )
        writer.maintain()


if __name__ == "__main__":
    run(SQLiteStore(sys.argv[1]))
