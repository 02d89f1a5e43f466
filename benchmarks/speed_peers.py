"""The searches of ``query_speed.py`` by one peer. Needs numpy and the peer, and nothing else here.

    PYTHON speed_peers.py PEER FOLDER WARMING

``FOLDER`` holds ``data.npz`` (vectors, queries), ``texts.json``, ``questions.json`` and
``exact.json``, the rows of the exact best for each query. Printed is one line of JSON: CPU
milliseconds of this process (median, p90, p99) by side, recall@10, and the CPU seconds of building.

- chroma: a persistent collection with its defaults (HNSW, cosine)
- qdrant-edge: a shard with its defaults (HNSW, cosine), optimised; words by its BM25 vectors
- lancedb: a table without a vector index, which is scanned; words by its full-text index
- lancedb-ivf-hnsw: the same with an IVF_HNSW_SQ index of its defaults
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_K = 100
_BATCH = 2000

Rows = list[int]


def main() -> None:
    name, folder, warming = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    data = np.load(folder / "data.npz")
    texts = json.loads((folder / "texts.json").read_text())
    asked = json.loads((folder / "questions.json").read_text())
    exact = json.loads((folder / "exact.json").read_text())
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    begun = _cpu()
    by_vector, by_words = PEERS[name](place, data["vectors"], texts)
    found: dict[str, Any] = {"build": _cpu() - begun}
    found["vector"], hits = _measured(by_vector, data["queries"], warming)
    pairs = list(zip(hits, exact, strict=True))[warming:]
    found["recall"] = float(np.mean([len({*a[:10]} & {*b[:10]}) / 10 for a, b in pairs]))
    if by_words is not None:
        found["words"], _ = _measured(by_words, asked, warming)
    print(json.dumps(found))


def _cpu() -> float:
    """CPU seconds of this process, all of its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _measured(
    search: Callable[[Any], Rows], queries: Sequence[Any], warming: int
) -> tuple[list[float], list[Rows]]:
    taken, found = [], []
    for query in queries:
        begun = _cpu()
        found.append(search(query))
        taken.append((_cpu() - begun) * 1000)
    return np.percentile(taken[warming:], [50, 90, 99]).tolist(), found


def chroma(place: Path, vectors: Any, texts: Sequence[str]) -> Any:
    import chromadb

    client = chromadb.PersistentClient(str(place))
    table = client.create_collection("passages", configuration={"hnsw": {"space": "cosine"}})
    for first in range(0, len(texts), _BATCH):
        part = slice(first, first + _BATCH)
        ids = [str(row) for row in range(first, first + len(vectors[part]))]
        table.add(ids=ids, embeddings=vectors[part], documents=list(texts[part]))

    def search(query: Any) -> Rows:
        found = table.query(query_embeddings=[query], n_results=_K, include=["distances"])
        return [int(row) for row in found["ids"][0]]

    return search, None


def qdrant_edge(place: Path, vectors: Any, texts: Sequence[str]) -> Any:
    import qdrant_edge as q

    place.mkdir(parents=True)
    config = q.EdgeConfig(
        vectors={"v": q.EdgeVectorParams(size=vectors.shape[1], distance=q.Distance.Cosine)},
        sparse_vectors={"w": q.EdgeSparseVectorParams(modifier=q.Modifier.Idf)},
    )
    shard = q.EdgeShard.create(str(place), config)
    words = q.Bm25()
    for first in range(0, len(texts), _BATCH):
        points = [
            q.Point(
                id=row,
                vector={"v": vectors[row].tolist(), "w": words.embed_document(texts[row])},
                payload={},
            )
            for row in range(first, min(first + _BATCH, len(texts)))
        ]
        shard.update(q.UpdateOperation.upsert_points(points))
    shard.flush()
    shard.optimize()

    def asked(vector: Any, using: str) -> Rows:
        query = q.Query.Nearest(vector, using=using)
        found = shard.search(q.SearchRequest(query=query, limit=_K))
        return [int(point.id) for point in found]

    return (
        lambda query: asked(query.tolist(), "v"),
        lambda text: asked(words.embed_query(text), "w"),
    )


def lancedb(place: Path, vectors: Any, texts: Sequence[str], *, index: bool = False) -> Any:
    import lancedb as lance
    import pyarrow as pa

    rows = pa.table(
        {
            "row": pa.array(range(len(texts)), pa.int64()),
            "vector": pa.FixedSizeListArray.from_arrays(
                pa.array(vectors.reshape(-1), pa.float32()), vectors.shape[1]
            ),
            "text": pa.array(texts),
        }
    )
    table = lance.connect(str(place)).create_table("c", rows)
    if index:
        table.create_index(metric="dot", index_type="IVF_HNSW_SQ")
    table.create_fts_index("text")

    def by_vector(query: Any) -> Rows:
        found = table.search(query).distance_type("dot").select(["row"]).limit(_K).to_arrow()
        return found["row"].to_pylist()

    def by_words(text: str) -> Rows:
        plain = " ".join("".join(c if c.isalnum() else " " for c in text).split())
        found = table.search(plain, query_type="fts").select(["row"]).limit(_K).to_arrow()
        return found["row"].to_pylist()

    return by_vector, by_words


PEERS: dict[str, Callable[..., Any]] = {
    "chroma": chroma,
    "qdrant-edge": qdrant_edge,
    "lancedb": lancedb,
    "lancedb-ivf-hnsw": lambda *given: lancedb(*given, index=True),
}

if __name__ == "__main__":
    main()
