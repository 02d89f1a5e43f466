"""Kills and power cuts in full number: 1,000 kills with a reader, 200 cuts.

    python benchmarks/crashes.py [--kills 1000] [--cuts 200] [--out crashes.jsonl]

A line is written for each shard; what stands in the file already is not done again, so a run that
was stopped goes on where it was. Ends with 1 if anything was found. The trials are those of
``tests/durability``, which needs the extra ``dev``; POSIX only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from durability import cuts, kills
from durability.processes import Forker

KILLS_A_SHARD = 50
CUTS_A_SHARD = 20


def main() -> int:
    """Run the shards that are missing, and print what all have shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("crashes.jsonl"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Forker() as forker:
        folder = Path(name)

        def kill(seed: int) -> dict[str, Any]:
            return asdict(kills.series(folder / f"kills-{seed}", forker, seed, KILLS_A_SHARD))

        def cut(seed: int) -> dict[str, Any]:
            return asdict(cuts.series(folder / f"cuts-{seed}", forker, seed, CUTS_A_SHARD))

        done = _done(arguments.out)
        found = [
            *_shards("kills", -(-arguments.kills // KILLS_A_SHARD), kill, done, arguments.out),
            *_shards("cuts", -(-arguments.cuts // CUTS_A_SHARD), cut, done, arguments.out),
        ]
    _tell("kills", [line for line in found if line["kind"] == "kills"])
    _tell("cuts", [line for line in found if line["kind"] == "cuts"])
    return int(any(line["faults"] for line in found))


def _done(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(line["kind"], line["seed"]): line for line in lines}


def _shards(
    kind: str,
    count: int,
    run: Callable[[int], dict[str, Any]],
    done: dict[tuple[str, int], dict[str, Any]],
    out: Path,
) -> Iterator[dict[str, Any]]:
    for seed in range(count):
        line = done.get((kind, seed))
        if line is None:
            line = {"kind": kind, "seed": seed, **run(seed)}
            with out.open("a") as file:
                file.write(json.dumps(line) + "\n")
        yield line


def _tell(kind: str, lines: list[dict[str, Any]]) -> None:
    """Sums of the counts; of those that are named ``most``, the largest."""
    if not lines:
        return
    print(f"{kind}:")
    for name, value in lines[0].items():
        if isinstance(value, int) and name != "seed":
            values = [line[name] for line in lines]
            print(f"  {name:>14} {max(values) if name.startswith('most') else sum(values):8}")
    faults = [fault for line in lines for fault in line["faults"]]
    print(f"  {'faults':>14} {len(faults):8}")
    for fault in faults[:20]:
        print(f"    {fault}")


if __name__ == "__main__":
    sys.exit(main())
