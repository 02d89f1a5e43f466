"""Invariant 4: the same bytes and settings give the same chunks in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chunking.recutting import STRATEGIES

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def outputs() -> list[dict[str, str]]:
    """By strategy the hash of all chunks as JSON, of processes with several hash seeds."""
    found = []
    for seed in ("0", "1", "random"):
        path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "chunking.recutting"],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(dict(line.split() for line in done.stdout.splitlines()))
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_processes_with_other_hash_seeds_give_the_same_chunks(
    outputs: list[dict[str, str]], strategy: str
) -> None:
    assert len({output[strategy] for output in outputs}) == 1


def test_strategies_that_cut_differently_are_told_apart(outputs: list[dict[str, str]]) -> None:
    found = outputs[0]
    assert len({found[name] for name in ("fixed", "recursive", "sentences", "structure")}) == 4
