"""The exact scan beside HNSW graphs, over links and search width.

    python benchmarks/index_settings.py [--rows 10000,100000] [--million] [--queries 200]
        [--kinds synthetic,minilm] [--cache FILE ...] [--json FILE]

Needs the extra ``ann``. It is what ``merestone doctor --index`` does, on vectors of two kinds:

- synthetic: 384 numbers, drawn. A cluster for each 200 rows; centres and what is around them lie
  in directions of which each next matters less, as those of text embedders do. A document is ten
  neighbouring rows of one cluster. Queries are rows that were held out, moved a little.
- minilm: vectors of the bundled model for passages of real documents, taken from embedding caches
  that other benchmarks left (``--cache``); documents are runs of ten. Queries are questions of the
  evaluation sets, embedded by the same model.

Times are the processor's. ``--million`` adds 1,000,000 synthetic rows: some 3 GB of memory, and an
hour of CPU.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import numpy as np
from gold import data_folder
from numpy.typing import NDArray
from speed_corpus import questions

from merestone.cli.index_table import index_table
from merestone.embedding import open_embedder
from merestone.evaluation.index.tuning import compare_indexes
from merestone.evaluation.index.vectors import Examined, noisy
from merestone.types import EmbeddingSettings, Vectors

DIMENSION = 384
_CANDIDATES = 100
_CLUSTER = 200
_DOCUMENT = 10
_SPREAD = 0.9
"""Around a centre, next to 1 for the centres."""
_DECAY = 0.4
"""The nth direction counts ``n ** -0.4``."""
_SLICE = 100_000
_MILLION = 1_000_000


def main() -> None:
    options = _options()
    sizes = [int(size) for size in options.rows.split(",")]
    found = []
    for kind, examined in _trials(options, sizes):
        print(f"## {kind}, {len(examined.vectors):,} rows\n", flush=True)
        result = compare_indexes(examined, _CANDIDATES, note=lambda text: None)
        print(index_table(result), "\n", flush=True)
        found.append({"kind": kind, **result.to_json()})
        if options.json:
            Path(options.json).write_text(json.dumps(found, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The exact scan beside HNSW graphs")
    parser.add_argument("--rows", default="10000,100000")
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--kinds", default="synthetic,minilm")
    parser.add_argument("--cache", action="append", default=[], help="an embeddings.db")
    parser.add_argument("--json", help="write every figure to this file")
    return parser.parse_args()


def _trials(options: argparse.Namespace, sizes: Sequence[int]) -> Iterator[tuple[str, Examined]]:
    kinds = options.kinds.split(",")
    if "synthetic" in kinds:
        for size in [*sizes, *([_MILLION] if options.million else [])]:
            yield "synthetic", synthetic(size, options.queries)
    if "minilm" in kinds and options.cache:
        every = cached(options.cache)
        asked = questions(data_folder().parent, options.queries)
        queries = open_embedder(EmbeddingSettings()).embed_queries(asked)
        for size in sorted({min(size, len(every)) for size in sizes}):
            yield "minilm", Examined(every[:size], _runs(size), queries, "questions", len(every))


def synthetic(rows: int, queries: int) -> Examined:
    """Drawn vectors, and queries near to some that are not among them."""
    drawn = np.random.default_rng(rows)
    vectors = np.empty((rows + queries, DIMENSION), np.float16)
    count = max(1, len(vectors) // _CLUSTER)
    scale = (np.arange(1, DIMENSION + 1) ** -_DECAY).astype(np.float32)
    centres = drawn.standard_normal((count, DIMENSION), dtype=np.float32) * scale
    owners = np.sort(drawn.integers(count, size=len(vectors)))
    for first in range(0, len(vectors), _SLICE):
        part = slice(first, min(first + _SLICE, len(vectors)))
        around = drawn.standard_normal((part.stop - first, DIMENSION), dtype=np.float32)
        found = centres[owners[part]] + _SPREAD * around * scale
        vectors[part] = found / np.linalg.norm(found, axis=1, keepdims=True)
    out = np.sort(drawn.permutation(len(vectors))[:queries])
    kept = np.delete(np.arange(len(vectors)), out)
    return Examined(vectors[kept], _runs(rows), noisy(vectors[out], drawn), "noise", len(vectors))


def _runs(rows: int) -> NDArray[np.int64]:
    return np.arange(rows, dtype=np.int64) // _DOCUMENT


def cached(files: Sequence[str]) -> NDArray[np.float16]:
    """The distinct vectors of embedding caches, in an order that was drawn."""
    found: set[bytes] = set()
    size = 4 * DIMENSION
    for file in files:
        connection = apsw.Connection(f"{Path(file).absolute().as_uri()}?mode=ro", 0x41)
        query = "SELECT vector FROM vector WHERE length(vector) = ?"
        found.update(vector for (vector,) in connection.execute(query, (size,)))
        connection.close()
    rows: Vectors = np.frombuffer(b"".join(sorted(found)), "<f4").reshape(-1, DIMENSION)
    np.random.default_rng(0).shuffle(rows := rows.astype(np.float16))
    return rows


if __name__ == "__main__":
    main()
