"""Merestone cuts documents into passages that keep their meaning, keeps a hybrid index of them
fresh, and serves cited passages from it.

The names below are the public surface. They are loaded when first used, so that importing the
package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merestone.chunking.separators import recursive_chunks
    from merestone.chunking.windows import windows
    from merestone.cutting import changes_between, chunk, examine_cutting, read
    from merestone.evaluation.experiments.choosing import tune
    from merestone.evaluation.experiments.comparing import compare, compare_runs
    from merestone.evaluation.experiments.configurations import Configuration
    from merestone.evaluation.questions import Questions
    from merestone.evaluation.runs.evaluating import evaluate
    from merestone.library import Library
    from merestone.retrieval.budget import Budget
    from merestone.types import (
        Block,
        Chunk,
        Citation,
        ContextResult,
        Document,
        EmbedderError,
        ExtractionError,
        Field,
        Hit,
        MerestoneError,
        NotFoundError,
        Passage,
        SearchResult,
        SettingsError,
        SourceError,
        Span,
        StoreBusyError,
        StoreError,
        field,
    )

__version__ = "0.1.0"

_HOMES = {
    "Budget": "merestone.retrieval.budget",
    "recursive_chunks": "merestone.chunking.separators",
    "windows": "merestone.chunking.windows",
    "Library": "merestone.library",
    "Configuration": "merestone.evaluation.experiments.configurations",
    "Questions": "merestone.evaluation.questions",
    "changes_between": "merestone.cutting",
    "chunk": "merestone.cutting",
    "compare": "merestone.evaluation.experiments.comparing",
    "compare_runs": "merestone.evaluation.experiments.comparing",
    "evaluate": "merestone.evaluation.runs.evaluating",
    "tune": "merestone.evaluation.experiments.choosing",
    "examine_cutting": "merestone.cutting",
    "read": "merestone.cutting",
}

__all__ = [
    "Block",
    "Budget",
    "Chunk",
    "Citation",
    "Configuration",
    "ContextResult",
    "Document",
    "EmbedderError",
    "ExtractionError",
    "Field",
    "Hit",
    "Library",
    "MerestoneError",
    "NotFoundError",
    "Passage",
    "Questions",
    "SearchResult",
    "SettingsError",
    "SourceError",
    "Span",
    "StoreBusyError",
    "StoreError",
    "changes_between",
    "chunk",
    "compare",
    "compare_runs",
    "evaluate",
    "examine_cutting",
    "field",
    "read",
    "recursive_chunks",
    "tune",
    "windows",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'merestone' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "merestone.types")), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
