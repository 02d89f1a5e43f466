"""Each way in which an answer is lost, in the smallest library that has it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from evaluation.small_library import CARRY, HANDBOOK, NOTHING, asking, small_library

from merestone import evaluate
from merestone.evaluation.gold.values import AnchorOutcome
from merestone.evaluation.questions import Evidence, Question
from merestone.evaluation.runs.failures import FAILURES
from merestone.evaluation.runs.values import QuestionResult
from merestone.types.codes import explain

PIERS = {
    f"pier{number}.md": f"# Pier {number}\n\nThe lamp of pier {number} is green.\n"
    for number in range(9)
}
LAST_PIER = asking("pier", "lamp pier green", ("pier8.md", "The lamp of pier 8 is green."))


def lost(
    root: Path,
    question: Question,
    documents: Mapping[str, str] = HANDBOOK,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
    **how: Any,
) -> QuestionResult:
    with small_library(root, documents, **(tables or {})) as library:
        (result,) = evaluate(library, [question], **how).results
    return result


def test_what_is_served_whole_is_no_failure(tmp_path: Path) -> None:
    result = lost(tmp_path, CARRY)
    assert (result.failure, result.detail, result.failures) == (None, "", {})


def test_a_document_that_is_missing(tmp_path: Path) -> None:
    result = lost(tmp_path, asking("q", "Any?", ("gone.md", "words")))
    assert result.failure == "not-in-corpus"
    assert "gone.md" in result.detail


def test_a_document_without_text(tmp_path: Path) -> None:
    result = lost(
        tmp_path, asking("q", "Any?", ("blank.md", "words")), {**HANDBOOK, "blank.md": ""}
    )
    assert result.failure == "no-text"
    assert "blank.md" in result.detail
    assert "empty" in result.detail


def test_text_that_no_chunk_holds(tmp_path: Path) -> None:
    page = (
        "<html><body><nav><ul><li><a href='/a'>Harbour home</a></li><li><a href='/b'>Harbour "
        "map</a></li></ul></nav><main><h1>Piers</h1><p>The pier has nine lamps.</p></main>"
        "</body></html>"
    )
    result = lost(
        tmp_path, asking("q", "nine lamps", ("page.html", "Harbour map")), {"page.html": page}
    )
    assert result.failure == "not-indexed"
    assert "No chunk holds page.html#" in result.detail


def test_a_scope_that_leaves_the_answer_out(tmp_path: Path) -> None:
    result = lost(tmp_path, replace(CARRY, scope=("travel.md",)))
    assert result.failure == "filtered"
    assert result.detail == "The question's scope leaves leave.md out."


def test_a_filter_that_leaves_the_answer_out(tmp_path: Path) -> None:
    result = lost(tmp_path, CARRY, where="document = 'travel.md'")
    assert result.failure == "filtered"
    assert result.detail == "The filter leaves leave.md out."
    assert lost(tmp_path, CARRY, where="document = 'leave.md'").failure is None


def test_a_chunk_that_is_refused_for_its_relevance(tmp_path: Path) -> None:
    tables = {"retrieval": {"min_relevance": 1.0}}
    result = lost(tmp_path, CARRY, tables=tables, mode="lexical", budgets=[500])
    assert result.failures == dict.fromkeys(("5", "500t", "precise"), "filtered")
    assert re.search(r"was found, and its relevance of 0\.\d\d is below 1\.", result.detail)


def test_a_chunk_that_others_rank_before(tmp_path: Path) -> None:
    tables = {"retrieval": {"collapse": False}}
    result = lost(tmp_path, LAST_PIER, PIERS, tables, k=2, budgets=[500])
    assert result.failures == {"2": "outranked"}
    # In the main view, the budget, all of them fit.
    assert result.failure is None
    result = lost(tmp_path, LAST_PIER, PIERS, tables, k=2, views=["search"])
    assert result.failure == "outranked"
    assert re.fullmatch(r"The chunk of pier8\.md#10-38 ranks at [3-9]\.", result.detail)


def test_a_chunk_far_behind_all_candidates(tmp_path: Path) -> None:
    lamps = {f"lamp{number:02}.md": f"Lamp lamp {number}.\n" for number in range(60)}
    documents = {**lamps, "pier.md": "The pier stands on nine pillars of oak, and a lamp.\n"}
    question = asking("q", "lamp", ("pier.md", "nine pillars"))
    tables = {"retrieval": {"collapse": False}}
    result = lost(tmp_path, question, documents, tables, mode="lexical", budgets=[1000])
    assert result.failure == "outranked"
    assert "ranks at 61 (by meaning not found, by words 61)" in result.detail
    question = replace(question, question="oar")
    result = lost(tmp_path, question, documents, tables, mode="lexical", budgets=[1000])
    assert result.failure == "outranked"
    assert "not among the first 1,000" in result.detail


def test_a_copy_that_stands_for_the_answer(tmp_path: Path) -> None:
    text = "# Lamps\n\nThe lamps of all piers are green, and burn from dusk until dawn.\n"
    question = asking("q", "When do lamps burn?", ("b.md", "from dusk until dawn"))
    result = lost(tmp_path, question, {"a.md": text, "b.md": text})
    assert result.failure == "copy-served"
    assert "a.md#0-" in result.detail
    both = replace(
        question, match="any", evidence=(*question.evidence, Evidence("a.md", quote="until dawn"))
    )
    assert lost(tmp_path, both, {"a.md": text, "b.md": text}).failure is None


LONG = " ".join(f"Lamp {number} of the pier burns at night." for number in range(40))


def test_a_cut_through_the_answer(tmp_path: Path) -> None:
    # One piece has the words of the question, the other has none of them.
    lamps = " ".join(f"Lamp {number} burns at night." for number in range(12))
    boats = " ".join(f"Boat {number} sails by day." for number in range(12))
    question = asking("q", "Lamp burns night", ("a.md", f"{lamps[-150:]} {boats}"))
    fillers = {f"f{number}.md": f"Lamp {number} burns every night.\n" for number in range(5)}
    tables = {"chunking": {"max_tokens": 64, "torn_overlap_tokens": 0}}
    documents = {"a.md": f"{lamps} {boats}\n", **fillers}
    result = lost(tmp_path, question, documents, tables, mode="lexical", views=["search"])
    assert result.failure == "cut-by-boundary"
    assert re.search(r"parted over [23] chunks; [12] of them came in", result.detail)


def test_what_does_not_fit_into_the_budget(tmp_path: Path) -> None:
    question = asking("q", "lamp 7", ("a.md", LONG))
    result = lost(tmp_path, question, {"a.md": f"{LONG}\n"}, budgets=[40], k=50)
    assert result.failure == "dropped-by-budget"
    assert ": its next part needs " in result.detail


def test_why_the_budget_did_not_do_is_said_so_that_it_can_be_understood(tmp_path: Path) -> None:
    boats = "\n".join(f"- Boat {n} sails by day." for n in range(9))
    text = f"The pier has nine lamps.\n\n{boats}"
    question = asking("q", "How many lamps?", ("a.md", "Boat 7 sails by day."))
    part = lost(tmp_path / "part", question, {"a.md": f"{text}\n"}, budgets=[25])
    assert part.failure == "dropped-by-budget"
    told = re.fullmatch(
        r"a\.md#\d+-\d+ was found, and only a part of its chunk was served: its next part needs "
        r"(\d+) tokens, (\d+) of the budget (is|are) left\.",
        part.detail,
    )
    assert told
    assert int(told[1]) > int(told[2])
    nothing = lost(tmp_path / "nothing", question, {"a.md": f"{text}\n"}, budgets=[2])
    assert re.search(
        r"was found, and nothing of it was served: its next part needs \d+ tokens, more than the "
        r"whole budget of 2\.$",
        nothing.detail,
    )


def test_passages_for_a_question_that_nothing_answers(tmp_path: Path) -> None:
    result = lost(tmp_path, NOTHING)
    assert result.failure == "answered-falsely"
    assert result.measures["NoAnswer@1000t"] == 0
    nothing = lost(tmp_path, replace(NOTHING, question="Zugspitze?"), mode="lexical")
    assert nothing.failure is None
    assert nothing.measures["NoAnswer@1000t"] == 1
    assert "FullGold@1000t" not in nothing.measures


def test_the_first_of_several_losses_is_told_with_their_number(tmp_path: Path) -> None:
    question = asking("q", "Any?", ("gone.md", "a"), ("lost.md", "b"), ("leave.md", "of March"))
    result = lost(tmp_path, question)
    assert result.failure == "not-in-corpus"
    assert result.detail == "The library has no document gone.md. Of its gold 1 more is lost."


def test_of_alternatives_only_the_loss_of_all_counts(tmp_path: Path) -> None:
    question = replace(
        asking("q", "unused days", ("gone.md", "a"), ("leave.md", "end of March")), match="any"
    )
    assert lost(tmp_path, question).failure is None
    nowhere = replace(question, evidence=question.evidence[:1])
    assert lost(tmp_path, nowhere).failure == "not-in-corpus"


def test_what_became_of_evidence_is_explained_too() -> None:
    for outcome in get_args(AnchorOutcome):
        assert ". " in explain(outcome)


@pytest.mark.parametrize("failure", FAILURES)
def test_every_class_has_words_and_a_case_here(failure: str) -> None:
    assert FAILURES[failure]  # type: ignore[index]
    assert ". " in explain(failure)
    assert f'"{failure}"' in Path(__file__).read_text()
