"""``merestone cut``: chunks, the report on them, and what became of them since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from merestone.cli.main import run

PART = "## {0}\n\nThe {0} is checked every week. Whoever checks the {0} signs in list {1}.\n\n"
GUIDE = "# Boiler house\n\n" + "".join(
    PART.format(noun, number) for number, noun in enumerate(["pump", "valve", "gauge"])
)
LIMITS = ("--strategy", "structure", "--max-tokens", "40", "--min-tokens", "2")


class Cut:
    """Runs ``merestone cut`` in a folder."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._capture.readouterr()
        code = run(["-C", str(self.folder), "cut", *arguments])
        out = self._capture.readouterr()
        return code, out.out, out.err

    def json(self, *arguments: str) -> dict[str, Any]:
        code, out, _ = self(*arguments, "--json")
        assert code == 0
        answer: dict[str, Any] = json.loads(out)
        return answer


@pytest.fixture
def cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cut:
    (tmp_path / "guide.md").write_text(GUIDE)
    (tmp_path / "guide-old.md").write_text(GUIDE.replace("every week", "every month", 1))
    return Cut(tmp_path, capsys)


def test_chunks_are_shown_with_their_boundaries(cut: Cut) -> None:
    code, out, _ = cut("guide.md", *LIMITS)
    assert code == 0
    assert "begins at: document (1.00)" in out
    assert "3 chunks of guide.md (ok)" in out


def test_the_report_is_shown_in_place_of_the_chunks(cut: Cut) -> None:
    code, out, _ = cut("guide.md", *LIMITS, "--report")
    assert code == 0
    assert out.startswith("3 chunks of guide.md, 0 dropped.")
    assert "limit 40" in out
    assert "#" in out
    assert "Covered 100.00% of the text" in out
    assert "0 of       4  headings left at a chunk's end" in out
    assert "begins at" not in out


def test_the_report_names_the_places_of_what_it_found(cut: Cut) -> None:
    code, out, _ = cut("guide.md", "--strategy", "fixed", "--max-tokens", "12", "--report")
    assert code == 0
    assert "Where:" in out
    assert "sentences cut, at " in out
    assert ", line 13: Whoever checks the gauge signs in list 2." in out


def test_the_json_always_holds_the_report(cut: Cut) -> None:
    for arguments in ((), ("--report",)):
        answer = cut.json("guide.md", *LIMITS, *arguments)
        assert set(answer) == {"document", "text", "chunks", "dropped", "report"}
        report = answer["report"]
        assert report["chunks"] == len(answer["chunks"]) == 3
        assert report["dropped"] == 0
        assert report["coverage"] == 1.0
        assert report["tokens"]["total"] == sum(chunk["tokens"] for chunk in answer["chunks"])
        assert report["tokens"]["limit"] == 40
        assert report["tallies"]["heading_left"] == {"count": 0, "of": 4, "reconnected": 0}
        assert report["findings"] == []


def test_what_became_of_each_chunk_of_an_older_file(cut: Cut) -> None:
    answer = cut.json("guide.md", *LIMITS, "--since", "guide-old.md")
    assert answer["document"] == "guide.md"
    assert answer["since"] == "guide-old.md"
    assert answer["counts"] == {"same": 2, "moved": 0, "changed": 1, "gone": 0, "new": 0}
    assert answer["new"] == []
    chunks = cut.json("guide.md", *LIMITS)["chunks"]
    assert [change["to"] for change in answer["changes"]] == [[chunk["id"]] for chunk in chunks]
    assert [change["outcome"] for change in answer["changes"]] == ["changed", "same", "same"]
    code, out, _ = cut("guide.md", *LIMITS, "--since", "guide-old.md")
    assert code == 0
    first, *lines = out.splitlines()
    assert first == (
        "Chunks of guide-old.md in guide.md: 2 same, 0 moved, 1 changed, 0 gone; 0 new."
    )
    assert len(lines) == 1
    assert lines[0].split()[0] == "changed"
    assert chunks[0]["id"][:12] in lines[0]


def test_new_and_gone_chunks_are_told(cut: Cut) -> None:
    (cut.folder / "guide.md").write_text(
        GUIDE.replace(PART.format("valve", 1), "") + PART.format("flue", 9)
    )
    _, out, _ = cut("guide.md", *LIMITS, "--since", "guide-old.md")
    kinds = [line.split()[0] for line in out.splitlines()[1:]]
    assert {"gone", "new"} <= set(kinds)


def test_report_and_since_are_asked_for_apart(cut: Cut) -> None:
    code, _, err = cut("guide.md", "--since", "guide-old.md", "--report")
    assert code == 2
    assert "ask for one of them" in err


def test_an_older_version_that_is_not_there_is_an_error(cut: Cut) -> None:
    code, _, err = cut("guide.md", "--since", "nowhere.md")
    assert code == 2
    assert "nowhere.md" in err
