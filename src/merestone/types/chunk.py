"""A chunk: one span of a document, and the spans a reader needs to understand it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, overload

from merestone.types.document import JSON, Box

ContextRole = Literal["title", "heading", "table_header", "signature", "lead_in", "caption"]


class ContextSpan(NamedTuple):
    """A span outside a chunk that explains it. Only a ``title`` may have no place in the text."""

    role: ContextRole
    start: int | None
    end: int | None
    text: str


class Edge(NamedTuple):
    """Why a chunk begins or ends where it does.

    ``strength`` runs from 0 (inside a grapheme) to 1 (the document's own end).
    """

    reason: str
    strength: float


DOCUMENT_EDGE = Edge("document", 1.0)


UnitKind = Literal["sentence", "heading", "table_row", "list_item", "line"]


class Unit(NamedTuple):
    """The smallest piece of text that can answer alone. Units tile their chunk.

    ``around``, ``around_start`` and ``around_end`` name the innermost structure that a hit on the
    unit may be widened to: a ``section``, a ``definition``, an ``entry``, a ``table``, or ``""``.
    """

    start: int
    end: int
    kind: UnitKind
    around: str
    around_start: int
    around_end: int


class Units(Sequence[Unit]):
    """Units that are found when they are first asked for; equal to a tuple of the same units."""

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[], tuple[Unit, ...]]) -> None:
        self._find: Callable[[], tuple[Unit, ...]] | None = find
        self._found: tuple[Unit, ...] = ()

    def _all(self) -> tuple[Unit, ...]:
        find = self._find
        if find is not None:
            self._found = find()
            self._find = None
        return self._found

    @overload
    def __getitem__(self, index: int) -> Unit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Unit, ...]: ...
    def __getitem__(self, index: int | slice) -> Unit | tuple[Unit, ...]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Units):
            return self._all() == other._all()
        return self._all() == other

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type[tuple[Unit, ...]], tuple[tuple[Unit, ...]]]:
        return tuple, (self._all(),)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document: ``document.text[start:end] == text``, always."""

    id: str
    """Hash of document id, own text, and an occurrence number among equal texts."""
    document: str
    version: str
    ordinal: int
    """Position among the document's chunks, from 0."""
    total: int
    start: int
    end: int
    text: str
    tokens: int
    """Tokens of the embedder input by the embedder's tokenizer, special tokens included."""
    kind: str
    heading_path: tuple[str, ...] = ()
    context: tuple[ContextSpan, ...] = ()
    shed: tuple[ContextSpan, ...] = ()
    """Context that did not fit."""
    boundary_start: Edge = DOCUMENT_EDGE
    boundary_end: Edge = DOCUMENT_EDGE
    lines: tuple[int, int] | None = None
    pages: tuple[int, ...] = ()
    boxes: tuple[Box, ...] = ()
    attributes: Mapping[str, JSON] = field(default_factory=dict)
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    units: Sequence[Unit] = ()
    """They tile the chunk."""
    config: str = ""
    """Fingerprint of the chunking that made it."""

    def __hash__(self) -> int:
        # Attributes and metadata are mappings, which have no hash. Equal chunks have one id.
        return hash(self.id)

    def to_json(self) -> dict[str, JSON]:
        """The shape that command line, REST and ``export`` share."""
        return {
            "id": self.id,
            "document": self.document,
            "version": self.version,
            "ordinal": self.ordinal,
            "total": self.total,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "tokens": self.tokens,
            "kind": self.kind,
            "heading_path": list(self.heading_path),
            "context": [context._asdict() for context in self.context],
            "shed": [context._asdict() for context in self.shed],
            "boundary": {
                "start": self.boundary_start._asdict(),
                "end": self.boundary_end._asdict(),
            },
            "lines": list(self.lines) if self.lines else None,
            "pages": list(self.pages),
            "boxes": [list(box) for box in self.boxes],
            "attributes": dict(self.attributes),
            "metadata": dict(self.metadata),
        }


class Dropped(NamedTuple):
    """A range of the body that is in no chunk, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Cutting:
    """What cutting a document gives."""

    chunks: tuple[Chunk, ...]
    dropped: tuple[Dropped, ...]
