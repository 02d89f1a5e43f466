"""Every input on which a scanner ever failed, and a few new ones, so that the fuzzer works too."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fuzzing.mutation import MAX_BYTES, Mutator, shrunk
from fuzzing.scanners import DATA, SCANNERS

KEPT = sorted((DATA / "fuzz").glob("*-*-*"))
_FEW = 12
_MANY = 2_000


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_inputs_that_failed_once_pass(path: Path) -> None:
    name, seed, _ = path.name.rsplit("-", 2)
    SCANNERS[name].check(path.read_bytes(), int(seed))


def feed(name: str, count: int) -> None:
    mutator = Mutator(SCANNERS[name].seeds())
    for index in range(count):
        data = mutator.input(random.Random(f"{name} {index}"))
        try:
            SCANNERS[name].check(data, index)
        except Exception as error:
            error.add_note(f"{name} failed on {data!r} with the seed {index}")
            raise


@pytest.mark.parametrize("name", SCANNERS)
def test_scanners_hold_on_a_few_inputs(name: str) -> None:
    feed(name, _FEW)


@pytest.mark.long
@pytest.mark.parametrize("name", SCANNERS)
def test_scanners_hold_on_many_inputs(name: str) -> None:
    feed(name, _MANY)


def test_inputs_are_bounded_and_the_same_for_the_same_seed() -> None:
    mutator = Mutator(SCANNERS["markdown"].seeds())
    inputs = [[mutator.input(random.Random(f"{n}")) for n in range(60)] for _ in range(2)]
    assert inputs[0] == inputs[1]
    assert len(set(inputs[0])) > 50
    assert max(map(len, inputs[0])) <= MAX_BYTES


def test_a_failing_input_is_made_small() -> None:
    data = b"x" * 500 + b"[" + b"y" * 500 + b"[" + b"z" * 9
    assert shrunk(data, lambda part: part.count(b"[") == 2) == b"[["
