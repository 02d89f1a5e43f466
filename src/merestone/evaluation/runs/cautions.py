"""What a reader of a run should beware of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merestone.evaluation.measures.spans import at
from merestone.evaluation.runs.scoring import Scored
from merestone.evaluation.runs.values import QuestionResult, people_first
from merestone.evaluation.statistics.intervals import FEWEST_TOLD

_FEW = 30
"""Questions below which little can be told."""
_CEILING = 0.97
_WHOLE = 1.2
"""Chunks per document up to which cutting decides nothing."""
_OFTEN = 0.1
"""Share of questions from which a note of their answers, such as a reranker that failed, tells of
the run and not of a question."""
_NAMED = 5
_MISSING = 0.2
"""Share of questions without their documents from which something else is wrong."""


def cautions(
    results: Sequence[QuestionResult], scored: Scored, main: str, costs: Mapping[str, float]
) -> tuple[str, ...]:
    """Warnings in words, the weightiest first."""
    asked = [result for result in results if not result.made]
    made = len(results) - len(asked)
    found: list[str] = []
    counted = people_first(results)
    lost = sum(result.failure in ("not-in-corpus", "no-text") for result in counted)
    if counted and lost / len(counted) >= _MISSING:
        found.append(
            f"In {lost} of {len(counted)} questions a document is missing from the library, or has "
            "no text: are these the questions of this library?"
        )
    if scored.skipped:
        found.append(
            f"{_questions(len(scored.skipped))} not scored, since the text that answers changed: "
            "run `merestone questions check`."
        )
    if len(asked) < _FEW:
        found.append(f"{_reach(len(asked))} About {_FEW} are the least, 100 are good.")
    if made:
        found.append(
            f"{_questions(made)} made by a machine: easier than what people ask, and scored apart."
        )
    full = [result.measures.get(at("FullGold", main)) for result in asked]
    known = [value for value in full if value is not None]
    if known and sum(known) / len(known) >= _CEILING:
        found.append(
            f"Nearly every answer is found whole at {main}: these questions are too easy to tell "
            "two configurations apart. Add harder ones, or measure at a smaller budget."
        )
    refused = [result.id for result in counted if result.id in scored.refused]
    if refused:
        answered = sum(result.has_answer for result in counted)
        names = ", ".join(refused[:_NAMED]) + (", …" if len(refused) > _NAMED else "")
        found.append(
            f"Of {answered} questions with an answer {len(refused)} were told that nothing here "
            f"seems to answer them: {names}."
        )
    documents = costs.get("documents", 0)
    if documents and costs["chunks"] <= _WHOLE * documents:
        found.append("Nearly every document is one chunk, so that cutting decides nothing here.")
    found += [
        f"{count} of {len(results)} questions: {note}"
        for note, count in scored.notes.most_common()
        if count >= _OFTEN * len(results)
    ]
    return tuple(found)


def _reach(count: int) -> str:
    """What so few questions can tell at best."""
    if count < FEWEST_TOLD:
        return (
            f"{_questions(count)} too few to tell any difference from chance: at least "
            f"{FEWEST_TOLD} have to change, all to one side."
        )
    points = 100 * FEWEST_TOLD / count
    return (
        f"{_questions(count)} few: {FEWEST_TOLD} at least have to change, all to one side, to be "
        f"told from chance. Of whole answers that is a difference of {points:.0f} points."
    )


def _questions(count: int) -> str:
    """``1 question is``, ``7 questions are``."""
    return f"{count} question is" if count == 1 else f"{count} questions are"
