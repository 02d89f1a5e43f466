"""Rerankers in ``search`` and ``context``, and questions in scripts that a model does not know."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from embedding.service import Request, Response, Service, openai, serve
from hypothesis import given
from hypothesis import strategies as st

from merestone import Library
from merestone.retrieval.candidates import Candidate, Candidates
from merestone.retrieval.focus import FocusedUnit
from merestone.retrieval.ranking import Ranked, Ranking
from merestone.retrieval.reranking import Reranking, rerank_chunks
from merestone.retrieval.trace import Trace
from merestone.types import Chunk, ContextResult, RerankerError, RerankingSettings, Unit

PUMPS = 12


def write_documents(root: Path) -> None:
    for number in range(1, PUMPS + 1):
        (root / f"pump_{number:02}.md").write_text(
            f"# Pump {number}\n\nThe pump number {number} runs at {number * 10} bar. "
            f"Its valve is of kind {chr(64 + number)}.\n"
        )


def number_of(text: str) -> int:
    found = re.search(r"(?:pump number|# Pump|Pump) (\d+)", text)
    return int(found[1]) if found else 0


def scored(score: Callable[[str], float]) -> Callable[[Request], Response]:
    """A service of Cohere's shape, best first as it answers."""

    def respond(request: Request) -> Response:
        items = [
            {"index": place, "relevance_score": float(score(text))}
            for place, text in enumerate(request.texts)
        ]
        return Response(body={"results": sorted(items, key=lambda i: -i["relevance_score"])})

    return respond


@contextmanager
def reranked(
    root: Path, respond: Callable[[Request], Response], **changes: Any
) -> Iterator[tuple[Library, Service]]:
    with (
        serve(respond) as service,
        Library.open(
            root,
            embedding={"model": "hashing"},
            reranking={"model": "cohere:toy", "url": service.url, **changes},
        ) as library,
    ):
        library.sync()
        yield library, service


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_documents(tmp_path)
    return tmp_path


@pytest.mark.parametrize("on", ["chunks", "passages"])
def test_hits_come_in_the_order_of_the_reranker(root: Path, on: str) -> None:
    with reranked(root, scored(number_of), on=on, top=5) as (library, service):
        result = library.search("pump valve bar", k=PUMPS, explain=True)
        (request,) = service.requests
        assert request.body["query"] == "pump valve bar"
        assert len(request.texts) == 5
    with Library.open(root, embedding={"model": "hashing"}) as plain:
        before = plain.search("pump valve bar", k=PUMPS)
    numbers = [number_of(hit.chunk.text) for hit in result.hits]
    old = [number_of(hit.chunk.text) for hit in before.hits]
    assert numbers[:5] == sorted(old[:5], reverse=True)
    assert numbers[5:] == old[5:]
    assert [hit.ranks.rerank for hit in result.hits] == [1, 2, 3, 4, 5, *[None] * (PUMPS - 5)]
    # A place keeps its score, whoever stands on it.
    assert [hit.score for hit in result.hits] == [hit.score for hit in before.hits]
    stages = {entry["stage"]: entry for entry in result.trace}
    assert (stages["rerank"]["asked"], stages["rerank"]["scored"]) == (5, 5)
    assert stages["candidates"]["ranked"][0]["rerank"] == {"rank": 1, "score": numbers[0]}  # type: ignore[index]
    assert not result.notes


def passages(result: ContextResult) -> list[int]:
    return [number_of(passage.text) for passage in result.passages]


@pytest.mark.parametrize("on", ["chunks", "passages"])
def test_what_the_reranker_puts_first_gets_into_the_budget(root: Path, on: str) -> None:
    with reranked(root, scored(lambda text: number_of(text) == 7), on=on) as (library, service):
        result = library.context("pump valve bar", budget=40, explain=True)
        assert len(service.requests) == 1
        assert passages(result)[0] == 7
        assert result.tokens <= 40
        assert result.decisions[0].outcome != "out"
        (stage,) = [entry for entry in result.trace if entry["stage"] == "rerank"]
        assert stage["on"] == on
        precise = library.context("pump valve bar", budget=4000, precise=True)
        assert passages(precise)[0] == 7
        for passage in precise.passages:
            with library.snapshot() as snapshot:
                text = snapshot.text(passage.document) or ""
            assert text[passage.start : passage.end] == passage.text


def test_passages_are_read_whole_and_with_their_headings(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(
        "# Guide\n\n## Carry-over of leave\n\nUnused days go to the next year. "
        "They lapse in March.\n\n## Sick notes\n\nThey are due on the third day.\n"
    )
    with reranked(tmp_path, scored(len)) as (library, service):
        library.context("carry-over of leave", budget=300)
        texts = service.texts
    section = next(text for text in texts if "## Carry-over of leave" in text)
    assert "They lapse in March." in section
    # What is within a passage already is not read once more.
    assert sum("They lapse in March." in text for text in texts) == 1
    assert all(text.startswith("Guide") or "# Guide" in text for text in texts)


@pytest.mark.parametrize("on", ["chunks", "passages"])
def test_a_reranker_that_fails_leaves_the_order_and_says_so(root: Path, on: str) -> None:
    with Library.open(root, embedding={"model": "hashing"}) as plain:
        plain.sync()
        before = plain.search("pump valve bar", k=8)
        filled = plain.context("pump valve bar", budget=90)
    with reranked(root, lambda _: Response(401, {"message": "no"}), on=on) as (library, _):
        result = library.search("pump valve bar", k=8)
        context = library.context("pump valve bar", budget=90)
    assert [hit.chunk.id for hit in result.hits] == [hit.chunk.id for hit in before.hits]
    assert [hit.score for hit in result.hits] == [hit.score for hit in before.hits]
    assert {hit.ranks.rerank for hit in result.hits} == {None}
    assert context.text == filled.text
    for notes in (result.notes, context.notes):
        (note,) = notes
        assert "[reranker-refused]" in note


def test_texts_that_the_asker_may_not_read_reach_no_reranker(root: Path) -> None:
    (root / "secret.md").write_text("---\naccess: [user:ann]\n---\n\nThe pump valve bar secret.\n")
    with reranked(root, scored(len)) as (library, service):
        library.search("pump valve bar secret", k=50, principals=["user:bob"])
        library.context("pump valve bar secret", budget=2000, principals=["user:bob"])
        assert not any("secret" in text for text in service.texts)
        library.search("pump valve bar secret", k=50, principals=["user:ann"])
        assert any("secret" in text for text in service.texts)


def test_nothing_found_is_nothing_asked(root: Path) -> None:
    with reranked(root, scored(len)) as (library, service):
        assert not library.search("zebra", mode="lexical").hits
        assert not library.context("zebra", budget=100, mode="lexical").passages
        assert not service.requests


def test_a_closed_library_keeps_no_connection(root: Path) -> None:
    with serve(lambda request: openai(request.texts)) as embedding, serve(scored(len)) as service:
        library = Library.open(
            root,
            embedding={
                "model": "openai:toy",
                "url": embedding.url,
                "max_tokens": 200,
                "tokenizer": "characters",
            },
            reranking={"model": "cohere:toy", "url": service.url},
        )
        library.sync()
        library.search("pump")
        reranking = library._reranking
        assert reranking is not None
        clients: list[Any] = [library.embedder._remote._client, reranking.model._client]  # type: ignore[attr-defined]
        assert all(client._opened is not None for client in clients)
        library.close()
        assert all(client._opened is None for client in clients)


def chunk(number: int) -> Chunk:
    return Chunk(str(number), "a.txt", "v", number, 9, 10 * number, 10 * number + 9, "text", 3, "x")


class Given:
    """A reranker with an answer."""

    name = fingerprint = "given"

    def __init__(self, scores: list[float | None] | None) -> None:
        self._scores = scores

    def rerank(self, query: str, texts: object) -> list[float | None]:
        if self._scores is None:
            raise RerankerError("reranker-unavailable", "Down.", "Wait.")
        return self._scores


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    units = draw(
        st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1)), max_size=25, unique_by=lambda u: u)
    )
    units.sort(key=lambda unit: -unit[1])
    found: list[FocusedUnit] = []
    for place, (number, score) in enumerate(units):
        item = Candidate(number, score, 1, 0.5, None, None)
        found.append(
            FocusedUnit(item, chunk(number), Unit(place, place + 1, "line", "", 0, 0), score, ())
        )
    own: dict[int, list[FocusedUnit]] = {}
    for unit in found:
        own.setdefault(unit.candidate.number, []).append(unit)
    ranked = tuple(
        Ranked(group[0].candidate, group[0].chunk, group[0].score, tuple(group))
        for group in own.values()
    )
    candidates = tuple(each.candidate for each in ranked)
    return Ranking(Candidates(candidates, (), "hybrid", (), (), {}), ranked, tuple(found))


@given(rankings(), st.integers(1, 8), st.data())
def test_reranking_loses_nothing_and_scores_fall_with_rank(
    ranking: Ranking, top: int, data: st.DataObject
) -> None:
    asked = min(top, len(ranking.ranked))
    value = st.none() | st.floats(-9, 9)
    scores = data.draw(st.none() | st.lists(value, min_size=asked, max_size=asked))
    reranking = Reranking(Given(scores), RerankingSettings("given", top=top))
    made = rerank_chunks(ranking, "q", reranking, Trace(False))
    before = [each.candidate.number for each in ranking.ranked]
    after = [each.candidate.number for each in made.ranked]
    assert sorted(after) == sorted(before)
    assert after[asked:] == before[asked:]
    assert [r.score for r in made.ranked] == pytest.approx([r.score for r in ranking.ranked])
    assert {(u.candidate.number, u.unit) for u in made.units} == {
        (u.candidate.number, u.unit) for u in ranking.units
    }
    values = [unit.score for unit in made.units]
    assert values == sorted(values, reverse=True)
    if scores is None:
        assert after == before
        assert made.units == ranking.units
        assert bool(made.found.notes) == bool(asked)
        return
    given_to = dict(zip(before, scores, strict=False))
    ranks = {each.candidate.number: each.reread for each in made.ranked}
    assert {n for n, reread in ranks.items() if reread} == {
        n for n, score in given_to.items() if score is not None
    }
    ordered = [each.reread.score for each in made.ranked if each.reread]
    assert ordered == sorted(ordered, reverse=True)


JAPANESE = "有給休暇の繰り越し"


@pytest.fixture
def multiscript(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "leave.txt").write_text("有給休暇は翌年に繰り越すことができます。\n")
    (tmp_path / "pump.txt").write_text("The pump runs at 40 bar.\n")
    with Library.open(tmp_path, embedding={"threads": 1}) as library:
        library.sync()
        yield library


def test_a_question_in_an_unknown_script_is_searched_by_words(multiscript: Library) -> None:
    result = multiscript.search(JAPANESE)
    words = multiscript.search(JAPANESE, mode="lexical")
    context = multiscript.context(JAPANESE, budget=200)
    assert result.mode == context.mode == "lexical"
    assert [hit.chunk.id for hit in result.hits] == [hit.chunk.id for hit in words.hits]
    assert result.hits[0].citation.document == "leave.txt"
    for notes in (result.notes, context.notes):
        (note,) = notes
        assert "Chinese or Japanese" in note
        assert "multilingual" in note
    assert not words.notes
    dense = multiscript.search(JAPANESE, mode="dense")
    assert dense.mode == "dense"
    assert len(dense.hits) == 2
    assert "Chinese or Japanese" in dense.notes[0]
    assert "only words were searched" not in dense.notes[0]
    known = multiscript.search("how fast is the pump?")
    assert (known.mode, known.notes) == ("hybrid", ())
