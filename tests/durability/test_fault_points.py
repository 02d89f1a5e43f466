"""Death at each named point, in each kind of sync: the next sync finishes the work."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from durability import documents
from durability.libraries import SLICE, contents, given, open_library, some
from durability.processes import Forker

from merestone.storage import faults

SCENARIOS = ("first build", "changes", "other settings", "another embedder")
CREATION = ("before-create", "after-create")
FLIP = ("before-flip", "after-flip", "before-drop", "after-drop")
ANOTHER = "another embedder"
CASES = [
    (scenario, point)
    for scenario in SCENARIOS
    for point in faults.POINTS
    if (scenario == "first build" or point not in CREATION)
    and (scenario == ANOTHER or point not in FLIP)
]
QUICK = {
    ("changes", "after-read"),
    ("changes", "after-embed"),
    ("changes", "after-cache"),
    ("changes", "after-dense"),
    ("changes", "before-commit"),
    ("changes", "after-commit"),
    ("changes", "before-merge"),
}
"""Of each kind of point one; the others are for CI, and those of other times on demand."""


def tier(case: tuple[str, str], when: str) -> list[pytest.MarkDecorator]:
    if when != "middle":
        return [pytest.mark.long]
    return [] if case in QUICK else [pytest.mark.ci]


@dataclass(frozen=True)
class Scenario:
    """A folder before a sync, and what that sync gives if nothing goes wrong."""

    before: Path
    settings: dict[str, Any]
    """Arguments of :func:`open_library`."""
    passed: dict[str, int]
    """Point → how often."""
    embedded: frozenset[str]
    words: list[str]
    after: dict[str, Any]
    """Contents of a library that was built afresh."""


@pytest.fixture(scope="session")
def scenario(forker: Forker, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Scenario]:
    made: dict[str, Scenario] = {}

    def make(name: str) -> Scenario:
        if name not in made:
            made[name] = _make(name, forker, tmp_path_factory.mktemp("scenario"))
        return made[name]

    return make


def _make(name: str, forker: Forker, folder: Path) -> Scenario:
    before = folder / "before"
    before.mkdir()
    documents.make(before)
    settings: dict[str, Any] = {}
    if name != "first build":
        assert forker.run("sync", root=str(before), log=str(folder / "ignored")) == 0
    if name == "changes":
        documents.change(before)
    if name == "other settings":
        settings = {"chunking": documents.SMALLER}
    if name == ANOTHER:
        settings = {"on_overlong": "truncate"}
    counted, log, answer = folder / "counted", folder / "log", folder / "answer"
    shutil.copytree(before, counted)
    job = {"root": str(counted), "log": str(log), "answer": str(answer), **settings}
    assert forker.run("count", **job) == 0
    fresh = folder / "fresh"
    shutil.copytree(before, fresh, ignore=shutil.ignore_patterns(".merestone"))
    words = some(documents.words_of(fresh))
    with open_library(fresh, **settings) as library:
        library.sync()
        after = contents(library, words)
    assert after["faults"] == []
    passed = json.loads(answer.read_text())
    return Scenario(before, settings, passed, frozenset(given(log)), words, after)


@pytest.mark.ci
def test_every_point_is_passed_in_every_scenario(scenario: Callable[[str], Scenario]) -> None:
    for name in SCENARIOS:
        expected = {point for which, point in CASES if which == name}
        assert set(scenario(name).passed) == expected


@pytest.mark.parametrize(
    ("name", "point", "when"),
    [
        pytest.param(*case, when, marks=tier(case, when))
        for case in CASES
        for when in ("middle", "first", "last")
    ],
)
def test_a_killed_sync_is_finished_by_the_next(
    name: str,
    point: str,
    when: str,
    scenario: Callable[[str], Scenario],
    forker: Forker,
    tmp_path: Path,
) -> None:
    case = scenario(name)
    times = {"first": 1, "middle": (case.passed[point] + 1) // 2, "last": case.passed[point]}
    if (when == "first" and times["middle"] == 1) or (
        when == "last" and times["middle"] == times[when]
    ):
        pytest.skip("passed too seldom: the same as the middle")
    root, log, answer = tmp_path / "root", tmp_path / "log", tmp_path / "answer"
    shutil.copytree(case.before, root)
    job = {"root": str(root), "log": str(log), "answer": str(answer), **case.settings}
    fault = f"{point}:{times[when]}"
    assert forker.run("sync", fault=fault, **job) == -signal.SIGKILL
    assert forker.run("sync", **job) == 0
    version = json.loads(answer.read_text())["library_version"]

    embedded = given(log)
    assert set(embedded) == case.embedded
    assert len(embedded) - len(case.embedded) <= SLICE
    with open_library(root, **case.settings) as library:
        assert contents(library, case.words) == case.after

    assert forker.run("sync", **job) == 0
    assert json.loads(answer.read_text())["library_version"] == version
    assert given(log) == embedded
