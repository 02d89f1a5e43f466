"""Folders that tests share: before a sync, built, and what a fresh build of them holds."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from durability import documents
from durability.libraries import contents, given, open_library, some
from durability.processes import Forker


@dataclass(frozen=True)
class Built:
    """A library that was built, changes of its documents, and what is right afterwards."""

    unbuilt: Path
    """Documents without a library."""
    built: Path
    changed: Path
    """The library of ``built`` over changed documents."""
    words: list[str]
    after_build: dict[str, Any]
    after_change: dict[str, Any]
    embedded_by_change: frozenset[str]

    def right(self, root: Path) -> dict[str, Any]:
        """Contents that a library of the folder is to have; it is known by its documents."""
        is_changed = (root / "moved").exists()
        return self.after_change if is_changed else self.after_build


def build(forker: Forker, folder: Path) -> Built:
    """Make all of it in ``folder``."""
    unbuilt, built, changed, synced = (
        folder / name for name in ("unbuilt", "built", "changed", "synced")
    )
    unbuilt.mkdir()
    documents.make(unbuilt)
    shutil.copytree(unbuilt, built)
    assert forker.run("sync", root=str(built), log=str(folder / "built.log")) == 0
    shutil.copytree(built, changed)
    documents.change(changed)
    shutil.copytree(changed, synced)
    log = folder / "changed.log"
    assert forker.run("sync", root=str(synced), log=str(log)) == 0
    words = some(documents.words_of(changed))
    return Built(
        unbuilt,
        built,
        changed,
        words,
        _fresh(built, folder / "fresh-built", words),
        _fresh(changed, folder / "fresh-changed", words),
        frozenset(given(log)),
    )


def _fresh(origin: Path, root: Path, words: list[str]) -> dict[str, Any]:
    shutil.copytree(origin, root, ignore=shutil.ignore_patterns(".merestone"))
    with open_library(root) as library:
        library.sync()
        found = contents(library, words)
    assert found["faults"] == []
    return found
