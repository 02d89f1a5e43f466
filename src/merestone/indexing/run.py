"""What one plan or sync has found and done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from merestone.embedding.scripts import ScriptTally
from merestone.indexing.closing import AccessTally
from merestone.indexing.difference import Difference
from merestone.indexing.preparation import Failed, Prepared
from merestone.indexing.vectors import VectorSupply
from merestone.indexing.workload import Workload
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
    outside: list[Problem] = field(default_factory=list)
    """Those of looking at the sources, which no document's record keeps."""
    notes: list[str] = field(default_factory=list)
    reclassified: list[DocumentRecord] = field(default_factory=list)
    """Documents that stay as they are, but for who may read them."""
    access: AccessTally = field(default_factory=AccessTally)
    scripts: ScriptTally = field(default_factory=ScriptTally)
    """Letters of the documents that were read."""
    failed: int = 0
    retry: bool = False
    done: int = 0
    """Documents that are through: stored, or in a plan, looked at."""
    chunks: int = 0
    work: Workload = field(init=False)

    def __post_init__(self) -> None:
        donor = self.supply.donor
        stored = {record.id: record.size for record in donor.records()} if donor else {}
        listed = [each.listed for each in self.difference.todo]
        self.work = Workload((each.id, each.size or stored.get(each.id, 0)) for each in listed)

    def tell(self, stage: str, item: str = "") -> None:
        """Say how far it is."""
        total = len(self.difference.todo)
        tokens = self.supply.tally.tokens
        share = self.work.share(tokens)
        self.progress(Progress(stage, self.done, total, self.chunks, tokens, item, share))

    def prepared(self, item: Prepared | Failed) -> None:
        """A document was read and cut."""
        id = item.todo.listed.id
        new = item.new if isinstance(item, Prepared) else ()
        rows = item.rows if isinstance(item, Prepared) else ()
        self.work.cut(id, sum(row.chunk.tokens for row in rows if row.chunk.id in new))
        self.tell("read", id)

    def note(self, item: Prepared | Failed, to_embed: int | None = None) -> None:
        """Count a document as what became of it; of a plan, with the texts that it would embed."""
        self.done += 1
        self.work.stored(item.todo.listed.id, self.supply.tally.tokens)
        self.chunks += len(item.rows) if isinstance(item, Prepared) else 0
        self.access.judge(item.record)
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
        self.changes.append(
            DocumentChange(
                item.record.id, item.todo.change, origin, item.counts, item.reason, to_embed
            )
        )

    def remove(self, record: DocumentRecord, chunks: int) -> None:
        """Count a document that is gone."""
        counts = Counts(removed=chunks)
        self.counts += counts
        self.changes.append(DocumentChange(record.id, "removed", None, counts))

    def report(self, library_version: int) -> SyncReport:
        """The answer."""
        kinds = ("added", "changed", "moved", "access", "removed")
        documents = {
            kind: sum(1 for change in self.changes if change.change == kind) for kind in kinds
        }
        reclassified = {record.id for record in self.reclassified}
        failed_before = self.difference.failed_before
        documents["unchanged"] = self.difference.unchanged - len(reclassified - failed_before)
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
            failed_before=len(failed_before - reclassified),
        )
