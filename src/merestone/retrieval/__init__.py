"""A question to cited passages: filter, find, fuse, pack, cite."""

from merestone.retrieval.candidates import Mode
from merestone.retrieval.citation import place
from merestone.retrieval.evidence import context
from merestone.retrieval.filters import parse_filter
from merestone.retrieval.reference import show
from merestone.retrieval.resolving import history, resolve
from merestone.retrieval.searching import MODES, search

__all__ = [
    "MODES",
    "Mode",
    "context",
    "history",
    "parse_filter",
    "place",
    "resolve",
    "search",
    "show",
]
