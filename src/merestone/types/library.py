"""Values that a library takes in, keeps, and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from merestone.types.access import UNSAID, Allow
from merestone.types.chunk import Chunk
from merestone.types.document import JSON, Document, Status
from merestone.types.protocols import Vectors

_OUTSIDE = frozenset(
    {"document-gone", "file-unreadable", "source-changed", "source-failed", "source-unreachable"}
)
"""Codes of problems that lie outside of the document's bytes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a document could not be read, or not whole."""

    document: str
    status: Status
    code: str
    message: str
    remedy: str

    @property
    def is_lasting(self) -> bool:
        """True if the same bytes will give it again; the others may go better next time."""
        passing = (Status.TIMEOUT, Status.MEMORY, Status.CRASHED)
        return self.status not in passing and self.code not in _OUTSIDE

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "status": str(self.status),
            "code": self.code,
            "message": self.message,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What a library knows of a document besides its text and chunks."""

    id: str
    version: str = ""
    uri: str = ""
    source_hash: str = ""
    """Hash of the bytes that the stored version was read from."""
    pipeline: str = ""
    """Fingerprint of extraction, chunking and render."""
    mtime_ns: int = 0
    size: int = 0
    stamp: str = ""
    """What the source says changes with the document, such as an ETag; empty: nothing."""
    indexed_at: str = ""
    """UTC, ISO 8601. Says nothing about being current; hashes do."""
    title: str | None = None
    language: str | None = None
    media_type: str = ""
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    status: Status = Status.OK
    problem: Problem | None = None
    failed_hash: str = ""
    """``source_hash`` and pipeline of the last failed try, to tell a known failure from a new."""
    moved_from: str | None = None
    access: Allow = UNSAID
    """Who may read it, by the rules of the last sync."""

    def to_json(self) -> dict[str, JSON]:
        """What a list of documents says of it, for whoever may read it."""
        return {
            "document": self.id,
            "version": self.version,
            "title": self.title,
            "media_type": self.media_type,
            "status": str(self.status),
            "language": self.language,
            "uri": self.uri,
            "size": self.size,
            "indexed": self.indexed_at,
            "metadata": dict(self.metadata),
        }


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One chunk with what the indexes need of it."""

    chunk: Chunk
    input_hash: str
    """Hash of the embedder input."""
    terms: tuple[str, ...]
    """Terms of the embedder input by ``text.analysis``; may be left empty for a kept row."""
    vector: Vectors | None = None
    """float32, shape ``(dimension,)``, unit length; ``None`` only for a kept row."""


@dataclass(frozen=True, slots=True)
class Put:
    """Store a document whole: its record, text and exactly these chunks."""

    record: DocumentRecord
    document: Document
    rows: tuple[ChunkRow, ...]
    edits: tuple[SharedRun, ...] = ()
    """What the text that it replaces, that of ``moved_from`` included, has in common with it."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Store a record only; text and chunks stay as they are, but for who may read them."""

    record: DocumentRecord


@dataclass(frozen=True, slots=True)
class Delete:
    """Drop a document with everything that belongs to it."""

    id: str
    leave_out: bool = False
    """Remember the id, so that a sync of everything does not bring it back."""


Change = Put | Touch | Delete


class SharedRun(NamedTuple):
    """``old_text[old : old + length]`` equals ``new_text[new : new + length]``, in code points."""

    old: int
    new: int
    length: int


class Scored(NamedTuple):
    """A chunk by its number in the store, and a score; larger is better."""

    number: int
    score: float


class Phrase(str):
    """Terms parted by single spaces, to be found side by side, where terms are wanted."""

    __slots__ = ()


class TermCounts(NamedTuple):
    """How many chunks there are, and how many hold a term."""

    total: int
    holders: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One version that a document had."""

    document: str
    version: str
    """Empty: the document was removed, or moved away."""
    library_version: int
    time: str
    """UTC, ISO 8601."""
    added: tuple[str, ...]
    """Ids of the chunks that came, by position."""
    removed: tuple[RemovedChunk, ...]
    """Those that went, by position in the version before."""
    moved_from: str | None
    edits: tuple[SharedRun, ...] = ()
    """What the version before (that of ``moved_from`` where the document moved) and this one have
    in common, ascending in the old text. Without text: positions are enough to follow a passage."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "version": self.version,
            "library_version": self.library_version,
            "time": self.time,
            "added": list(self.added),
            "removed": [chunk.id for chunk in self.removed],
            "moved_from": self.moved_from,
        }


class RemovedChunk(NamedTuple):
    """A chunk that went, and where it stood in the version that it belonged to."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """What a run did."""

    time: str
    """UTC, ISO 8601."""
    event: str
    detail: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a sync did, or what a plan would do, to chunks."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    """Same id, other embedder input."""
    kept: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.added + other.added,
            self.removed + other.removed,
            self.changed + other.changed,
            self.kept + other.kept,
        )

    def to_json(self) -> dict[str, JSON]:
        return {
            "added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "kept": self.kept,
        }


NO_CHUNKS = Counts()

ChangeKind = Literal["added", "changed", "moved", "access", "removed", "failed"]
ChangeReason = Literal["text", "reading", "cutting", "embedder"]
"""Why a document is changed: its source is another; the same source is read otherwise, or cut
otherwise, by other settings or another version; another embedder makes its vectors."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What happened, or would happen, to one document."""

    document: str
    change: ChangeKind
    moved_from: str | None = None
    counts: Counts = NO_CHUNKS
    reason: ChangeReason | None = None
    """Of what is changed."""
    to_embed: int | None = None
    """Of a plan: texts that would be embedded for it; one that several documents have counts for
    the first of them."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "change": self.change,
            "reason": self.reason,
            "from": self.moved_from,
            "to_embed": self.to_embed,
            **self.counts.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the embedding of a plan would take."""

    seconds: float | None
    """By what past syncs of the library took for a token; ``None`` without a past."""
    price: float | None
    """``None`` if the embedder has no price."""

    def to_json(self) -> dict[str, JSON]:
        return {"seconds": self.seconds, "price": self.price}


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The answer of ``plan`` and ``sync``; in a plan it says what a sync would do."""

    documents: Mapping[str, int]
    """added, changed, moved, access, removed, unchanged, failed."""
    chunks: Counts
    embedded: int
    cached: int
    tokens: int
    library_version: int
    changes: tuple[DocumentChange, ...]
    problems: tuple[Problem, ...]
    retry: bool = False
    """True if a document failed that could be retried, or failed for the first time."""
    notes: tuple[str, ...] = ()
    """What else a person should know, such as why the old embedder goes on answering."""
    failed_before: int = 0
    """Documents that failed once and did not change since, so they are left alone. They are not
    among the unchanged."""
    estimate: Estimate | None = None
    """Of a plan."""
    refusal: Finding | None = None
    """Of a plan: why a sync would refuse it."""

    def to_json(self) -> dict[str, JSON]:
        planned: dict[str, JSON] = {}
        if self.estimate:
            refusal = self.refusal.to_json() if self.refusal else None
            planned = {"estimate": self.estimate.to_json(), "refusal": refusal}
        return {
            "documents": dict(self.documents),
            "chunks": self.chunks.to_json(),
            "embedded": self.embedded,
            "cached": self.cached,
            "tokens": self.tokens,
            "library_version": self.library_version,
            "changes": [change.to_json() for change in self.changes],
            "problems": [problem.to_json() for problem in self.problems],
            "notes": list(self.notes),
            "failed_before": self.failed_before,
            **planned,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that ``verify`` or ``doctor`` found wrong."""

    code: str
    document: str | None
    message: str
    remedy: str

    def to_json(self) -> dict[str, JSON]:
        return {
            "code": self.code,
            "document": self.document,
            "message": self.message,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Examination:
    """What was checked, and what was found."""

    checked: Mapping[str, JSON]
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, JSON]:
        return {
            "checked": dict(self.checked),
            "findings": [finding.to_json() for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """The answer of ``status``."""

    library_version: int
    schema: int
    documents: Mapping[str, int]
    chunks: int
    embedder: Mapping[str, JSON]
    bytes: Mapping[str, int]
    problems: tuple[Problem, ...]
    left_out: tuple[str, ...] = ()
    """Documents that were removed by hand and stay out until a sync names them."""
    outdated: int = 0
    """Documents that are served in an older version, since what their source has now can't be
    read."""
    unnamed: int = 0
    """Documents that only the owner reads because nothing says who else may; told to the owner."""
    notes: tuple[str, ...] = ()
    """What else a person should know, such as that the next sync builds everything anew."""

    def to_json(self) -> dict[str, JSON]:
        return {
            "library_version": self.library_version,
            "schema": self.schema,
            "documents": dict(self.documents),
            "chunks": self.chunks,
            "embedder": dict(self.embedder),
            "bytes": dict(self.bytes),
            "problems": [problem.to_json() for problem in self.problems],
            "left_out": list(self.left_out),
            "outdated": self.outdated,
            "unnamed": self.unnamed,
            "notes": list(self.notes),
        }
