"""What a question costs, stage by stage, and what the same searches cost peers.

    python benchmarks/query_speed.py [--chunks 10000,100000] [--questions 300] [--work DIR]
        [--slowest 5] [--workers 1,2] [--peers PYTHON] [--json FILE]

``speed_corpus.py`` says what the library is made of: real texts, real questions, synthetic vectors.
Making 100,000 chunks takes some 10 minutes once; they are kept below ``--work``.

Each question is asked once, after a few others, of ``search`` (k = 5) and of ``context`` (1,000
tokens). Times are the processor's, all threads together; ``embed`` is the bundled model on the
question. A stage's time leaves out the stages inside it; ``both searches`` is dense and lexical,
``rest`` what belongs to no stage. ``--slowest`` lists the questions that the lexical side was
slowest for, with the chunks that hold each of their terms. ``--workers``: so many processes, each
with the library open, ask the questions at once.

``--peers`` names a Python that has ``chromadb``, ``lancedb`` and ``qdrant-edge-py`` installed:
``speed_peers.py`` then searches the same texts and vectors with them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gold import data_folder
from speed_corpus import DIMENSION, hashed, open_library, questions

from merestone import Library
from merestone.retrieval import evidence, ranking, searching
from merestone.storage import lexical
from merestone.storage.snapshot import SQLiteSnapshot
from merestone.text.analysis import query_terms
from merestone.types import OWNER

K = 5
BUDGET = 1000
_WARMING = 20
_PEER_K = 100
_LIMIT_S = 3600.0

STAGES: dict[str, tuple[tuple[Any, str], ...]] = {
    "lexical": ((SQLiteSnapshot, "lexical"),),
    "dense": ((SQLiteSnapshot, "dense"),),
    "look up": (
        (SQLiteSnapshot, "dense_scores"),
        (SQLiteSnapshot, "lexical_scores"),
    ),
    "read": ((SQLiteSnapshot, "by_number"),),
    "focus": ((ranking, "focus_units"),),
    "collapse": ((ranking, "collapse"),),
    "pack": ((evidence.Packing, "pack"),),
    "cite": ((searching, "hit_of"),),
}
"""Stage → what does it. Where one calls another, the inner one's time is its own."""


class Stopwatch:
    """CPU milliseconds by stage, of one question at a time."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._inner.append(0.0)
        begun = time.process_time()
        try:
            yield
        finally:
            whole = (time.process_time() - begun) * 1000
            inner = self._inner.pop()
            self.taken[name] += whole - inner
            self._inner[-1] += whole

    def watch(self, owner: Any, name: str, stage: str) -> None:
        """Count all calls of ``owner.name`` to ``stage``, from now on."""
        plain: Callable[..., Any] = getattr(owner, name)

        def timed(*given: Any, **named: Any) -> Any:
            with self.stage(stage):
                return plain(*given, **named)

        setattr(owner, name, timed)


class Figures(NamedTuple):
    median: float
    p90: float
    p99: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Figures:
        return cls(*np.percentile(values, [50, 90, 99]).tolist())


def main() -> None:
    options = _options()
    found: dict[str, Any] = {}
    asked = questions(data_folder().parent, options.questions + _WARMING)
    work = Path(options.work).absolute()
    for size in map(int, options.chunks.split(",")):
        library = open_library(work, data_folder().parent, size)
        chunks = library.status(as_owner=True).chunks
        library.close()
        print(f"## {chunks:,} chunks, {options.questions} questions; CPU ms\n", flush=True)
        for verb in ("search", "context"):
            figures = _apart(_stages, work, size, asked, verb)
            found[f"{size} {verb}"] = figures
            _print_stages(verb, figures)
        for line in _apart(_slowest, work, size, asked, options.slowest):
            print(line, flush=True)
        if options.workers:
            found[f"{size} workers"] = _throughput(work, size, asked, options.workers)
        if options.peers:
            found[f"{size} peers"] = _peers(work, size, asked, options.peers)
        if options.json:
            Path(options.json).write_text(json.dumps(found, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What a question costs")
    parser.add_argument("--chunks", default="10000,100000")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--work", default="query-speed-work")
    parser.add_argument("--slowest", type=int, default=5)
    parser.add_argument("--workers", default="1,2", help="numbers of processes; empty: none")
    parser.add_argument("--peers", help="a Python that has them")
    parser.add_argument("--json", help="write every figure to this file")
    return parser.parse_args()


def _apart(function: Callable[..., Any], *given: Any) -> Any:
    """What the function returns, from a process of its own.

    One without a limit of CPU time: under such a limit Linux counts a process's time in ticks.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(function, *given).result()


def _open(work: Path, size: int) -> Library:
    return open_library(work, data_folder().parent, size)


def _ask(library: Library, verb: str, question: str) -> None:
    if verb == "search":
        library.search(question, k=K, as_owner=True)
    else:
        library.context(question, budget=BUDGET, as_owner=True)


def _stages(work: Path, size: int, asked: Sequence[str], verb: str) -> dict[str, Figures]:
    """Figures by stage over the questions."""
    watch = Stopwatch()
    with _open(work, size) as library:
        watch.watch(library.embedder, "embed_queries", "embed")
        for stage, parts in STAGES.items():
            for owner, name in parts:
                watch.watch(owner, name, stage)
        rows: list[dict[str, float]] = []
        for question in asked:
            watch.taken.clear()
            with watch.stage("rest"):
                _ask(library, verb, question)
            rows.append(dict(watch.taken))
    rows = rows[_WARMING:]
    found = {
        name: Figures.of([row.get(name, 0.0) for row in rows])
        for name in ("embed", *STAGES, "rest")
        if any(name in row for row in rows)
    }
    both = [row.get("lexical", 0.0) + row.get("dense", 0.0) for row in rows]
    found["both searches"] = Figures.of(both)
    embeds = [row.get("embed", 0.0) for row in rows]
    found["both and embed"] = Figures.of([a + b for a, b in zip(both, embeds, strict=True)])
    found["all"] = Figures.of([sum(row.values()) for row in rows])
    return found


def _print_stages(verb: str, figures: dict[str, Figures]) -> None:
    print(f"{verb:16}{'median':>9}{'p90':>9}{'p99':>9}")
    for name, values in figures.items():
        print(f"{name:16}" + "".join(f"{value:9.2f}" for value in values))
    print(flush=True)


def _slowest(work: Path, size: int, asked: Sequence[str], count: int) -> list[str]:
    """The questions that the lexical side takes longest for, and why."""
    rows: list[tuple[float, str, str]] = []
    with _open(work, size) as library, library.snapshot(as_owner=True) as snapshot:
        connection, number = snapshot._connection, snapshot.generation.number
        for question in asked:
            terms = query_terms(question)
            begun = time.process_time()
            snapshot.lexical(terms, 100)
            taken = (time.process_time() - begun) * 1000
            kept = lexical._useful(connection, number, terms, {})
            held = [f"{term} {lexical._holders(connection, number, term, {}):,}" for term in kept]
            rows.append((taken, question, ", ".join(held)))
    rows.sort(reverse=True)
    return [f"{taken:6.1f} ms  {text[:100]!r}: {held}" for taken, text, held in rows[:count]]


def _throughput(work: Path, size: int, asked: Sequence[str], workers: str) -> dict[str, float]:
    """Searches a second of so many processes, by the clock and by the CPU that each got."""
    found: dict[str, float] = {}
    for count in map(int, workers.split(",")):
        given = [str(work), str(size), str(len(asked))]
        running = [
            subprocess.Popen(
                [sys.executable, "-c", _WORKER, *given],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parent,
            )
            for _ in range(count)
        ]
        for each in running:
            assert each.stdout is not None
            each.stdout.readline()
        begun = time.perf_counter()
        for each in running:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        spent = [float(each.communicate()[0]) for each in running]
        wall = time.perf_counter() - begun
        total = count * len(asked)
        found[f"{count} a second"] = total / wall
        found[f"{count} a CPU second"] = total / sum(spent)
        print(
            f"{count} workers: {total / wall:.1f} searches a second, "
            f"{total / sum(spent):.1f} for each second of CPU",
            flush=True,
        )
    return found


_WORKER = """
import sys, time
from pathlib import Path
from gold import data_folder
from speed_corpus import open_library, questions
work, size, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
asked = questions(data_folder().parent, count)
with open_library(work, data_folder().parent, size) as library:
    library.search(asked[0], as_owner=True)
    print("ready", flush=True)
    sys.stdin.readline()
    begun = time.process_time()
    for question in asked:
        library.search(question, as_owner=True)
    print(time.process_time() - begun)
"""


def _peers(work: Path, size: int, asked: Sequence[str], python: str) -> dict[str, Any]:
    """What peers take to find 100 chunks on each side, and how much of the exact best 10."""
    place = work / f"peers-{size}"
    place.mkdir(exist_ok=True)
    data = place / "data.npz"
    with _open(work, size) as library, library._store.snapshot(OWNER) as snapshot:
        numbers = [number for number, _, _ in snapshot.numbers()]
        queries = np.stack([hashed(text) for text in asked])
        if not data.exists():
            vectors = np.empty((len(numbers), DIMENSION), np.float32)
            texts: list[str] = []
            for first in range(0, len(numbers), 5000):
                part = numbers[first : first + 5000]
                rows, chunks = snapshot.vectors(part), snapshot.by_number(part)
                vectors[first : first + len(part)] = [rows[number] for number in part]
                texts += [chunks[number].text for number in part]
            np.savez(data, vectors=vectors, queries=queries)
            (place / "texts.json").write_text(json.dumps(texts))
        (place / "questions.json").write_text(json.dumps(list(asked)))
        places = {number: at for at, number in enumerate(numbers)}
        own: dict[str, list[float]] = {"vector": [], "words": []}
        exact: list[list[int]] = []
        for question, query in zip(asked, queries, strict=True):
            begun = time.process_time()
            hits = snapshot.dense(query, _PEER_K)
            own["vector"].append((time.process_time() - begun) * 1000)
            begun = time.process_time()
            snapshot.lexical(query_terms(question), _PEER_K)
            own["words"].append((time.process_time() - begun) * 1000)
            exact.append([places[hit.number] for hit in hits])
    (place / "exact.json").write_text(json.dumps(exact))
    found: dict[str, Any] = {
        "Merestone": {name: Figures.of(values[_WARMING:]) for name, values in own.items()}
    }
    script = Path(__file__).with_name("speed_peers.py")
    for name in ("chroma", "qdrant-edge", "lancedb", "lancedb-ivf-hnsw"):
        command = [python, str(script), name, str(place), str(_WARMING)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S)
        if done.returncode:
            print(f"{name} failed: {done.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        found[name] = json.loads(done.stdout.splitlines()[-1])
    _print_peers(found)
    return found


def _print_peers(found: dict[str, Any]) -> None:
    own = found["Merestone"]
    head = ("vector p50", "p99", "x own", "recall@10", "words p50", "p99", "x own", "build s")
    print(f"\n{'':20}" + "".join(f"{each:>12}" for each in head))
    for name, row in found.items():
        cells = [f"{row['vector'][0]:.2f}", f"{row['vector'][2]:.2f}"]
        cells += [f"{row['vector'][0] / own['vector'][0]:.2f}", f"{row.get('recall', 1.0):.3f}"]
        if row.get("words"):
            words = row["words"]
            cells += [f"{words[0]:.2f}", f"{words[2]:.2f}", f"{words[0] / own['words'][0]:.2f}"]
        else:
            cells += ["-"] * 3
        cells.append(f"{row['build']:.0f}" if "build" in row else "-")
        print(f"{name:20}" + "".join(f"{cell:>12}" for cell in cells))
    print(flush=True)


if __name__ == "__main__":
    main()
