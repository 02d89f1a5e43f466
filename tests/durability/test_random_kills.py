"""Death at any moment, while another process reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from durability import kills
from durability.processes import Forker


@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 4), pytest.param(1, 50, marks=pytest.mark.ci)],
)
def test_killed_syncs_leave_no_half_document(
    seed: int, count: int, forker: Forker, tmp_path: Path
) -> None:
    outcome = kills.series(tmp_path / "series", forker, seed, count)
    assert outcome.faults == []
    assert outcome.kills >= count
    assert outcome.snapshots > 0
