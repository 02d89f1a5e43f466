"""Effective settings of each stage, after configuration files, environment and flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merestone.types.access import AccessSettings
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
    """One source of documents: a folder, or what ``kind`` says."""

    path: str = ""
    """Absolute path of the folder; empty for every other kind. Such a source can be watched."""
    name: str = ""
    """Goes before each id as ``name:`` when a library has several sources; else empty."""
    include: tuple[str, ...] = ()
    """Patterns with git's rules; a document must match one. Empty: every document."""
    exclude: tuple[str, ...] = ()
    """Patterns with git's rules; a document that matches is left out."""
    gitignore: bool = False
    """Also leave out of a folder what git's own ignore files name."""
    kind: str = "path"
    """``path``, ``url``, ``urls``, ``list``, ``sitemap``, ``sqlite``, ``sql``, ``jsonl``, or the
    name of a plugin."""
    location: str = ""
    """For the other kinds: the absolute path of a file, or a URL without a password."""
    urls: tuple[str, ...] = ()
    """The documents of the kind ``urls``."""
    hosts: tuple[str, ...] = ()
    """Hosts that pages of a sitemap may be on besides its own. They too are sent what ``user`` or
    ``token_env`` says, and so are those of a list."""
    robots: bool = True
    """Whether pages of a list or a sitemap are left out that ``robots.txt`` closes to programs."""
    user: str = ""
    """Sent to the servers of pages with the password that ``password_env`` names."""
    token_env: str = ""
    """Environment variable that holds the token that servers of pages are sent."""
    query: str = ""
    """One ``SELECT``; each of its rows is a document."""
    key: str = ""
    """The column, or the key of a JSON object, that is the document's id."""
    updated: str = ""
    """The column or key whose value changes with the document; empty: compare contents."""
    text: tuple[str, ...] = ()
    """Columns or keys that are the document's text; empty: all, as lines ``name: value``."""
    media_type: str | None = None
    """Of that text; ``None``: by the key, if it is the name of a text file, else plain text."""
    password_env: str = ""
    """Environment variable that holds the password of the kind ``sql``, or that of ``user``."""
    options: Mapping[str, JSON] = field(default_factory=dict, repr=False)
    """For the file system, the transfer or the plugin. May hold secrets: never shown."""

    @property
    def prefix(self) -> str:
        """What every id of the source begins with."""
        return f"{self.name}:" if self.name else ""

    @property
    def place(self) -> str:
        """The source as a person would call it."""
        return self.path or self.location or self.name or ", ".join(self.urls[:1]) or self.kind


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
    """The name of an embedder; the path of a folder or an ``.onnx`` file; or
    ``service:model``, such as ``openai:text-embedding-3-small``."""
    on_overlong: str = "error"
    """``error``, ``truncate`` (the end is lost) or ``window`` (the mean of its windows)."""
    batch_tokens: int = 768
    threads: int = 0
    """0: one a core."""
    cache_bytes: int = 2_000_000_000
    dimension: int = 0
    """Vectors are cut to so many values (Matryoshka) and scaled again; 0: as the model gives
    them."""
    max_tokens: int = 0
    """Longest input, special tokens and template included; 0: what is known of the model."""
    query_template: str | None = None
    """What is embedded for a question; ``{text}`` stands for it. ``None``: as the model wants."""
    passage_template: str | None = None
    pooling: str = ""
    """``mean``, ``cls`` or ``last``; empty: as the model's description says."""
    tokenizer: str = ""
    """Name or file, where the model does not bring its own."""
    scripts: tuple[str, ...] = ()
    """Writing systems that the model was trained for; empty: what is known of it."""
    mode: str = "plain"
    """``plain``; ``late``: token vectors of the whole document, pooled by chunk; ``plain+late``:
    the sum of both."""
    units: bool = False
    """True: each unit has a vector too, pooled from its chunk's token vectors."""
    url: str = ""
    """Of a service; empty: its usual one."""
    api_key_env: str = ""
    """The environment variable that holds the key. The key itself is never kept."""
    batch: int = 0
    """Texts in a request; 0: what the service takes."""
    timeout_seconds: float = 60.0
    """For one request, its answer included."""
    price_per_million_tokens: float | None = None
    """What ``plan`` reckons with, in any currency; ``None``: the embedder has no price."""


@dataclass(frozen=True, slots=True)
class RerankingSettings:
    """Which model orders what was found once more, and how much of it."""

    model: str = ""
    """``service:model``, such as ``cohere:rerank-v3.5``, or the name of a reranker and, behind a
    colon, of its model. Empty: none."""
    top: int = 30
    """How many of the best are given to it."""
    on: str = "passages"
    """``passages`` or ``chunks``."""
    url: str = ""
    api_key_env: str = ""
    batch: int = 0
    """Texts in a request; 0: what the service takes."""
    timeout_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """Of an approximate index of the vectors, an HNSW graph."""

    links: int = 16
    """Of each row to others; twice as many on the lowest level."""
    width: int = 128
    """Rows that a search keeps in sight: more find more and take longer."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How candidates are found and fused."""

    dense_weight: float = 0.5
    """Weight of the dense side in the fused score; the lexical side has the rest."""
    candidates: int = 100
    """Chunks taken a side; at least twice ``k``."""
    focus: bool = True
    """Rank by the best sentence, row or line of a chunk instead of by the chunk."""
    collapse: bool = True
    """Near-duplicate candidates become one, with the others named."""
    mmr: float = 1.0
    """Maximal marginal relevance: the weight of the score against likeness to what ranks above, by
    the chunks' vectors. 1 turns it off."""
    expand: str = "structure"
    """How a unit that was found becomes a passage: ``structure``, ``none``, ``window:N`` (units on
    each side), ``neighbours:N`` (chunks on each side), ``section`` or ``parent``."""
    section_tokens: int = 520
    """Longest section that a hit on its heading gives, in tokens of the embedder."""
    definition_tokens: int = 520
    entry_tokens: int = 260
    gap_units: int = 1
    """Units between two passages up to which the gap is filled."""
    precise_share: float = 0.70
    """``context`` in its precise form stops below this share of the best score."""
    precise_passages: int = 20
    """Passages that it gives at most."""
    editor: str = ""
    """How the link of a citation opens a text file, with ``{path}`` and ``{line}``, such as
    ``vscode://file{path}:{line}``; empty: ``path:line``."""
    min_relevance: float = 0.0
    """Hits of less relevance are left out; 0: none are. See ``retrieval.relevance``."""
    relevance: tuple[float, ...] = ()
    """What the library's own questions taught of its relevance: an intercept and a slope for the
    log-odds. Empty: as it is shipped."""
    index: str = "exact"
    """How the nearest vectors are found: ``exact`` scans all, ``hnsw`` asks a graph (extra ``ann``)
    where that is quicker."""
    hnsw_links: int = 16
    hnsw_width: int = 128

    @property
    def graph(self) -> GraphSettings | None:
        """Of the graph; ``None``: every vector is scanned."""
        return GraphSettings(self.hnsw_links, self.hnsw_width) if self.index == "hnsw" else None


@dataclass(frozen=True, slots=True)
class SuggestSettings:
    """Which model words draft questions, if any; else they are made by rules."""

    url: str = ""
    """Of an endpoint that speaks as OpenAI's does, such as ``http://localhost:11434/v1``."""
    model: str = ""
    api_key_env: str = ""
    """The environment variable that holds the key. The key itself is never kept."""
    timeout_seconds: float = 60.0
    """For one request, its answer included."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What must not get worse."""

    must_hold: tuple[str, ...] = ()
    """Ids of questions whose answer must be served whole."""
    measure: str = ""
    """Such as ``GoldCoverage@1000t``; empty: ``GoldCoverage`` in the main view."""
    baseline: str = ""
    """Absolute path of the run that is held against, or ``last``: the newest saved one."""
    max_drop: float = 0.0
    """A significant drop of the measure up to this is let through."""


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """What is measured when nothing else is said."""

    questions: str = "questions.jsonl"
    """Absolute path of the file of questions."""
    k: tuple[int, ...] = (5,)
    """Hits of ``search`` that are scored."""
    budgets: tuple[int, ...] = (500, 1000, 2000)
    """Token budgets of ``context`` that are scored."""
    tokenizer: str = ""
    """Name or file of the one that budgets are counted by; empty: the embedder's."""
    suggest: SuggestSettings = field(default_factory=SuggestSettings)
    gate: GateSettings = field(default_factory=GateSettings)


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
    reranking: RerankingSettings = field(default_factory=RerankingSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    cache: str = ""
    """Absolute path of the cache of vectors; empty: ``embeddings.db`` in ``state``. Libraries
    that differ in their settings may share one."""
    origin: Mapping[str, JSON] = field(default_factory=dict)
    """For ``doctor``: which file each table came from."""
