"""The tables of a configuration, as files and flags may write them."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from merestone.extraction.encoding import codec_name
from merestone.types import CONTENT_TYPES

Strings = list[str]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SourceTable(_Table):
    """A folder, or what the one key among ``_KINDS`` names."""

    path: str | None = None
    url: str | None = None
    urls: Strings | None = None
    list: str | None = None
    sitemap: str | None = None
    sqlite: str | None = None
    sql: str | None = None
    jsonl: str | None = None
    plugin: str | None = None
    name: str = ""
    include: Strings = Field(default_factory=Strings)
    exclude: Strings = Field(default_factory=Strings)
    gitignore: bool = False
    hosts: Strings = Field(default_factory=Strings)
    robots: bool = True
    user: str = ""
    token_env: str = ""
    query: str = ""
    key: str = ""
    updated: str = ""
    text: str | Strings = Field(default_factory=Strings)
    media_type: str | None = None
    password_env: str = ""
    options: dict[str, Any] = Field(default_factory=dict)


class ExtractionTable(_Table):
    max_document_bytes: int = Field(default=50_000_000, ge=1)
    worker_memory_bytes: int = Field(default=1_500_000_000, ge=50_000_000)
    worker_cpu_seconds: int = Field(default=60, ge=1)
    worker_wall_seconds: int = Field(default=120, ge=1)
    default_encoding: str | None = None

    @field_validator("default_encoding")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name is not None and codec_name(name) is None:
            raise ValueError("no text encoding of that name is known")
        return name


class ProfileTable(_Table):
    """Settings of one content type; what is not set is that of ``[chunking]``."""

    strategy: str | None = None
    max_tokens: int | None = None
    target_tokens: int | None = None
    min_tokens: int | None = None
    overlap_tokens: int | None = None
    max_chars: int | None = None
    overlap_chars: int | None = None
    torn_overlap_tokens: int | None = None
    context: list[str] | None = None
    group: int | None = None
    separators: list[str] | None = None
    semantic_weight: float | None = None


class ChunkingTable(ProfileTable):
    types: dict[str, ProfileTable] = Field(default_factory=dict)

    @field_validator("types")
    @classmethod
    def _are_known(cls, types: dict[str, ProfileTable]) -> dict[str, ProfileTable]:
        for name in types:
            if name not in CONTENT_TYPES:
                raise ValueError(f"{name} is none of {', '.join(CONTENT_TYPES)}")
        return types


class EmbeddingTable(_Table):
    model: str = Field(default="minilm", min_length=1)
    on_overlong: str = Field(default="error", pattern="^(error|truncate|window)$")
    batch_tokens: int = Field(default=768, ge=1)
    threads: int = Field(default=0, ge=0, le=256)
    cache_bytes: int = Field(default=2_000_000_000, ge=0)
    dimension: int = Field(default=0, ge=0)
    max_tokens: int = Field(default=0, ge=0)
    query_template: str | None = None
    passage_template: str | None = None
    pooling: str = Field(default="", pattern="^(|mean|cls|last)$")
    tokenizer: str = ""
    scripts: list[str] = Field(default_factory=list)
    mode: str = Field(default="plain", pattern=r"^(plain|late|plain\+late)$")
    units: bool = False
    url: str = ""
    api_key_env: str = ""
    batch: int = Field(default=0, ge=0)
    timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    price_per_million_tokens: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class RetrievalTable(_Table):
    dense_weight: float = Field(default=0.5, ge=0, le=1)
    candidates: int = Field(default=100, ge=1, le=100_000)
    focus: bool = True
    collapse: bool = True
    mmr: float = Field(default=1.0, ge=0, le=1)
    expand: str = Field(
        default="structure",
        pattern=r"^(structure|none|section|parent|(window|neighbours):\d{1,3})$",
    )
    section_tokens: int = Field(default=520, ge=0)
    definition_tokens: int = Field(default=520, ge=0)
    entry_tokens: int = Field(default=260, ge=0)
    gap_units: int = Field(default=1, ge=0, le=10)
    precise_share: float = Field(default=0.70, ge=0, le=1)
    precise_passages: int = Field(default=20, ge=1)
    editor: str = Field(default="", pattern=r"^$|\{path\}")
    min_relevance: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    relevance: list[float] = Field(default_factory=list)
    index: str = Field(default="exact", pattern="^(exact|hnsw)$")
    hnsw_links: int = Field(default=16, ge=2, le=128)
    hnsw_width: int = Field(default=128, ge=1, le=10_000)

    @field_validator("relevance")
    @classmethod
    def _is_recalibration(cls, numbers: list[float]) -> list[float]:
        if not numbers:
            return numbers
        if len(numbers) != 2 or not all(map(isfinite, numbers)) or numbers[1] <= 0:
            raise ValueError("an intercept and a slope above 0 are wanted, or nothing")
        return numbers


class RerankingTable(_Table):
    model: str = ""
    top: int = Field(default=30, ge=1, le=1000)
    on: str = Field(default="passages", pattern="^(passages|chunks)$")
    url: str = ""
    api_key_env: str = ""
    batch: int = Field(default=0, ge=0)
    timeout_seconds: float = Field(default=30.0, gt=0, allow_inf_nan=False)


class AccessRuleTable(_Table):
    # Without the key every document is meant; an empty list is more likely a mistake.
    paths: list[str] = Field(default_factory=list, min_length=1)
    source: str | None = None
    allow: list[str]


class AccessTable(_Table):
    groups: dict[str, list[str]] = Field(default_factory=dict)
    rules: list[AccessRuleTable] = Field(default_factory=list)
    file: str | None = Field(default=None, min_length=1)


class SuggestTable(_Table):
    url: str = ""
    model: str = ""
    api_key_env: str = ""
    timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)


class GateTable(_Table):
    must_hold: Strings = Field(default_factory=Strings)
    measure: str = Field(default="", pattern=r"^(\w+@\w+)?$")
    baseline: str = Field(default="evaluation-baseline.json", min_length=1)
    max_drop: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)


class EvaluationTable(_Table):
    questions: str = Field(default="questions.jsonl", min_length=1)
    k: list[Annotated[int, Field(ge=1, le=1000)]] = Field(default=[5], min_length=1)
    budgets: list[Annotated[int, Field(ge=1)]] = Field(default=[500, 1000, 2000])
    tokenizer: str = ""
    suggest: SuggestTable = Field(default_factory=SuggestTable)
    gate: GateTable = Field(default_factory=GateTable)


class ConfigurationTables(_Table):
    sources: list[SourceTable] = Field(default_factory=lambda: [SourceTable()])
    extraction: ExtractionTable = Field(default_factory=ExtractionTable)
    chunking: ChunkingTable = Field(default_factory=ChunkingTable)
    embedding: EmbeddingTable = Field(default_factory=EmbeddingTable)
    retrieval: RetrievalTable = Field(default_factory=RetrievalTable)
    reranking: RerankingTable = Field(default_factory=RerankingTable)
    access: AccessTable = Field(default_factory=AccessTable)
    evaluation: EvaluationTable = Field(default_factory=EvaluationTable)
