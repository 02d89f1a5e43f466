"""Effective settings of each stage, after configuration files, environment and flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merestone.types.chunk import ContextRole
from merestone.types.document import JSON

CONFIG_FILE = "merestone.toml"

CONTEXT_ROLES: tuple[ContextRole, ...] = (
    "title",
    "heading",
    "caption",
    "lead_in",
    "signature",
    "table_header",
)
"""In the order of rendering, which is also the order in which context gives way."""

SEPARATORS = ("\n\n", "\n", " ", "")
"""What the strategy ``recursive`` cuts at, strongest first; ``""`` cuts anywhere."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One folder of documents."""

    path: str
    """Absolute path of the folder."""
    name: str = ""
    """Goes before each id as ``name:`` when a library has several sources; else empty."""
    include: tuple[str, ...] = ()
    """Patterns with git's rules; a file must match one. Empty: every file."""
    exclude: tuple[str, ...] = ()
    """Patterns with git's rules; a file that matches is left out."""


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """Limits on reading one document."""

    max_document_bytes: int = 50_000_000
    worker_memory_bytes: int = 1_500_000_000
    worker_cpu_seconds: int = 60
    worker_wall_seconds: int = 120
    default_encoding: str | None = None
    """Taken where neither a mark, a declaration nor strict UTF-8 decides; ``None``: detect."""


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """How documents are cut. Sizes in tokens are of the embedder's own tokenizer."""

    strategy: str = "auto"
    """The name of a chunker; ``auto`` takes the one for the content type, see ``types``."""
    max_tokens: int = 256
    """Hard limit of a chunk's embedder input, context and special tokens included."""
    target_tokens: int = 204
    min_tokens: int = 16
    """A smaller piece is merged with its nearest neighbour in the same section."""
    overlap_tokens: int = 0
    max_chars: int = 2048
    """Hard limit of a chunk's own text in code points."""
    overlap_chars: int = 0
    torn_overlap_tokens: int = 0
    """Overlap only where a paragraph or a list item had to be cut: the sentence before the cut is
    repeated behind it if it has at most so many tokens and there is room."""
    context: tuple[ContextRole, ...] = CONTEXT_ROLES
    """Roles of the context spans that a chunk is given."""
    group: int | None = None
    """Sentences in a chunk of the strategy ``sentences``, records in one of ``records``; ``None``:
    as many as come near the target."""
    separators: tuple[str, ...] = SEPARATORS
    """For the strategy ``recursive``."""
    semantic_weight: float = 0.0
    """How much the similarity of neighbouring sentences moves the price of a cut between them, as
    a share of the price of a cut at the worst place. Above 0 every sentence is embedded once."""
    types: Mapping[str, ChunkingSettings] = field(default_factory=dict)
    """Profiles: settings by content type, in the place of these. See
    :data:`merestone.types.content.CONTENT_TYPES`."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which embedder, and what happens to an input beyond its limit."""

    model: str = "minilm"
    on_overlong: str = "error"
    """``error``, ``truncate`` (the end is lost) or ``window`` (the mean of its windows)."""
    batch_tokens: int = 768
    threads: int = 0
    """0: one a core."""
    cache_bytes: int = 2_000_000_000


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How candidates are found and fused."""

    dense_weight: float = 0.5
    """Weight of the dense side in the fused score; the lexical side has the rest."""
    candidates: int = 100
    """Chunks taken a side; at least twice ``k``."""


@dataclass(frozen=True, slots=True)
class LibrarySettings:
    """Everything that one library is built and asked with."""

    root: str
    """Absolute path of the folder that holds ``merestone.toml`` and the state."""
    state: str
    """Absolute path of the folder ``.merestone``."""
    sources: tuple[SourceSettings, ...]
    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)
    chunking: ChunkingSettings = field(default_factory=ChunkingSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    origin: Mapping[str, JSON] = field(default_factory=dict)
    """For ``doctor``: which file each table came from."""
