"""The state machine of the whole library, at length.

    python tools/state_machine.py [--examples 5000] [--steps 30] [--shard 50]
        [--out build/state_machine.json]

Runs ``tests/indexing/test_state_machine.py`` in shards of so many examples, each with a seed of its
own, and notes each shard that is through in ``--out``: an interrupted run goes on with the next. A
shard that fails prints its operations, is not noted, and ends the run with exit code 1. Needs the
extra ``dev``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from indexing.test_state_machine import LibraryMachine


def main() -> None:
    options = _options()
    done: dict[str, float] = (
        json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    )
    for number in range(-(-options.examples // options.shard)):
        name = f"{options.steps} steps, {options.shard} examples, seed {number}"
        if name in done:
            continue
        began = time.process_time()
        run_state_machine_as_test(
            seed(number)(LibraryMachine),
            settings=settings(
                max_examples=options.shard,
                stateful_step_count=options.steps,
                deadline=None,
                database=None,
                # Shrinking a failure takes longer than finding it; its operations are printed.
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
        done[name] = round(time.process_time() - began, 1)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(done, indent=1), "utf-8")
        print(f"{name}: fine, {done[name]} s of CPU", flush=True)
    print(f"{len(done) * options.shard} examples of {options.steps} steps without a fault")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The state machine of the library, at length")
    parser.add_argument("--examples", type=int, default=5000)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--shard", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("build") / "state_machine.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
