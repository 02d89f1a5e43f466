"""A question to cited passages: filter, find, fuse, pack, cite."""

from merestone.retrieval.budget import Budget, allow
from merestone.retrieval.citation import place
from merestone.retrieval.evidence import Evidence, context, find_evidence
from merestone.retrieval.filters import Where, parse_filter, read_filter
from merestone.retrieval.reference import Reference, show
from merestone.retrieval.reranking import Reranking
from merestone.retrieval.resolving import history, resolve
from merestone.retrieval.searching import MODES, search
from merestone.retrieval.sides import Mode

__all__ = [
    "MODES",
    "Budget",
    "Evidence",
    "Mode",
    "Reference",
    "Reranking",
    "Where",
    "allow",
    "context",
    "find_evidence",
    "history",
    "parse_filter",
    "place",
    "read_filter",
    "resolve",
    "search",
    "show",
]
