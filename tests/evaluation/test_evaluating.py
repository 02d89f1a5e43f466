"""What is measured is what is served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluation.small_library import (
    CARRY,
    HANDBOOK,
    NOTHING,
    TRAINS,
    asking,
    many_documents,
    small_library,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone import Library, SettingsError, evaluate
from merestone.evaluation.measures.spans import SPAN_MEASURES
from merestone.evaluation.questions import Question
from merestone.evaluation.runs.values import PRECISE, SEARCH, Run, Served
from merestone.types import RetrievalSettings, Vectors


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with small_library(tmp_path_factory.mktemp("library"), many_documents()) as made:
        yield made


WORDS = st.sampled_from("leave days trains expire unused desk handbook sentence note".split())


@given(
    st.lists(WORDS, min_size=1, max_size=5),
    st.lists(st.integers(1, 60), min_size=1, max_size=2, unique=True),
    st.lists(st.integers(1, 400), min_size=1, max_size=3, unique=True),
    st.sampled_from(["hybrid", "dense", "lexical"]),
    st.sampled_from(["", "leave.md", "note03.md"]),
    st.fixed_dictionaries(
        {
            "candidates": st.sampled_from([5, 30, 100]),
            "focus": st.booleans(),
            "collapse": st.booleans(),
            "expand": st.sampled_from(["structure", "none", "neighbours:1"]),
        }
    ),
)
@settings(max_examples=8)
def test_a_run_serves_what_the_library_serves(
    library: Library,
    words: list[str],
    ks: list[int],
    budgets: list[int],
    mode: str,
    scope: str,
    tables: dict[str, Any],
) -> None:
    library.settings = replace(library.settings, retrieval=RetrievalSettings(**tables))
    where = f"document in ('{scope}')" if scope else None
    question = asking("q", " ".join(words), scope=(scope,) if scope else ())
    run = evaluate(library, [question], k=ks, budgets=budgets, mode=mode)
    (result,) = run.results
    hits = library.search(question.question, k=max(ks), where=where, mode=mode).hits
    assert spans(result.served[SEARCH]) == [
        (hit.chunk.document, hit.chunk.start, hit.chunk.end, (hit.chunk.id,)) for hit in hits
    ]
    assert [served.score for served in result.served[SEARCH]] == [hit.score for hit in hits]
    for view, budget, precise in [
        *((f"{budget}t", budget, False) for budget in budgets),
        (PRECISE, max(budgets), True),
    ]:
        context = library.context(
            question.question, budget=budget, where=where, mode=mode, precise=precise
        )
        assert spans(result.served[view]) == [
            (passage.document, passage.start, passage.end, passage.chunks)
            for passage in context.passages
        ]


def spans(served: Sequence[Served]) -> list[tuple[str, int, int, tuple[str, ...]]]:
    return [(each.document, each.start, each.end, each.chunks) for each in served]


def test_measures_at_a_smaller_k_are_those_of_a_search_for_so_many(library: Library) -> None:
    questions = [CARRY, TRAINS]
    both = evaluate(library, questions, k=[1, 30], views=["search"])
    alone = evaluate(library, questions, k=1, views=["search"])
    for one, other in zip(both.results, alone.results, strict=True):
        assert {name: one.measures[name] for name in other.measures} == other.measures


def test_a_reranker_orders_what_is_measured(tmp_path: Path) -> None:
    class Longest:
        name = fingerprint = "longest"
        asked = 0

        def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
            self.asked += 1
            return [float(len(text)) for text in texts]

    from merestone.retrieval import Reranking

    with small_library(tmp_path, many_documents()) as library:
        model = Longest()
        reranking = Reranking(model, library.settings.reranking)
        library.__dict__["_reranking"] = reranking
        run = evaluate(library, [CARRY], k=3, budgets=[50, 100])
        asked = model.asked
        hits = library.search(CARRY.question, k=3).hits
        assert [each.chunks[0] for each in run.results[0].served[SEARCH]] == [
            hit.chunk.id for hit in hits
        ]
        # Once for chunks and once for passages, however many budgets there are.
        assert asked == 2
        # Where it orders the hits, no earlier run is taken for this one.
        again = evaluate(library, [CARRY], k=3, budgets=[50, 100], kept=lambda _: run)
        assert again is not run
        assert again.id == run.id
        assert model.asked > asked


def test_the_same_inputs_give_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    questions = [CARRY, TRAINS, NOTHING]
    with small_library(tmp_path / "one") as one, small_library(tmp_path / "two") as two:
        first, second, elsewhere = (evaluate(each, questions) for each in (one, one, two))
        assert without_clock(first) == without_clock(second)
        assert first.id == elsewhere.id
        assert first.measures == elsewhere.measures
        # Another order of the questions is the same evaluation.
        assert evaluate(one, questions[::-1]).id == first.id
        others = [
            evaluate(one, questions, k=3),
            evaluate(one, questions, budgets=[300]),
            evaluate(one, questions, tokenizer="characters"),
            evaluate(one, questions, mode="lexical"),
            evaluate(one, questions, where="document = 'leave.md'"),
            evaluate(one, questions[:2]),
            evaluate(one, questions, as_owner=True),
        ]
        assert len({run.id for run in (first, *others)}) == len(others) + 1


def test_a_change_of_the_documents_or_settings_is_another_run(tmp_path: Path) -> None:
    with small_library(tmp_path) as library:
        before = evaluate(library, [CARRY])
        (tmp_path / "travel.md").write_text("# Travel\n\nBy train.\n")
        library.sync()
        after = evaluate(library, [CARRY])
        assert (after.documents_hash, after.id) != (before.documents_hash, before.id)
        assert after.documents_hash != before.documents_hash
    with small_library(tmp_path, chunking={"max_tokens": 20}) as library:
        assert evaluate(library, [CARRY]).id not in (before.id, after.id)


def without_clock(run: Run) -> Run:
    costs = {name: cost for name, cost in run.costs.items() if name != "seconds_per_question"}
    return replace(run, time="", costs=costs)


def test_questions_are_embedded_once_and_in_one_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_library(tmp_path) as library:
        # Once in the life of a process the scale of likeness is measured.
        library.search(CARRY.question)
        batches: list[list[str]] = []
        embed = library.embedder.embed_queries

        def counted(texts: Sequence[str]) -> Vectors:
            batches.append(list(texts))
            return embed(texts)

        monkeypatch.setattr(library.embedder, "embed_queries", counted)
        questions = [CARRY, TRAINS, NOTHING]
        evaluate(library, questions, k=[1, 5], budgets=[20, 50, 100])
        assert batches == [[question.question for question in questions]]
        evaluate(library, questions, mode="dense")
        assert len(batches) == 1
        evaluate(library, [*questions, asking("new", "Who books hotels?")])
        assert batches[1:] == [["Who books hotels?"]]
    batches.clear()
    with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
        monkeypatch.setattr(library.embedder, "embed_queries", counted)
        evaluate(library, questions)
        assert not batches


def test_a_question_is_searched_once_however_many_views_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import merestone.storage.snapshot as storage

    searches = []
    search = storage.lexical.search
    monkeypatch.setattr(
        storage.lexical, "search", lambda *given: searches.append(1) or search(*given)
    )
    with small_library(tmp_path) as library:
        run = evaluate(library, [CARRY, TRAINS], k=[1, 5], budgets=[100, 200, 300])
        assert {result.failure for result in run.results} == {None}
        assert len(searches) == 2


def test_views_are_named_and_chosen(library: Library) -> None:
    run = evaluate(library, [CARRY], k=[5, 1], budgets=[100, 50])
    assert run.views == ("1", "5", "50t", "100t", "precise")
    assert run.main == "50t"
    assert evaluate(library, [CARRY], budgets=[10, 20, 30]).main == "20t"
    assert list(run.measures) == [
        f"{measure}@{view}" for view in run.views for measure in SPAN_MEASURES
    ]
    searched = evaluate(library, [CARRY], k=2, views=["search"])
    assert (searched.views, searched.main) == (("2",), "2")
    assert set(searched.results[0].served) == {SEARCH}
    assert evaluate(library, [CARRY], budgets=[70], views=["context"]).views == ("70t",)
    assert evaluate(library, [CARRY], views=["precise"]).main == PRECISE
    defaults = library.settings.evaluation
    assert evaluate(library, [CARRY]).views == (
        *map(str, defaults.k),
        *(f"{budget}t" for budget in defaults.budgets),
        "precise",
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"views": ["hits"]}, "unknown-view"),
        ({"views": []}, "unknown-view"),
        ({"budgets": [], "views": ["context"]}, "unknown-view"),
        ({"mode": "vague"}, "unknown-mode"),
        ({"k": 0}, "invalid-k"),
        ({"where": "colour ="}, "invalid-filter"),
        ({"principals": ["user:bob"], "as_owner": True}, "ambiguous-asker"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    library: Library, arguments: dict[str, Any], code: str
) -> None:
    with pytest.raises(SettingsError) as error:
        evaluate(library, [CARRY], **arguments)
    assert error.value.code == code


def test_no_questions_are_no_evaluation(library: Library) -> None:
    with pytest.raises(SettingsError) as error:
        evaluate(library, [])
    assert error.value.code == "no-questions"
    assert "questions" in error.value.remedy


def test_budgets_are_counted_by_the_tokenizer_that_is_named(library: Library) -> None:
    run = evaluate(library, [CARRY], budgets=[120], tokenizer="characters")
    context = library.context(CARRY.question, budget=120, tokenizer="characters")
    (result,) = run.results
    assert run.tokenizer == "characters"
    assert len(result.served["120t"]) == len(context.passages)
    assert [each.tokens for each in result.served["120t"]] == [
        len(passage.text) for passage in context.passages
    ]
    assert result.measures["Tokens@120t"] == sum(len(p.text) for p in context.passages)


def test_few_questions_are_warned_of_by_what_they_could_tell(tmp_path: Path) -> None:
    asked = [replace(CARRY, id=f"q{number}") for number in range(12)]
    with small_library(tmp_path) as library:
        (warning, *_) = evaluate(library, asked, budgets=[100]).warnings
    assert warning.startswith("12 questions are few: 6 at least have to change")
    assert "a difference of 50 points" in warning


def test_the_size_of_an_index_is_that_of_what_it_holds(tmp_path: Path) -> None:
    def size() -> float:
        with Library.open(tmp_path, embedding={"model": "hashing"}) as library:
            return evaluate(library, [CARRY]).costs["index_bytes"]

    with small_library(tmp_path) as library:
        written = evaluate(library, [CARRY]).costs["index_bytes"]
        log = tmp_path / ".merestone" / "library.db-wal"
        assert log.stat().st_size
    # The log is folded in when the library is closed.
    assert written == size() <= (tmp_path / ".merestone" / "library.db").stat().st_size


def test_made_questions_are_scored_apart(tmp_path: Path) -> None:
    made = replace(TRAINS, made=True)
    missed = asking("missed", "Where is the lighthouse?", ("gone.md", "there"))
    with small_library(tmp_path) as library:
        run = evaluate(library, [made, missed])
    assert run.measures["FullGold@1000t"].mean == 0
    assert run.measures["FullGold@1000t"].count == 1
    assert run.groups["made:true"]["FullGold@1000t"].mean == 1
    assert any("made by a machine" in warning for warning in run.warnings)


def test_groups_are_content_types_tags_and_languages(tmp_path: Path) -> None:
    documents = {**HANDBOOK, "plain.txt": "The lighthouse stands on the pier.\n"}
    questions = [
        replace(CARRY, tags=("date", "hr"), language="en"),
        replace(TRAINS, tags=("date",)),
        asking("light", "Where is the lighthouse?", ("plain.txt", "on the pier")),
        asking("both", "lighthouse trains?", ("plain.txt", "pier"), ("travel.md", "Trains")),
        NOTHING,
    ]
    with small_library(tmp_path, documents) as library:
        run = evaluate(library, questions, budgets=[500])
    sizes = {name: group["Hit@500t"].count for name, group in run.groups.items()}
    assert sizes == {
        "language:en": 1,
        "tag:date": 2,
        "tag:hr": 1,
        "type:markdown": 2,
        "type:mixed": 1,
        "type:text": 1,
    }
    assert [result.content_type for result in run.results] == [
        "markdown",
        "markdown",
        "text",
        "mixed",
        "",
    ]


def test_text_that_changed_is_reviewed_and_not_scored(tmp_path: Path) -> None:
    gone = asking("gone", "What expires?", ("leave.md", "vouchers expire in May"))
    either = replace(
        asking("any", "Days?", ("leave.md", "no such words"), ("leave.md", "end of March")),
        match="any",
    )
    with small_library(tmp_path) as library:
        run = evaluate(library, [gone, either, CARRY])
    assert set(run.skipped) == {"gone"}
    assert "questions check" in run.skipped["gone"]
    assert [result.id for result in run.results] == ["any", "carry"]
    assert any("not scored" in warning for warning in run.warnings)


def test_missing_evidence_counts_as_gold_that_was_not_found(tmp_path: Path) -> None:
    half = asking("half", "unused days", ("leave.md", "end of March"), ("gone.md", "twelve chars"))
    with small_library(tmp_path) as library:
        (result,) = evaluate(library, [half], budgets=[500]).results
    assert result.measures["GoldCoverage@500t"] == 0.5
    assert result.measures["FullGold@500t"] == 0
    assert [span.document for span in result.gold] == ["leave.md"]


RULES = {
    "rules": [
        {"paths": ["**"], "allow": ["public"]},
        {"paths": ["hr/**"], "allow": ["user:anne"]},
    ]
}
SECRET = asking("secret", "What is the bonus?", ("hr/bonus.md", "four thousand"))
CLOSED = {**HANDBOOK, "hr/bonus.md": "# Bonus\n\nThe bonus is four thousand francs.\n"}


def test_an_asker_measures_what_the_asker_gets(tmp_path: Path) -> None:
    with small_library(tmp_path, CLOSED, access=RULES) as library:
        public = evaluate(library, [SECRET, CARRY])
        anne = evaluate(library, [SECRET, CARRY], principals=["user:anne"])
        owner = evaluate(library, [SECRET, CARRY], as_owner=True)
    assert [result.failure for result in public.results] == ["not-in-corpus", None]
    assert [result.failure for result in anne.results] == [None, None]
    assert [result.failure for result in owner.results] == [None, None]
    assert (public.asker, anne.asker, owner.asker) == ((), ("user:anne",), ("owner",))
    assert public.costs["documents"] == 2
    assert "index_bytes" not in public.costs
    assert owner.costs["documents"] == 3
    assert "bonus.md" not in str({**public.to_json(), "per_question": ""})
    first, second = (result.to_json() for result in public.results)
    assert "bonus" not in str(second)
    # The question itself names the document; the run adds nothing.
    assert first["gold"] == []
    assert first["detail"] == "The library has no document hr/bonus.md."


def test_each_question_is_asked_by_its_own_asker(tmp_path: Path) -> None:
    hers = replace(SECRET, id="hers", principals=("user:anne",))
    his = replace(SECRET, id="his", principals=("user:bob",))
    with small_library(tmp_path, CLOSED, access=RULES) as library:
        run = evaluate(library, [hers, his, SECRET], as_owner=True)
    assert [result.failure for result in run.results] == [None, "filtered", None]
    assert run.results[1].detail == "hr/bonus.md may not be read by user:bob."


def test_warnings_say_what_the_numbers_hide(tmp_path: Path) -> None:
    with small_library(tmp_path) as library:
        warnings = " ".join(evaluate(library, [CARRY, TRAINS]).warnings)
    assert "2 questions are too few to tell any difference from chance" in warnings
    assert "too easy" in warnings
    assert "one chunk" in warnings


def test_settings_that_were_not_synced_are_warned_of(tmp_path: Path) -> None:
    with small_library(tmp_path) as library:
        assert not any("sync" in warning for warning in evaluate(library, [CARRY]).warnings)
    flags = {"embedding": {"model": "hashing"}, "chunking": {"max_tokens": 20}}
    with Library.open(tmp_path, **flags) as library:
        warning = evaluate(library, [CARRY]).warnings[0]
    assert "2 of 2 documents were read, cut or embedded by other settings" in warning


def test_progress_counts_questions(library: Library) -> None:
    seen: list[tuple[int, int]] = []
    evaluate(library, [CARRY, TRAINS], progress=lambda each: seen.append((each.done, each.total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_questions_need_ids_of_their_own(library: Library) -> None:
    with pytest.raises(SettingsError) as error:
        evaluate(library, [Question("a", "One?"), Question("a", "Two?")])
    assert error.value.code == "invalid-questions"


def test_a_question_whose_scope_is_not_there_is_not_praised_for_finding_nothing(
    tmp_path: Path,
) -> None:
    with small_library(tmp_path) as library:
        lost = replace(NOTHING, id="lost", scope=("misspelt.md",))
        run = evaluate(library, [NOTHING, lost], budgets=[100])
    assert [each.id for each in run.results] == ["nothing"]
    assert "misspelt.md" in run.skipped["lost"]
