"""Where the graphs of vectors are kept, in files beside the library."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_NAME = "hnsw-{}.cache"


def graph_path(state: Path, generation: int) -> Path:
    """That of a generation."""
    return state / _NAME.format(generation)


def draft_of(path: Path) -> Path:
    """Where a graph is written before it takes its place."""
    return path.with_name(path.name + ".new")


def graph_files(state: Path) -> list[Path]:
    """Every graph that is there, those that were begun included."""
    return sorted(state.glob(_NAME.format("*") + "*"))


def discard_graphs(state: Path, but: Path | None = None) -> None:
    """Delete all graphs but one. Losing one costs time only."""
    for path in graph_files(state):
        if path != but:
            with suppress(OSError):
                path.unlink(missing_ok=True)
