"""A process that dies at any point leaves a sound library, and the next one finishes its work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from storage import crash_scenario
from storage.building import contents

from merestone.storage import faults
from merestone.storage.engine import SQLiteStore
from merestone.types import OWNER

# Most points are passed once a batch: die in the last one, which makes every kind of change, and
# given more time in the first two as well.
FAULTS = [f"{point}:6" for point in faults.TRANSACTION] + ["before-merge", "after-merge"]
MORE_FAULTS = [f"{point}:{count}" for point in faults.TRANSACTION for count in (1, 2)]


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize(
    "fault", FAULTS + [pytest.param(fault, marks=pytest.mark.ci) for fault in MORE_FAULTS]
)
def test_a_killed_writer_harms_nothing(tmp_path: Path, fault: str) -> None:
    state = tmp_path / "state"
    child = subprocess.run(
        [sys.executable, "-m", "storage.crash_scenario", str(state)],
        env={
            **os.environ,
            "MERESTONE_FAULT": fault,
            "PYTHONPATH": str(Path(__file__).parent.parent),
        },
        check=False,
        timeout=120,
    )
    assert child.returncode == -signal.SIGKILL
    store = SQLiteStore(state)
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.check() == []
        point, _, count = fault.partition(":")
        batches = int(count or 6)
        whole = point in ("after-commit", "before-merge", "after-merge")
        assert snapshot.library_version == batches - (not whole)
    crash_scenario.run(store)
    fresh = SQLiteStore(tmp_path / "fresh")
    crash_scenario.run(fresh)
    assert contents(store) == contents(fresh)
    with store.snapshot(OWNER) as snapshot:
        assert snapshot.check() == []
    store.close()
    fresh.close()


def test_a_point_that_is_not_asked_for_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append(number))
    monkeypatch.delenv("MERESTONE_FAULT", raising=False)
    faults.reach("before-commit")
    monkeypatch.setenv("MERESTONE_FAULT", "after-commit:2")
    monkeypatch.setattr(faults, "_reached", type(faults._reached)())
    for name in ("before-commit", "after-commit", "before-commit"):
        faults.reach(name)
    assert killed == []
    faults.reach("after-commit")
    assert len(killed) == 1
