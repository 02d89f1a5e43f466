"""Give scanners whatever may come, for as long as one likes, and keep what they fail on.

    python tools/fuzz.py all --minutes 10
    python tools/fuzz.py markdown rst --minutes 1 --seed 7

Inputs are made of the files under tests/data and examples and, if MERESTONE_BENCH_DATA names it,
of shared data. The same seed gives the same inputs. An input fails if it raises anything but an
error of Merestone, breaks the tree of blocks or an invariant of cutting, costs more processor time
than its size explains, kills the process or keeps it busy. It is made as small as it gets and
written to tests/data/fuzz, whose files tests/fuzzing gives to the scanners ever after.

Needs the extra `dev`.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fuzzing.mutation import Mutator, shrunk  # noqa: E402
from fuzzing.scanners import DATA, SCANNERS  # noqa: E402

KEPT = DATA / "fuzz"
_BASE_SECONDS = 1.0
_SECONDS_A_BYTE = 1e-4
_HANGS_SECONDS = 120
_SEEDS = 1_000_000


def main() -> int:
    """Exit code 1 if a scanner failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scanners", nargs="+", choices=["all", *SCANNERS], metavar="SCANNER")
    parser.add_argument("--minutes", type=float, default=10, help="for each scanner")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    names = list(SCANNERS) if "all" in arguments.scanners else arguments.scanners
    failed = [name for name in names if not run(name, 60 * arguments.minutes, arguments.seed)]
    return 1 if failed else 0


def run(name: str, seconds: float, seed: int) -> bool:
    """Fuzz one scanner in a process of its own, again and again if that dies; true if it held."""
    held = True
    until = time.monotonic() + seconds
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        current = Path(folder) / "current"
        for attempt in count():
            left = until - time.monotonic()
            if left <= 0:
                return held
            work = context.Process(target=_work, args=(name, left, f"{seed}.{attempt}", current))
            work.start()
            work.join()
            if work.exitcode in (0, _FAILED):
                return held and work.exitcode == 0
            held = False
            data = current.read_bytes()
            path = _keep(name, int.from_bytes(data[:4]), data[4:])
            print(f"{name}: the process ended with {work.exitcode} on {path}", flush=True)
    return held


_FAILED = 3


def _work(name: str, seconds: float, seed: str, current: Path) -> None:
    shared = os.environ.get("MERESTONE_BENCH_DATA")
    scanner = SCANNERS[name]
    mutator = Mutator(scanner.seeds(Path(shared) if shared else None))
    until = time.monotonic() + seconds
    known: set[str] = set()
    done = size = 0
    for index in count():
        if time.monotonic() > until:
            break
        data = mutator.input(random.Random(f"{name} {seed} {index}"))
        own = index % _SEEDS
        current.write_bytes(own.to_bytes(4) + data)
        faulthandler.dump_traceback_later(_HANGS_SECONDS, exit=True)
        check = partial(scanner.check, seed=own)
        problem = problem_of(check, data)
        done += 1
        size += len(data)
        if problem is None or problem.splitlines()[0] in known:
            continue
        first = problem.splitlines()[0]
        known.add(first)
        small = data
        if not first.startswith("slow"):
            small = shrunk(data, partial(_is_same, check, first))
        path = _keep(name, own, small)
        print(f"{name}: {first}\n  {path}: {small[:200]!r}\n{problem}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(
        f"{name}: {done:,} inputs, {size / 1e6:.1f} MB, {len(known)} kinds of failure", flush=True
    )
    sys.exit(_FAILED if known else 0)


def problem_of(check: Callable[[bytes], None], data: bytes) -> str | None:
    """What is wrong with an input, its kind on the first line; ``None`` if nothing is."""
    allowed = _BASE_SECONDS + _SECONDS_A_BYTE * len(data)
    seconds = allowed
    # What was slow by accident is fast the second time.
    for _ in range(3):
        begun = time.process_time()
        try:
            check(data)
        except Exception as error:
            return f"{_place(error)}\n{''.join(traceback.format_exception(error)[-8:])}"
        seconds = time.process_time() - begun
        if seconds <= allowed:
            return None
    return f"slow\n{seconds:.1f} s of processor time for {len(data)} bytes"


def _is_same(check: Callable[[bytes], None], first: str, data: bytes) -> bool:
    faulthandler.dump_traceback_later(_HANGS_SECONDS, exit=True)
    try:
        check(data)
    except Exception as error:
        return _place(error) == first
    return False


def _place(error: Exception) -> str:
    """Kind of the error and where it was raised."""
    while error.__cause__ is not None and isinstance(error.__cause__, Exception):
        error = error.__cause__
    inner = error.__context__ if isinstance(error.__context__, Exception) else error
    frame = traceback.extract_tb(
        (inner if isinstance(error, AssertionError) else error).__traceback__
    )[-1]
    return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"


def _keep(name: str, own: int, data: bytes) -> Path:
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{name}-{own}-{hashlib.sha256(data).hexdigest()[:8]}"
    path.write_bytes(data)
    return path.relative_to(ROOT)


if __name__ == "__main__":
    sys.exit(main())
