"""Documents to chunks: where one may cut, and which cuts to take under the limit."""

from merestone.chunking.fingerprint import chunking_fingerprint
from merestone.chunking.profiles import effective
from merestone.chunking.registry import chunker_named, chunkers, cut
from merestone.chunking.render import input_hash, render
from merestone.chunking.separators import RecursiveChunk, recursive_chunks
from merestone.chunking.windows import Window, windows

__all__ = [
    "RecursiveChunk",
    "Window",
    "chunker_named",
    "chunkers",
    "chunking_fingerprint",
    "cut",
    "effective",
    "input_hash",
    "recursive_chunks",
    "render",
    "windows",
]
