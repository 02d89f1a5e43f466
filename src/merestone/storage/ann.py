"""An approximate index of vectors: a graph over the codes that the exact scan reads.

HNSW: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
Hierarchical Navigable Small World graphs", 2018; by usearch, which the extra ``ann`` brings.
Rows are compared by the cosine of their int8 codes, which is that of the vectors to within a
thousandth whatever each row's scale is. What the graph proposes is scored exactly elsewhere.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Before usearch, which would hinder it.
from merestone.storage import simd as _simd  # noqa: F401
from merestone.storage.dense import Floats, Numbers
from merestone.types import SettingsError

Codes = NDArray[np.int8]

_ADDED_AT_ONCE = 4096
"""Rows between two moments at which an interruption is heard."""
_BUILD_WIDTH = 128


@lru_cache(maxsize=1)
def _usearch() -> Any:
    _load_what_must_be_first()
    try:
        import usearch.index
    except ImportError as error:
        raise SettingsError(
            "extra-missing",
            "An approximate index needs a package that is not installed.",
            "Install it: pip install 'merestone[ann]', or set retrieval.index = \"exact\".",
        ) from error
    return usearch


def _load_what_must_be_first() -> None:
    """usearch (2.26) puts the C functions of another library among those that all modules share,
    and onnxruntime, loaded after it, ends the process with a segmentation fault."""
    if find_spec("onnxruntime") is not None:
        import_module("onnxruntime")


def engine() -> str:
    """Name and version of what builds graphs: a graph of another is not read."""
    return f"usearch {_usearch().__version__}"


class Graph:
    """An HNSW graph with what its rows were, by chunk number. May be asked from several threads."""

    def __init__(
        self, links: int, dimension: int, numbers: Numbers, marks: Floats, data: bytes = b""
    ) -> None:
        """``numbers`` ascending, ``marks`` of shape ``(len(numbers), 2)``, ``data`` from
        :meth:`data`."""
        self.links = links
        self.dimension = dimension
        self.numbers = numbers
        self.marks = marks
        self._lock = Lock()
        self._index = _usearch().index.Index(
            ndim=dimension,
            metric="cos",
            dtype="i8",
            connectivity=links,
            expansion_add=_BUILD_WIDTH,
        )
        if data:
            self._index.load(data)

    @classmethod
    def empty(cls, links: int, dimension: int) -> Graph:
        """A graph without rows."""
        return cls(
            links, dimension, np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.float32)
        )

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size(self) -> int:
        """Bytes of the graph with its codes, as it is written."""
        return int(self._index.serialized_length)

    def data(self) -> bytes:
        """The graph as :meth:`__init__` takes it."""
        return bytes(self._index.save())

    def add(self, numbers: Numbers, marks: Floats, codes: Codes, threads: int = 0) -> None:
        """Add rows, none of which is there yet. ``threads`` 0: one a core."""
        for first in range(0, len(numbers), _ADDED_AT_ONCE):
            part = slice(first, first + _ADDED_AT_ONCE)
            self._index.add(numbers[part], np.ascontiguousarray(codes[part]), threads=threads)
        every = np.concatenate([self.numbers, numbers])
        order = np.argsort(every, kind="stable")
        self.numbers = every[order]
        self.marks = np.concatenate([self.marks, marks])[order]

    def nearest(self, code: Codes, count: int, width: int) -> Numbers:
        """Numbers of about the ``count`` rows nearest to ``code``, keeping the best ``width`` rows
        in sight while searching."""
        # The width is the index's own, and threads that ask at once would share its scratch space.
        with self._lock:
            self._index.expansion_search = max(width, count)
            found = self._index.search(code, count, threads=1)
        return np.asarray(found.keys).astype(np.int64)

    def holds(self, numbers: Numbers, marks: Floats) -> NDArray[np.bool_]:
        """Which of the rows are in the graph, as they are."""
        if not len(self.numbers):
            return np.zeros(len(numbers), dtype=bool)
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        same: NDArray[np.bool_] = (self.numbers[places] == numbers) & (
            self.marks[places] == marks
        ).all(axis=1)
        return same


def marks_of(scales: Floats, bounds: Floats) -> Floats:
    """What tells a row from another that once had its number, of shape ``(rows, 2)``."""
    return np.stack([scales, bounds[:, 0]], axis=1).astype(np.float32)
