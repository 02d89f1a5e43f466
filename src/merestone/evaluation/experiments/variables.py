"""What a search for better settings tries, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from merestone.types import CONTEXT_ROLES, JSON, ChunkingSettings, LibrarySettings

Stage = Literal["retrieval", "cutting", "types"]
STAGES: tuple[Stage, ...] = ("retrieval", "cutting", "types")
"""In the order in which they are tried."""

_WEIGHTS = (0.2, 0.35, 0.5, 0.65, 0.8)
_EXPANSIONS = ("structure", "none", "window:1", "window:2", "neighbours:1", "section")
_STRATEGIES = ("auto", "recursive", "sentences", "fixed")
"""``auto`` is ``structure`` but for code and records."""
_SIZES = (96, 128, 192, 256, 384, 512, 768, 1024)
_FARTHEST = 3
"""Sizes are tried from a third to three times of what is set."""
_OVERLAP_SHARES = (0.0, 0.1, 0.2)
_CONTEXTS: tuple[tuple[str, ...], ...] = (CONTEXT_ROLES, ("title", "heading"), ())
_DERIVED = ("target_tokens", "min_tokens", "max_chars")
"""Sizes that follow from the limit unless they are given."""

Values = tuple[tuple[str, JSON], ...]
"""Settings by their dotted names, changed together."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One thing to vary, with the values to try."""

    name: str
    stage: Stage
    """``retrieval`` needs nothing made anew; ``types`` cuts documents of one content type."""
    options: tuple[Values, ...]


def retrieval_variables(settings: LibrarySettings, mode: str) -> list[Variable]:
    """Weights, focus and expansion. What ``settings`` say already is no option."""
    own = settings.retrieval
    found = []
    if mode == "hybrid":
        found.append(_variable("retrieval.dense_weight", "retrieval", _WEIGHTS, own.dense_weight))
    found.append(_variable("retrieval.focus", "retrieval", (True, False), own.focus))
    found.append(_variable("retrieval.expand", "retrieval", _EXPANSIONS, own.expand))
    return found


def cutting_variables(settings: LibrarySettings, limit: int) -> list[Variable]:
    """Sizes, strategies, overlap and context; ``limit`` is what the embedder reads."""
    own = settings.chunking
    return [
        Variable("chunking.max_tokens", "cutting", _sizes("chunking", own, limit)),
        _variable("chunking.strategy", "cutting", _STRATEGIES, own.strategy),
        Variable(
            "chunking.overlap_tokens",
            "cutting",
            tuple(
                (("chunking.overlap_tokens", int(share * own.max_tokens)),)
                for share in _OVERLAP_SHARES
                if int(share * own.max_tokens) != own.overlap_tokens
            ),
        ),
        _variable(
            "chunking.context",
            "cutting",
            [list(roles) for roles in _CONTEXTS],
            list(own.context),
        ),
    ]


def type_variables(
    settings: LibrarySettings, limit: int, content_types: Sequence[str]
) -> list[Variable]:
    """Sizes of single content types."""
    found = []
    for name in content_types:
        own = settings.chunking.types.get(name, settings.chunking)
        place = f"chunking.types.{name}"
        found.append(Variable(f"{place}.max_tokens", "types", _sizes(place, own, limit)))
    return found


def _variable(key: str, stage: Stage, values: Iterable[JSON], present: JSON) -> Variable:
    return Variable(key, stage, tuple(((key, value),) for value in values if value != present))


def _sizes(place: str, own: ChunkingSettings, limit: int) -> tuple[Values, ...]:
    sizes = sorted(
        {
            size
            for size in (*_SIZES, limit)
            if size <= limit and own.max_tokens / _FARTHEST <= size <= own.max_tokens * _FARTHEST
        }
        - {own.max_tokens}
    )
    taken_back = tuple((f"{place}.{name}", None) for name in _DERIVED)
    return tuple(((f"{place}.max_tokens", size), *taken_back) for size in sizes)


def variable_of(key: str, values: Iterable[JSON]) -> Variable:
    """A variable of one's own: a setting by its dotted name, and values to try."""
    stage: Stage = "retrieval" if key.split(".")[0] in ("retrieval", "reranking") else "cutting"
    return _variable(key, stage, values, _NOTHING)


_NOTHING = object()
