"""A question to cited passages: filter, find, fuse, pack, cite."""

from merestone.retrieval.citation import place
from merestone.retrieval.evidence import context
from merestone.retrieval.filters import parse_filter
from merestone.retrieval.reference import Reference, show
from merestone.retrieval.reranking import Reranking
from merestone.retrieval.resolving import history, resolve
from merestone.retrieval.searching import MODES, search
from merestone.retrieval.sides import Mode

__all__ = [
    "MODES",
    "Mode",
    "Reference",
    "Reranking",
    "context",
    "history",
    "parse_filter",
    "place",
    "resolve",
    "search",
    "show",
]
