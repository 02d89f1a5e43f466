"""nDCG@10 of the bundled embedder alone on SciFact, beside the published figure.

    MERESTONE_BENCH_DATA=... python benchmarks/scifact.py --cache scifact.db

The data is ``eval/scifact`` of that folder (its SOURCE.md tells where it comes from). As for the
published figure, a document is its title, a space and its abstract, cut at 256 word pieces, and
the search is exact. The first run embeds 5,183 abstracts in some minutes; with ``--cache`` the
vectors are kept, so that later ones take seconds.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from merestone.embedding import open_embedder
from merestone.embedding.batching import embed_in_batches
from merestone.embedding.cache import EmbeddingCache
from merestone.text.hashing import digest
from merestone.types import Embedder, EmbeddingSettings, Vectors

PUBLISHED = 0.645
DEPTH = 10
CACHE_BYTES = 2_000_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="SQLite file that keeps the vectors")
    parser.add_argument("--threads", type=int, default=0, help="0: one a core")
    arguments = parser.parse_args()
    data = os.environ.get("MERESTONE_BENCH_DATA")
    if not data:
        print("MERESTONE_BENCH_DATA is not set: no data to measure on.", file=sys.stderr)
        return 2
    folder = Path(data) / "eval" / "scifact"
    # The published figure truncates, so this run does, by explicit choice.
    embedder = open_embedder(
        EmbeddingSettings(model="minilm", on_overlong="truncate", threads=arguments.threads)
    )
    documents = {
        line["_id"]: f"{line['title']} {line['text']}" for line in lines(folder / "corpus.jsonl")
    }
    with tempfile.TemporaryDirectory() as scratch:
        path = arguments.cache or Path(scratch) / "embeddings.db"
        with EmbeddingCache(path, CACHE_BYTES) as cache:
            vectors = embed(embedder, list(documents.values()), cache)
    judged = judgements(folder / "qrels.tsv")
    queries = {
        line["_id"]: line["text"]
        for line in lines(folder / "queries.jsonl")
        if line["_id"] in judged
    }
    scores = embedder.embed_queries(list(queries.values())) @ vectors.T
    ids = list(documents)
    gains = []
    for query, row in zip(queries, scores, strict=True):
        best = np.argsort(-row, kind="stable")[:DEPTH]
        gains.append(ndcg([ids[place] for place in best], judged[query]))
    print(f"SciFact, {len(ids)} documents, {len(gains)} claims, dense alone, exact search")
    print(f"nDCG@{DEPTH}  {np.mean(gains):.4f}  (published for all-MiniLM-L6-v2: {PUBLISHED})")
    return 0


def embed(embedder: Embedder, texts: list[str], cache: EmbeddingCache) -> Vectors:
    """Vectors of ``texts``, from the cache where it has them; new ones are kept at once."""
    keys = [digest(text) for text in texts]
    held = cache.get_many(embedder.fingerprint, keys)
    missing = [place for place, key in enumerate(keys) if key not in held]
    wall, processor = time.perf_counter(), time.process_time()
    done = 0
    for indexes, vectors in embed_in_batches(embedder, [texts[place] for place in missing]):
        fresh = {
            keys[missing[index]]: vector for index, vector in zip(indexes, vectors, strict=True)
        }
        cache.put_many(embedder.fingerprint, fresh)
        held.update(fresh)
        done += len(indexes)
        if done % 500 < len(indexes):
            print(f"{done} of {len(missing)} embedded", file=sys.stderr)
    if missing:
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        tokens = sum(
            min(count + embedder.tokenizer.special_tokens, embedder.max_tokens)
            for count in embedder.tokenizer.counts([texts[place] for place in missing])
        )
        print(
            f"{len(missing)} texts of {tokens / len(missing):.0f} tokens embedded: "
            f"{len(missing) / wall:.1f} texts/s, {1000 * processor / len(missing):.0f} CPU ms each"
        )
    return np.stack([held[key] for key in keys])


def ndcg(ranked: list[str], relevant: dict[str, int]) -> float:
    """nDCG with the gain as judged and a logarithmic discount, cut at ``DEPTH``."""
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    gains = [relevant.get(document, 0) for document in ranked]
    ideal = sorted(relevant.values(), reverse=True)[:DEPTH]
    return float(np.dot(gains, discounts[: len(gains)]) / np.dot(ideal, discounts[: len(ideal)]))


def judgements(path: Path) -> dict[str, dict[str, int]]:
    """Query id → document id → grade."""
    judged: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            judged.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return judged


def lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
