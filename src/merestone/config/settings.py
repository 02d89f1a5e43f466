"""The effective settings of a library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from merestone.config.access import access_settings
from merestone.config.chunking import chunking_settings, require_sensible_sizes
from merestone.config.files import STATE_FOLDER
from merestone.config.layers import Tables
from merestone.config.merging import read_configuration
from merestone.config.sources import sources_of
from merestone.config.tables import (
    ConfigurationTables,
    EvaluationTable,
    GateTable,
    ProfileTable,
    RetrievalTable,
)
from merestone.types import (
    JSON,
    EmbeddingSettings,
    EvaluationSettings,
    ExtractionSettings,
    GateSettings,
    LibrarySettings,
    RerankingSettings,
    RetrievalSettings,
    SettingsError,
    SuggestSettings,
)


def load_settings(
    root: Path,
    flags: Tables | None = None,
    variant: Tables | None = None,
    *,
    for_preview: bool = False,
) -> LibrarySettings:
    """The effective settings of the library in ``root``.

    ``flags`` are tables of values that override everything else, but for those of ``variant``: what
    is tried out. A value of ``None`` takes back what the layers below say. Raises ``SettingsError``
    for a file that can't be read, an unknown key (with the nearest known one) or a value out of
    range. ``for_preview``: nothing is embedded by them, so chunks may be as small as one likes.
    """
    root = root.absolute()
    config, origin = read_configuration(root, flags or {}, variant or {})
    if not for_preview:
        _require_sensible_sizes(config)
    return _settings(config, root, origin)


def _settings(
    config: ConfigurationTables, root: Path, origin: Mapping[str, JSON]
) -> LibrarySettings:
    return LibrarySettings(
        root=str(root),
        state=str(root / STATE_FOLDER),
        sources=sources_of(config, root, origin),
        extraction=ExtractionSettings(**config.extraction.model_dump()),
        chunking=chunking_settings(config.chunking.model_dump(), _default_limit(config, root)),
        embedding=_embedding(config, root),
        retrieval=_retrieval(config.retrieval),
        reranking=RerankingSettings(**config.reranking.model_dump()),
        access=access_settings(config, root, origin),
        evaluation=_evaluation(config.evaluation, root),
        origin=dict(origin),
    )


def _embedding(config: ConfigurationTables, root: Path) -> EmbeddingSettings:
    """Settings of the embedder; paths are relative to the configuration."""
    from merestone.embedding import is_model_path

    values = config.embedding.model_dump()
    if is_model_path(values["model"]):
        values["model"] = os.path.abspath(root / values["model"])
    if values["tokenizer"].endswith(".json"):
        values["tokenizer"] = os.path.abspath(root / values["tokenizer"])
    return EmbeddingSettings(**{**values, "scripts": tuple(values["scripts"])})


def _profiles(config: ConfigurationTables) -> dict[str, ProfileTable]:
    """The tables of chunking by name."""
    profiles = {f"chunking.types.{name}": each for name, each in config.chunking.types.items()}
    return {"chunking": config.chunking, **profiles}


def _require_sensible_sizes(config: ConfigurationTables) -> None:
    for name, profile in _profiles(config).items():
        require_sensible_sizes(name, profile.model_dump(), config.chunking.min_tokens)


def _default_limit(config: ConfigurationTables, root: Path) -> int:
    from merestone.embedding import open_embedder

    embedder = open_embedder(_embedding(config, root))
    for name, profile in _profiles(config).items():
        limit = profile.max_tokens
        if limit is not None and limit > embedder.max_tokens:
            raise SettingsError(
                "max-tokens-too-large",
                f"{name}.max_tokens = {limit}, but {embedder.name} reads {embedder.max_tokens}.",
                "Lower it: what is beyond would never be embedded.",
            )
    return embedder.max_tokens


def _retrieval(table: RetrievalTable) -> RetrievalSettings:
    return RetrievalSettings(**{**table.model_dump(), "relevance": tuple(table.relevance)})


def _evaluation(table: EvaluationTable, root: Path) -> EvaluationSettings:
    return EvaluationSettings(
        questions=os.path.abspath(root / table.questions),
        k=tuple(sorted(set(table.k))),
        budgets=tuple(sorted(set(table.budgets))),
        tokenizer=table.tokenizer,
        suggest=SuggestSettings(**table.suggest.model_dump()),
        gate=_gate(table.gate, root),
    )


def _gate(table: GateTable, root: Path) -> GateSettings:
    is_last = table.baseline == "last"
    return GateSettings(
        must_hold=tuple(table.must_hold),
        measure=table.measure,
        baseline=table.baseline if is_last else os.path.abspath(root / table.baseline),
        max_drop=table.max_drop,
    )
