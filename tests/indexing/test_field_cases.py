"""Situations of the field that concern synchronising, step by step: 01, 02 and 05.

Case 04 (paths of other systems) is in ``test_sources_folders.py``, 08 (versions) in
``text/test_anchoring.py``, 11 and 12 (permissions) in ``storage/test_selective_access.py`` and
``test_access.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from indexing.conftest import Folder, open_library

from merestone import Library
from merestone.embedding.hashing import HashingEmbedder
from merestone.indexing import Indexer
from merestone.indexing.vectors import CANARY
from merestone.types import EmbedderError, EmbeddingSettings, MerestoneError, SyncReport, Vectors


class Failing:
    """Embeds ``calls`` times and raises from then on; notes what it is given."""

    def __init__(self, calls: int) -> None:
        self._inner = HashingEmbedder(EmbeddingSettings())
        self._calls = calls
        self.texts: list[str] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self._calls -= 1
        if self._calls < 0:
            raise EmbedderError("refused", "The endpoint timed out.", "Try again.")
        self.texts += [text for text in texts if text != CANARY]
        return self._inner.embed_passages(texts)


def synced_with(library: Library, embedder: Failing, **options: bool) -> SyncReport:
    indexer = Indexer(
        library.settings,
        library._store,
        embedder,  # type: ignore[arg-type]
        library._cache,
        library._policy(),
    )
    return indexer.sync(**options)


def documents(library: Library) -> list[str]:
    with library.snapshot() as snapshot:
        return [record.id for record in snapshot.records() if record.version]


def test_a_partial_scope_does_not_prune(folder: Folder) -> None:
    folder.write("notes/a.md", "# Alpha\n\nThe alpha pump runs at 40 bar.\n")
    folder.write("notes/b.md", "# Beta\n\nThe beta pump runs at 55 bar.\n")
    library, question = folder.library, "beta pump pressure bar"
    a, b = folder.path / "notes/a.md", folder.path / "notes/b.md"
    library.sync()
    folder.write("notes/a.md", "# Alpha\n\nThe alpha pump runs at 41 bar.\n")
    third = library.sync([a])
    assert documents(library) == ["notes/a.md", "notes/b.md"]
    assert third.documents["removed"] == 0
    assert [change.document for change in third.changes] == ["notes/a.md"]
    found = {hit.chunk.document for hit in library.search(question, k=3).hits}
    assert "notes/b.md" in found
    b.unlink()
    sixth = library.sync([a])
    assert (sixth.embedded, sixth.documents["removed"]) == (0, 0)
    seventh = library.sync()
    assert (seventh.embedded, seventh.documents["removed"]) == (0, 1)
    assert documents(library) == ["notes/a.md"]
    assert "notes/b.md" not in {hit.chunk.document for hit in library.search(question, k=3).hits}
    before = folder.contents()
    with pytest.raises(MerestoneError, match="nope"):
        library.sync([folder.path / "notes/nope.md"])
    assert folder.contents() == before


def test_a_failed_update_keeps_the_old_version(folder: Folder) -> None:
    folder.write("policy.md", "# Refunds\n\nThe refund window is 14 days.\n")
    folder.write("other.md", "# Other\n\nOffice hours are nine to five.\n")
    library, question = folder.library, "refund window days"
    library.sync()
    other = folder.contents()["other.md"]
    folder.write("policy.md", "# Refunds\n\nThe refund window is 30 days.\n")
    third = synced_with(library, Failing(0))
    assert third.retry
    assert [problem.document for problem in third.problems] == ["policy.md"]
    assert folder.contents()["other.md"] == other
    assert "14 days" in library.search(question, k=3).hits[0].chunk.text
    library.sync()
    texts = [hit.chunk.text for hit in library.search(question, k=5).hits]
    assert sum("30 days" in text for text in texts) == 1
    assert not any("14 days" in text for text in texts)
    # Back to a text that the cache would have; the documents are many, the second batch fails.
    library.close()
    folder.library = library = open_library(
        folder.path, embedding={"model": "hashing", "cache_bytes": 0}
    )
    folder.write("policy.md", "# Refunds\n\nThe refund window is 14 days.\n")
    for number in range(20):
        folder.write(f"filler/{number}.md", f"# Filler {number}\n\nNothing of note {number}.\n")
    eighth = synced_with(library, Failing(1))
    assert eighth.retry
    library.sync()
    texts = [hit.chunk.text for hit in library.search(question, k=50).hits]
    assert sum("14 days" in text for text in texts) == 1
    assert not any("30 days" in text for text in texts)
    assert library.verify(every_vector=True).findings == ()


GUIDE = "# Guide\n\n" + "\n\n".join(
    f"Paragraph {n} explains step {n} of the start-up procedure in one plain sentence."
    for n in range(1, 13)
)


def test_a_change_of_settings_reaches_files_that_did_not_change(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE + "\n", "utf-8")

    def opened(max_tokens: int, candidates: int = 100) -> Library:
        return open_library(
            tmp_path,
            chunking={"max_tokens": max_tokens},
            retrieval={"candidates": candidates},
        )

    with opened(60) as library:
        library.sync()
        with library.snapshot() as snapshot:
            first = {chunk.config for chunk in snapshot.chunks_of("guide.md")}
    with opened(30) as library:
        assert [change.change for change in library.plan().changes] == ["changed"]
        assert [finding.code for finding in library.verify().findings] == ["not-synced"]
        library.sync()
        with library.snapshot() as snapshot:
            chunks = snapshot.chunks_of("guide.md")
        assert {chunk.config for chunk in chunks}.isdisjoint(first)
        assert max(chunk.tokens for chunk in chunks) <= 30
    with opened(30, candidates=40) as library:
        report = library.sync()
        assert (report.changes, report.embedded) == ((), 0)
    with opened(60) as library:
        report = library.sync()
        assert (report.documents["changed"], report.embedded) == (1, 0)
