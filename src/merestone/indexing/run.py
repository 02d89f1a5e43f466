"""What one plan or sync has found and done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from merestone.embedding.scripts import ScriptTally
from merestone.indexing.difference import Difference
from merestone.indexing.preparation import Failed, Prepared
from merestone.indexing.vectors import VectorSupply
from merestone.types import (
    Counts,
    DocumentChange,
    DocumentRecord,
    Problem,
    Progress,
    ProgressCallback,
    SyncReport,
)


@dataclass(slots=True)
class Run:
    """What one plan or sync has found and done so far."""

    difference: Difference
    supply: VectorSupply
    progress: ProgressCallback
    generation: int | None
    """The one that is brought up to date; ``None``: the one that answers."""
    is_making: bool
    removed: Sequence[tuple[DocumentRecord, int]]
    """Documents that are gone, with their chunks in number."""
    counts: Counts = field(default_factory=Counts)
    changes: list[DocumentChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reclassified: list[DocumentRecord] = field(default_factory=list)
    """Documents that stay as they are, but for who may read them."""
    scripts: ScriptTally = field(default_factory=ScriptTally)
    """Letters of the documents that were read."""
    failed: int = 0
    retry: bool = False
    done: int = 0
    """Documents that are through: stored, or in a plan, looked at."""
    chunks: int = 0

    def tell(self, stage: str, item: str = "") -> None:
        """Say how far it is."""
        total = len(self.difference.todo)
        tokens = self.supply.tally.tokens
        self.progress(Progress(stage, self.done, total, self.chunks, tokens, item))

    def note(self, item: Prepared | Failed) -> None:
        """Count a document as what became of it."""
        self.done += 1
        self.chunks += len(item.rows) if isinstance(item, Prepared) else 0
        if isinstance(item, Failed):
            self.failed += 1
            self.problems.append(item.problem)
            self.retry |= item.first_time or not item.problem.is_lasting
            self.changes.append(DocumentChange(item.todo.listed.id, "failed"))
            return
        self.scripts.add(item.document.text)
        if item.record.problem:
            self.problems.append(item.record.problem)
        origin = item.todo.moved_from.id if item.todo.moved_from else None
        self.counts += item.counts
        self.changes.append(DocumentChange(item.record.id, item.todo.change, origin, item.counts))

    def remove(self, record: DocumentRecord, chunks: int) -> None:
        """Count a document that is gone."""
        counts = Counts(removed=chunks)
        self.counts += counts
        if record.version:
            self.changes.append(DocumentChange(record.id, "removed", None, counts))

    def report(self, library_version: int) -> SyncReport:
        """The answer."""
        kinds = ("added", "changed", "moved", "access", "removed")
        documents = {
            kind: sum(1 for change in self.changes if change.change == kind) for kind in kinds
        }
        documents["unchanged"] = self.difference.unchanged - len(self.reclassified)
        documents["failed"] = self.failed
        about_scripts = self.scripts.note(self.supply.embedder)
        return SyncReport(
            documents=documents,
            chunks=self.counts,
            embedded=self.supply.tally.embedded,
            cached=self.supply.tally.cached,
            tokens=self.supply.tally.tokens,
            library_version=library_version,
            changes=tuple(self.changes),
            problems=tuple(self.problems),
            retry=self.retry,
            notes=(*self.notes, *([about_scripts] if about_scripts else [])),
        )
