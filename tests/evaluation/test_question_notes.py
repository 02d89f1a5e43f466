"""What is said of questions before anyone believes their scores."""

from __future__ import annotations

import os
from pathlib import Path

from evaluation.small_library import CARRY, small_library

from merestone import Library, evaluate
from merestone.evaluation.gold.freshness import freshness_notes
from merestone.evaluation.gold.notes import question_notes
from merestone.evaluation.questions import Evidence, Question

PIERS = "# Piers\n\n" + "".join(
    f"## Pier {number}\n\nThe lamp of pier {number} is green, and burns from dusk to dawn.\n\n"
    for number in range(30)
)
WHOLE = Question("piers", "Which lamps are green?", (Evidence("piers.md"),))


def stale(library: Library) -> list[str]:
    with library.snapshot() as snapshot:
        return freshness_notes(snapshot, [CARRY], library.settings.sources)


def test_files_that_changed_after_the_last_sync_are_told(tmp_path: Path) -> None:
    with small_library(tmp_path) as library:
        path = tmp_path / "leave.md"
        before = path.read_text()
        assert stale(library) == []
        os.utime(path, (1, 1))
        assert stale(library) == []
        path.write_text(before.replace("March", "April"))
        assert len(path.read_text()) == len(before)
        (note,) = stale(library)
        assert "leave.md" in note
        assert "merestone sync" in note
        assert note in evaluate(library, [CARRY], budgets=[100]).warnings
        path.unlink()
        assert stale(library) == [note]


def test_whole_documents_as_answers_are_told_where_no_passage_is_one(tmp_path: Path) -> None:
    short = Question("leave", "What of leave?", (Evidence("leave.md"),))
    judged = Question("lamps", "Lamps?", (Evidence("piers.md", grade=0),))
    documents = {"piers.md": PIERS, "leave.md": "# Leave\n\nLeave is given.\n"}
    with small_library(tmp_path, documents, chunking={"max_tokens": 64}) as library:
        with library.snapshot() as snapshot:
            sources = library.settings.sources
            assert question_notes(snapshot, [short, judged, CARRY], sources) == ()
            (note,) = question_notes(snapshot, [WHOLE, short], sources)
        assert note.startswith("1 of 2 questions names a whole document")
        run = evaluate(library, [WHOLE, short], budgets=[100])
    assert note in run.warnings
    result = next(each for each in run.results if each.id == "piers")
    assert "All of it is the answer" in result.detail
