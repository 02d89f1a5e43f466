"""A graph's file in the state folder. It is a cache: without it every row is scanned."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from merestone.storage.ann import Graph, engine
from merestone.storage.ann_paths import draft_of

_LOGGER = logging.getLogger("merestone")
_MAGIC = b"merestone hnsw 1\n"
_DIGEST = 32


def write(graph: Graph, path: Path) -> None:
    """Keep ``graph``. Where that is not possible, a warning is logged and nothing is lost."""
    header = {
        "engine": engine(),
        "links": graph.links,
        "dimension": graph.dimension,
        "rows": len(graph),
    }
    parts = (
        json.dumps(header).encode() + b"\n",
        graph.numbers.astype("<i8").tobytes(),
        graph.marks.astype("<f4").tobytes(),
        graph.data(),
    )
    draft = draft_of(path)
    try:
        with draft.open("wb") as file:
            file.write(_MAGIC)
            file.write(_digest(*parts))
            for part in parts:
                file.write(part)
        # Not flushed to disk: what a power cut leaves of it does not fit its digest.
        os.replace(draft, path)
    except OSError as error:
        _LOGGER.warning("The approximate index %s cannot be kept: %s", path, error)
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def read(path: Path, dimension: int) -> Graph | None:
    """The graph that is kept; ``None`` if there is none of this engine and dimension, or it is
    damaged."""
    try:
        data = memoryview(path.read_bytes())
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST
    if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : start] != _digest(data[start:]):
        return None
    line = bytes(data[start : start + 1000]).partition(b"\n")[0]
    header = json.loads(line)
    if header["engine"] != engine() or header["dimension"] != dimension:
        return None
    rows = header["rows"]
    at = start + len(line) + 1
    numbers = np.frombuffer(data, dtype="<i8", count=rows, offset=at)
    at += numbers.nbytes
    marks = np.frombuffer(data, dtype="<f4", count=2 * rows, offset=at).reshape(rows, 2)
    at += marks.nbytes
    # Copies, since a view would keep the whole file in memory.
    return Graph(header["links"], dimension, numbers.copy(), marks.copy(), bytes(data[at:]))


def _digest(*parts: bytes | memoryview) -> bytes:
    found = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        found.update(part)
    return found.digest()
