"""Values that a library takes in, keeps, and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from merestone.types.chunk import Chunk
from merestone.types.document import JSON, Document, Status
from merestone.types.protocols import Vectors


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
        return self.status not in passing and self.code != "file-unreadable"

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


@dataclass(frozen=True, slots=True)
class Touch:
    """Store a record only; text and chunks stay as they are."""

    record: DocumentRecord


@dataclass(frozen=True, slots=True)
class Delete:
    """Drop a document with everything that belongs to it."""

    id: str
    leave_out: bool = False
    """Remember the id, so that a sync of everything does not bring it back."""


Change = Put | Touch | Delete


class Scored(NamedTuple):
    """A chunk by its number in the store, and a score; larger is better."""

    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """``field operator value`` of a filter. ``value`` is a list for ``in``."""

    field: str
    operator: Literal["=", "!=", "<", "<=", ">", ">=", "in", "like"]
    value: JSON


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The part does not hold."""

    part: Filter


Filter = Comparison | AllOf | AnyOf | NoneOf


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One version that a document had."""

    document: str
    version: str
    library_version: int
    time: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved_from: str | None


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


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What happened, or would happen, to one document."""

    document: str
    change: ChangeKind
    moved_from: str | None = None
    counts: Counts = NO_CHUNKS

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "change": self.change,
            "from": self.moved_from,
            **self.counts.to_json(),
        }


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

    def to_json(self) -> dict[str, JSON]:
        return {
            "documents": dict(self.documents),
            "chunks": self.chunks.to_json(),
            "embedded": self.embedded,
            "cached": self.cached,
            "tokens": self.tokens,
            "library_version": self.library_version,
            "changes": [change.to_json() for change in self.changes],
            "problems": [problem.to_json() for problem in self.problems],
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
        }
