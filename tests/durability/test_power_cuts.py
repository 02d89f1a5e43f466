"""The power goes in the middle of a sync: nothing that was reported as stored is lost."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from durability import cuts
from durability.disk import Disk
from durability.processes import Forker


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.ci)])
def test_a_power_cut_loses_nothing_that_was_stored(
    count: int, forker: Forker, tmp_path: Path
) -> None:
    outcome = cuts.series(tmp_path / "series", forker, count, count)
    assert outcome.faults == []
    assert outcome.cuts == count


@pytest.mark.ci
def test_without_syncs_a_power_cut_is_seen_to_lose(forker: Forker, tmp_path: Path) -> None:
    """The other tests prove something only if a loss would be seen."""
    outcome = cuts.series(tmp_path / "series", forker, 0, 6, synchronous=False)
    assert outcome.faults != []


def test_a_disk_loses_only_what_was_not_synced(tmp_path: Path) -> None:
    folder = str(tmp_path)
    file, late = f"{folder}/file", f"{folder}/late"
    disk = Disk(tmp_path)
    for note in (
        ("mkdir", folder),
        ("sync folder", str(tmp_path.parent)),
        ("create", file, False),
        ("write", file, 0, b"a" * 1024),
        ("sync", file),
        ("sync folder", folder),
        ("write", file, 0, b"b" * 1024),
        ("create", late, False),
        ("write", late, 0, b"c"),
    ):
        disk.play(note)
    seen: Counter[object] = Counter()
    for seed in range(200):
        found = disk.cut(random.Random(seed))
        assert found[folder] is None
        content = found[file]
        assert content is not None
        assert content[:512] in (b"a" * 512, b"b" * 512)
        assert content[512:] in (b"a" * 512, b"b" * 512)
        seen[content[:1] + content[-1:]] += 1
        seen[found.get(late, "absent")] += 1
    # Old, new, and torn in both ways; a file without its name, without its content, and whole.
    assert set(seen) == {b"aa", b"bb", b"ab", b"ba", "absent", b"", b"c"}
