"""A library in one SQLite file: rows, lexical index and vectors that change together.

Nothing outside this package knows SQL.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from merestone.types import GraphSettings

if TYPE_CHECKING:
    from merestone.storage.engine import SQLiteStore


def open_store(state_dir: str | Path, graph: GraphSettings | None = None) -> SQLiteStore:
    """The store in a state folder, with an approximate index of its vectors if ``graph`` says how.
    Nothing is read or made before it is used."""
    # Here, so that fault points can be used without loading a database.
    from merestone.storage.engine import SQLiteStore

    return SQLiteStore(state_dir, graph)
