"""How far a long run says that it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from merestone import Library
from merestone.cli.progress import shown_progress
from merestone.types import Progress


def test_the_time_left_goes_by_the_work_and_not_by_the_documents(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with shown_progress(quiet=False) as show:
        for seconds, done, share in ((0, 0, 0.0), (30, 9, 0.25), (60, 9, 0.5), (90, 9, 0.75)):
            clock[0] = float(seconds)
            show(Progress("embed", done, 10, 1, 100, "", share))
        show(Progress("stored", 10, 10, 1, 100, "", 1.0))
        show(Progress("evaluate", 0, 4))
        clock[0] = 100.0
        show(Progress("evaluate", 1, 4))
    told = capsys.readouterr().err.splitlines()
    left = [line.rpartition(", ")[2] for line in told if line.endswith("left")]
    assert left == ["about 90 s left", "about 60 s left", "about 30 s left", "about 30 s left"]


def test_a_sync_says_how_far_it_is_within_a_batch(tmp_path: Path) -> None:
    sentences = [f"Valve {number} of the plant is closed in autumn.\n\n" for number in range(900)]
    (tmp_path / "a.md").write_text("# Short\n\nOne sentence stands here.\n")
    (tmp_path / "b.md").write_text("# Long\n\n" + "".join(sentences))
    seen: list[Progress] = []
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        library.sync(progress=seen.append)
    moments = [(each.done, each.share) for each in seen if each.total]
    shares = [share for _, share in moments if share is not None]
    assert len(shares) == len(moments)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len({share for done, share in moments if done == 0}) > 2
