"""Time from "installed" to the first answer over the shipped handbook, and memory.

    python benchmarks/first_answer.py [--runs 3]

Each figure is of whole processes, started as a user starts them: `merestone sync` over a fresh
copy of the handbook, then `merestone search`. Printed: wall seconds, CPU seconds, and the largest
resident memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
QUESTION = "How many leave days can I carry over?"


class Cost(NamedTuple):
    wall: float
    cpu: float
    megabytes: float


def measure(arguments: list[str]) -> Cost:
    """Run one process to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    merestone = [sys.executable, "-m", "merestone.cli.main"]
    steps: dict[str, list[Cost]] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "handbook"
            shutil.copytree(HANDBOOK, folder, ignore=shutil.ignore_patterns(".merestone"))
            here = [*merestone, "-C", str(folder)]
            for name, arguments in (
                ("import merestone", [sys.executable, "-c", "import merestone"]),
                ("sync, first", [*here, "sync"]),
                ("sync, nothing changed", [*here, "sync"]),
                ("search, hybrid", [*here, "search", QUESTION]),
                ("search, words only", [*here, "search", "--mode", "lexical", QUESTION]),
            ):
                steps.setdefault(name, []).append(measure(arguments))
    print(f"{'':24}{'wall s':>9}{'CPU s':>9}{'MB':>8}   (median of {runs})")
    for name, costs in steps.items():
        wall, cpu, megabytes = (statistics.median(values) for values in zip(*costs, strict=True))
        print(f"{name:24}{wall:9.2f}{cpu:9.2f}{megabytes:8.0f}")
    total = sum(
        statistics.median(cost.wall for cost in steps[name])
        for name in ("sync, first", "search, hybrid")
    )
    print(f"from installed to the first answer: {total:.1f} s")


if __name__ == "__main__":
    main()
