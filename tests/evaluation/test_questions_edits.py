"""Gold through random edits of real documents, held against what is known to have happened."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from evaluation.desk import Desk
from text.edited import Trial, is_ambiguous, is_as_good, trial

from merestone.evaluation.gold.checking import CheckedEvidence
from merestone.evaluation.questions import Question


def judged(made: Trial, found: CheckedEvidence) -> str:
    """Whether what the check says is what happened."""
    truth, new = made.truth(), made.edited.text
    span = found.anchored.span
    if found.outcome not in ("same", "moved"):
        return "unsure" if truth and not is_ambiguous(made) else "right"
    assert span is not None
    assert found.now is not None
    assert new[span.start : span.end] == made.quote == found.now.quote
    assert (found.outcome == "same") == (span.start == made.start)
    inside = sum(
        max(0, min(start + length, span.end) - max(start, span.start))
        for start, _, length in made.edited.places(made.start, made.end)
    )
    if truth == (span.start, span.end) or 2 * inside >= len(made.quote):
        return "right"
    return "undecidable" if is_as_good(made, span.start) else "wrong"


def run_trials(folder: Path, texts: list[str], count: int, seed: int) -> Counter[str]:
    """Each trial is a document of its own, edited once; two syncs in all."""
    trials = {}
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        trials[f"{number}.txt"] = trial(chance.choice(texts), chance, twins=False)
    desk = Desk(folder, chunking={"strategy": "fixed"})
    desk.write({name: made.edited.old for name, made in trials.items()})
    questions = []
    with desk.library.snapshot() as snapshot:
        versions = {record.id: record.version for record in snapshot.records()}
    for name, made in trials.items():
        evidence = desk.place_of(name, made.start, made.end, made.edited.old, versions[name])
        questions.append(Question(name, "Where?", (evidence,)))
    desk.write({name: made.edited.text for name, made in trials.items()})
    report = desk.check(questions)
    desk.library.close()
    found: Counter[str] = Counter()
    for item in report.questions:
        verdict = judged(trials[item.question.id], item.evidence[0])
        assert verdict != "wrong", (seed, item.question.id)
        found[verdict] += 1
    return found


@pytest.fixture(scope="session")
def real_texts(bench_data: Path) -> list[str]:
    """Real documents of a page or two."""
    paths = [*(bench_data / "samples").rglob("*.md"), *(bench_data / "corpus" / "md").rglob("*.md")]
    found = [path.read_text("utf-8", "replace") for path in sorted(paths)]
    # As they are stored: other line ends would shift what the trials count.
    return [text for text in found if 1000 < len(text) < 8000 and "\r" not in text]


def test_gold_is_followed_through_random_edits(tmp_path: Path, real_texts: list[str]) -> None:
    found = run_trials(tmp_path, real_texts, 20, 0)
    assert found["right"] + found["undecidable"] >= 19


@pytest.mark.ci
def test_of_200_random_edits_nearly_all_are_right_and_none_silently_wrong(
    tmp_path: Path, real_texts: list[str]
) -> None:
    found = run_trials(tmp_path, real_texts, 200, 1)
    assert found["right"] + found["undecidable"] >= 198
