"""How likely a hit is to hold an answer, and saying that nothing does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone import Library, SettingsError
from merestone.retrieval.ranking import Signals
from merestone.retrieval.relevance import (
    BY_BOTH,
    BY_WORDS,
    NOTHING_BELOW,
    Calibration,
    relevance,
    shown_relevance,
    verdict_of,
)
from merestone.retrieval.signals import word_weights
from merestone.text.analysis import query_terms
from merestone.types import TermCounts

_SHARES = st.floats(0, 1)
_SIGNALS = st.builds(Signals, _SHARES, _SHARES, st.floats(-1, 2))

HANDBOOK = {
    "leave.md": "# Leave\n\nUnused leave may be carried over until the end of March.\n",
    "pump.md": "# Pump\n\nThe pump runs at 40 bar. The valve opens at 12 bar.\n",
    "errors.md": "# Errors\n\nERR_CONN_42 means that the connection was lost.\n",
    "travel.md": "# Travel\n\nTrains are booked by the office. Flights need an approval.\n",
    "visitors.md": "# Visitors\n\nVisitors sign the book at the gate and wear a badge.\n",
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def words(tmp_path: Path) -> Iterator[Library]:
    """A library whose embedder knows no meaning."""
    with Library.open(written(tmp_path, HANDBOOK), embedding={"model": "hashing"}) as library:
        library.sync()
        yield library


@pytest.fixture(scope="module")
def meaning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = written(tmp_path_factory.mktemp("meaning"), HANDBOOK)
    with Library.open(folder, embedding={"threads": 1}) as library:
        library.sync()
        yield library


@pytest.mark.parametrize("calibration", [BY_BOTH, BY_WORDS])
@given(_SIGNALS, _SIGNALS)
def test_more_words_and_more_likeness_never_lower_it(
    calibration: Calibration, one: Signals, other: Signals
) -> None:
    likeness = max(one.likeness or 0.0, other.likeness or 0.0)
    one = one._replace(likeness=one.likeness or 0.0)
    more = Signals(max(one.words, other.words), max(one.near, other.near), likeness)
    assert 0 <= relevance(calibration, one) <= relevance(calibration, more) <= 1


@given(_SIGNALS, _SIGNALS, st.floats(-3, 3), st.floats(0.1, 3))
def test_a_recalibration_keeps_the_order(
    one: Signals, other: Signals, intercept: float, slope: float
) -> None:
    plain = relevance(BY_BOTH, one) - relevance(BY_BOTH, other)
    moved = relevance(BY_BOTH, one, (intercept, slope)) - relevance(
        BY_BOTH, other, (intercept, slope)
    )
    assert plain * moved >= 0


def test_an_answer_is_told_from_what_only_ranks_first(meaning: Library) -> None:
    found = meaning.search("At what pressure does the valve open?")
    assert found.hits[0].citation.document == "pump.md"
    assert found.verdict == "answered"
    assert not found.notes
    lost = meaning.search("What is the capital of Mongolia?")
    assert lost.hits
    assert lost.hits[0].relevance is not None
    assert lost.verdict == "nothing"
    assert lost.notes == (
        "Nothing here seems to answer this: the best hit has a relevance of "
        f"{shown_relevance(lost.hits[0].relevance)}.",
    )
    # Scores rank within a question: that of the best hit says nothing.
    assert lost.hits[0].score > 0.3


def test_context_says_the_same_as_search(meaning: Library) -> None:
    for query in ("carry leave over to next year", "capital of Mongolia"):
        hits = meaning.search(query, k=3)
        passages = meaning.context(query, budget=300)
        assert passages.verdict == hits.verdict
        best = {hit.chunk.id: hit.relevance for hit in hits.hits}
        assert passages.passages[0].relevance in best.values()


def test_the_verdict_does_not_depend_on_how_many_hits_are_wanted(words: Library) -> None:
    for query in ("valve pressure in bar", "capital of Mongolia"):
        verdicts = {words.search(query, k=k).verdict for k in (1, 3, 50)}
        assert len(verdicts) == 1


def test_the_same_question_gets_the_same_relevance(words: Library) -> None:
    first, second = (words.search("pump valve bar", k=5) for _ in range(2))
    assert [hit.relevance for hit in first.hits] == [hit.relevance for hit in second.hits]


def test_documents_about_something_else_change_it_little(words: Library, tmp_path: Path) -> None:
    queries = ("valve pressure in bar", "carry unused leave over", "ERR_CONN_42", "city of Ulm")
    before = {query: words.search(query, mode="lexical") for query in queries}
    for number in range(60):
        text = f"Minutes {number}: the council met, discussed the budget of the school and left.\n"
        (tmp_path / f"minutes{number}.txt").write_text(text)
    words.sync()
    for query, old in before.items():
        new = words.search(query, mode="lexical")
        assert new.verdict == old.verdict
        if old.hits:
            assert new.hits[0].chunk.id == old.hits[0].chunk.id
            assert new.hits[0].relevance == pytest.approx(old.hits[0].relevance, abs=0.05)


def test_a_word_that_every_document_holds_still_says_something(tmp_path: Path) -> None:
    pumps = {f"{n}.txt": f"The pump number {n} runs at {n} bar.\n" for n in range(12)}
    with Library.open(written(tmp_path, pumps), embedding={"model": "hashing"}) as library:
        library.sync()
        assert library.search("pump bar").verdict == "answered"
        assert library.search("Who painted the ceiling?").verdict == "nothing"


def test_common_words_alone_are_answered_by_nothing() -> None:
    counts = TermCounts(10_000, {"the": 9_000, "of": 8_000, "pump": 10})
    common = word_weights(counts, query_terms("of the"), "of the")
    rare = word_weights(counts, query_terms("pump"), "pump")
    assert sum(common.values()) < 0.5
    assert rare["pump"] > 5


def test_an_identifier_weighs_more_than_the_words_around_it() -> None:
    counts = TermCounts(1000, {})
    query = "ERR_CONN_42 meaning"
    weights = word_weights(counts, query_terms(query), query)
    assert weights["err_conn_42"] == 2 * weights["mean"] == 4 * weights["conn"]


def test_an_identifier_that_is_not_there_is_answered_by_nothing(meaning: Library) -> None:
    assert meaning.search("ERR_CONN_42").verdict == "answered"
    lost = meaning.search("XK_UNKNOWN_77")
    assert not lost.hits
    assert lost.verdict == "nothing"
    assert "nothing was found" in lost.notes[-1]


def test_min_relevance_leaves_out_what_is_below(words: Library) -> None:
    query = "pump valve bar"
    every = words.search(query, k=5).hits
    least = 0.1
    with Library.open(
        words.settings.root, embedding={"model": "hashing"}, retrieval={"min_relevance": least}
    ) as library:
        result = library.search(query, k=5, explain=True)
        assert [hit.chunk.id for hit in result.hits] == [
            hit.chunk.id for hit in every if (hit.relevance or 0) >= least
        ]
        stages = {entry["stage"]: entry for entry in result.trace}
        removed = [row for row in stages["candidates"]["ranked"] if not row["returned"]]
        assert removed
        assert all("is below" in row["removed_by"] for row in removed)
        context = library.context(query, budget=500)
        assert {passage.document for passage in context.passages} == {"pump.md"}
        assert any("is below" in left.reason for left in context.left_out)
        nothing = library.search("capital of Mongolia", k=5)
        assert nothing.hits == ()
        assert nothing.verdict == "nothing"


def test_a_trace_says_what_relevance_is_read_off(meaning: Library) -> None:
    result = meaning.search("pressure of the valve", explain=True)
    stages = {entry["stage"]: entry for entry in result.trace}
    assert stages["relevance"]["basis"] == "both"
    assert stages["relevance"]["verdict"] == result.verdict
    row = stages["candidates"]["ranked"][0]["relevance"]
    assert set(row) == {"value", "words", "near", "likeness"}
    by_words = meaning.search("pressure of the valve", mode="lexical", explain=True)
    stages = {entry["stage"]: entry for entry in by_words.trace}
    assert stages["relevance"]["basis"] == "words"


def test_a_question_in_a_script_that_the_model_does_not_know_is_judged_by_words(
    meaning: Library,
) -> None:
    result = meaning.search("有給休暇の繰り越し", mode="dense", explain=True)
    stages = {entry["stage"]: entry for entry in result.trace}
    assert stages["relevance"]["basis"] == "words"
    assert result.verdict == "nothing"


@pytest.mark.parametrize("numbers", [[1.0], [0.0, 0.0], [0.0, -1.0], [1.0, 2.0, 3.0]])
def test_a_recalibration_is_an_intercept_and_a_slope(tmp_path: Path, numbers: list[float]) -> None:
    with pytest.raises(SettingsError, match="relevance"):
        Library.open(tmp_path, retrieval={"relevance": numbers})


def test_a_recalibration_of_the_library_is_applied(words: Library) -> None:
    before = words.search("pump valve bar").hits[0].relevance
    with Library.open(
        words.settings.root, embedding={"model": "hashing"}, retrieval={"relevance": [2.0, 1.0]}
    ) as library:
        after = library.search("pump valve bar").hits[0].relevance
    assert before is not None
    assert after is not None
    assert after > before


def test_where_the_scale_of_an_embedder_is_not_known_nothing_is_said(
    words: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merestone.retrieval.relevance.scale_of", lambda *_: None)
    result = words.search("pump valve bar")
    assert result.hits
    assert {hit.relevance for hit in result.hits} == {None}
    assert result.verdict is None
    assert words.context("pump valve bar", budget=100).verdict is None
    # By words alone no scale is needed.
    assert words.search("pump valve bar", mode="lexical").verdict == "answered"


def test_verdicts_go_by_the_best_hit() -> None:
    assert verdict_of(None) == "nothing"
    assert verdict_of(NOTHING_BELOW - 0.001) == "nothing"
    assert verdict_of(NOTHING_BELOW) == "unsure"
    assert verdict_of(0.9) == "answered"
