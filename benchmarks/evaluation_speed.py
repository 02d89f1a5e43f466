"""What an evaluation and a comparison take, first and again.

    python benchmarks/evaluation_speed.py [--set id_node] [--max-tokens 150] [--questions 300]
        [--model hashing] [--work DIR] [--profile]

The documents of a set are synchronised into a library below DIR, cut so that there are about 2,000
chunks, and all questions are put to it: as ``merestone eval`` does, hits and three budgets and the
precise form; then for hits and one budget alone; then, as ``merestone compare`` does, to the
library and to one of fixed windows. Each is done *cold*, with no vector of a question in the cache
and no scratch library, and *again*, with all of them at hand. Printed are wall and CPU seconds, of
this process alone.

``--model hashing`` embeds in next to no time, so that what is measured is everything else; with
``minilm`` the difference of cold and again is the embedding. ``--profile`` prints what takes the
time of an evaluation with vectors at hand.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from gold import data_folder

from merestone import Library, compare, evaluate
from merestone.evaluation.questions import Questions
from merestone.evaluation.questions.importing import import_questions
from merestone.indexing.scratch import drop_scratch

_SHOWN = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", default="id_node")
    parser.add_argument("--max-tokens", type=int, default=150)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--model", default="hashing")
    parser.add_argument("--work", type=Path, default=Path("build/evaluation-speed"))
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    folder = data_folder() / given.set
    shutil.rmtree(given.work, ignore_errors=True)
    shutil.copytree(folder / "documents", given.work)
    with _open(given) as library:
        library.sync()
        questions = _questions(library, folder, given.questions)
        print(
            f"{given.set}: {library.status().chunks:,} chunks, at most {given.max_tokens} tokens, "
            f"{len(questions)} questions, {given.model}"
        )
    print(f"{'':24}{'wall s':>9}{'CPU s':>9}")
    acts = (("evaluate", _evaluate), ("one budget", _one_budget), ("compare", _compare))
    for name, act in acts:
        with _open(given) as library:
            drop_scratch(library.settings.state, everything=True)
            (Path(library.settings.state) / "embeddings.db").unlink(missing_ok=True)
        for state in ("cold", "again"):
            # Each in a library of its own, so that nothing is remembered but what is on disk.
            with _open(given) as library:
                _timed(f"{name}, {state}", lambda: act(library, questions))  # noqa: B023
    if given.profile:
        with _open(given) as library:
            _profiled(lambda: _evaluate(library, questions))


def _open(given: argparse.Namespace) -> Library:
    return Library.open(
        given.work,
        embedding={"model": given.model},
        chunking={"max_tokens": given.max_tokens},
    )


def _questions(library: Library, folder: Path, count: int) -> Questions:
    with library.snapshot() as snapshot:
        found = import_questions(folder, "set", snapshot=snapshot)
    return Questions(found.questions[:count])


def _evaluate(library: Library, questions: Questions) -> object:
    return evaluate(library, questions)


def _one_budget(library: Library, questions: Questions) -> object:
    return evaluate(library, questions, k=5, budgets=[1000], views=["search", "context"])


def _compare(library: Library, questions: Questions) -> object:
    return compare(library, None, questions)


def _timed(name: str, act: Callable[[], object]) -> None:
    wall, busy = time.perf_counter(), time.process_time()
    act()
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    print(f"{name:24}{wall:9.1f}{busy:9.1f}", flush=True)


def _profiled(act: Callable[[], object]) -> None:
    profile = cProfile.Profile()
    profile.runcall(act)
    pstats.Stats(profile).sort_stats("cumulative").print_stats(_SHOWN)


if __name__ == "__main__":
    main()
