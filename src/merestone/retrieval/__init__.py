"""A question to cited passages: filter, find, fuse, pack, cite."""

from merestone.retrieval.candidates import Mode
from merestone.retrieval.citation import place
from merestone.retrieval.filters import parse_filter
from merestone.retrieval.packing import context
from merestone.retrieval.reference import show
from merestone.retrieval.searching import MODES, search

__all__ = ["MODES", "Mode", "context", "parse_filter", "place", "search", "show"]
