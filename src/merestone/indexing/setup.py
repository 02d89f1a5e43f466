"""What plans and syncs of one library work with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from merestone.embedding.cache import EmbeddingCache
from merestone.indexing.pipeline import Pipeline, open_pipeline
from merestone.indexing.resting import Rest
from merestone.types import (
    OWNER,
    AccessPolicy,
    DocumentRecord,
    Embedder,
    LibrarySettings,
    Snapshot,
    Store,
)


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings of a library, and what they were made into."""

    settings: LibrarySettings
    store: Store
    embedder: Embedder
    cache: EmbeddingCache
    policy: AccessPolicy
    rest: Rest | None = None
    """Keeps files out that are still being written, in watch mode."""
    donor: Snapshot | None = None
    """A state of another library, whose documents are taken in the place of the sources'."""

    @property
    def max_bytes(self) -> int:
        """Of one document."""
        return self.settings.extraction.max_document_bytes

    def pipeline(self) -> AbstractContextManager[Pipeline]:
        """What reads and cuts documents."""
        return open_pipeline(self.settings, self.embedder)

    @contextmanager
    def everything(self, generation: int | None = None) -> Iterator[Snapshot | None]:
        """Everything of a generation, or of the one that answers; ``None`` without a library."""
        if not self.store.exists():
            yield None
            return
        with self.store.snapshot(OWNER, generation=generation) as snapshot:
            yield snapshot

    def library_version(self) -> int:
        """That of now; 0 without a library."""
        with self.everything() as snapshot:
            return snapshot.library_version if snapshot else 0

    def judged(self, record: DocumentRecord) -> DocumentRecord:
        """``record`` for those who may read the document by today's rules."""
        allow = self.policy.allow(record.id, record.metadata)
        return record if allow == record.access else replace(record, access=allow)
