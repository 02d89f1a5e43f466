"""What is remembered is what would be found again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from evaluation.small_library import many_documents, small_library
from hypothesis import given, settings
from hypothesis import strategies as st

from merestone import Library
from merestone.embedding.cache import EmbeddingCache
from merestone.embedding.hashing import HashingEmbedder
from merestone.evaluation.runs.remembering import (
    RememberedQueries,
    RememberedRanker,
    RememberedReranker,
    remembered,
)
from merestone.retrieval.ranking import Ranking, Request, rank
from merestone.retrieval.sides import Mode
from merestone.retrieval.trace import Trace
from merestone.types import Comparison, EmbeddingSettings, Vectors


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with small_library(tmp_path_factory.mktemp("library"), many_documents()) as made:
        yield made


CALLS = st.tuples(
    st.sampled_from(["leave", "unused days", "same sentence stands", "trains note"]),
    st.sampled_from([1, 3, 25, 50, 70]),
    st.sampled_from([0, 1, 40]),
    st.sampled_from(["hybrid", "lexical"]),
    st.sampled_from([None, Comparison("document", "like", "note*")]),
)


@given(st.lists(CALLS, min_size=2, max_size=8), st.sampled_from([4, 20, 100]), st.booleans())
@settings(max_examples=12)
def test_a_ranking_is_the_same_the_second_time(
    library: Library,
    calls: list[tuple[str, int, int, Mode, Comparison | None]],
    candidates: int,
    collapse: bool,
) -> None:
    ranker = RememberedRanker()
    with library.serving() as serving:
        again = remembered(serving.snapshot)
        for query, k, least, mode, where in calls:
            how = replace(serving.settings, candidates=candidates, collapse=collapse)
            request = Request(query, k, mode, where, least)
            found = ranker(again, serving.embedder, how, request, Trace(False))
            fresh = rank(serving.snapshot, serving.embedder, how, request, Trace(False))
            assert comparable(found) == comparable(fresh)


def comparable(ranking: Ranking) -> Ranking:
    """Arrays do not compare as one."""
    vector = ranking.found.vector
    assert vector is None or vector.shape == (64,)
    return replace(ranking, found=replace(ranking.found, vector=None))


def test_more_copies_than_candidates_are_looked_behind(library: Library) -> None:
    """The case in which a ranking for few hits is not one for many."""
    ranker = RememberedRanker()
    with library.serving() as serving:
        lengths = []
        for least in (0, 45):
            ranking = ranker(
                serving.snapshot,
                serving.embedder,
                serving.settings,
                Request("same sentence stands", 50, "hybrid", least=least),
                Trace(False),
            )
            lengths.append(len(ranking.ranked))
    assert lengths[0] < lengths[1]


def test_a_remembering_snapshot_answers_as_the_one_beneath(library: Library) -> None:
    with library.serving() as serving:
        beneath = serving.snapshot
        snapshot = remembered(beneath)
        vector = serving.embedder.embed_queries(["leave"])[0]
        where = Comparison("document", "=", "leave.md")
        numbers = [number for number, _, _ in beneath.numbers()][:10]
        for _ in range(2):
            assert snapshot.lexical(["leave"], 5) == beneath.lexical(["leave"], 5)
            assert snapshot.lexical(["leave"], 5, where) == beneath.lexical(["leave"], 5, where)
            assert snapshot.dense(vector, 7) == beneath.dense(vector, 7)
            assert snapshot.dense(vector, 7, where) == beneath.dense(vector, 7, where)
            assert snapshot.by_number([*numbers, 10**6]) == beneath.by_number(numbers)
            assert snapshot.text("leave.md") == beneath.text("leave.md")
            assert snapshot.record("nothing.md") is None
            assert snapshot.library_version == beneath.library_version
        # What a caller does to an answer changes no later one.
        snapshot.lexical(["leave"], 5).clear()
        assert snapshot.lexical(["leave"], 5) == beneath.lexical(["leave"], 5)


def test_vectors_of_questions_are_kept_apart_from_those_of_passages(tmp_path: Path) -> None:
    class Templated(HashingEmbedder):
        """Questions and passages of the same words have different vectors."""

        asked: list[str]

        def embed_queries(self, texts: Sequence[str]) -> Vectors:
            self.asked = list(texts)
            return super().embed_queries([f"query {text}" for text in texts])

    embedder = Templated(EmbeddingSettings())
    with EmbeddingCache(tmp_path / "cache.db", 1_000_000) as cache:
        queries = RememberedQueries(embedder, cache)
        assert queries.prepare(["leave", "days", "leave"]) == 2
        vectors = queries.embed_queries(["days", "leave", "days"])
        np.testing.assert_array_equal(
            vectors, Templated.embed_queries(embedder, ["days", "leave", "days"])
        )
        embedder.asked = []
        later = RememberedQueries(embedder, cache)
        np.testing.assert_array_equal(later.embed_queries(["leave"])[0], vectors[1])
        assert embedder.asked == []
        (passage,) = embedder.embed_passages(["leave"])
        assert not np.array_equal(later.embed_queries(["leave"])[0], passage)
        assert later.name == embedder.name  # type: ignore[attr-defined]


def test_a_reranker_is_asked_once_about_the_same_texts() -> None:
    class Counting:
        name = fingerprint = "counting"
        asked = 0

        def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
            self.asked += 1
            return [float(len(text)) for text in texts]

    model = Counting()
    reranker = RememberedReranker(model)
    for _ in range(2):
        assert reranker.rerank("q", ["a", "bb"]) == [1.0, 2.0]
    assert reranker.rerank("q", ["bb", "a"]) == [2.0, 1.0]
    assert reranker.rerank("other", ["a", "bb"]) == [1.0, 2.0]
    assert model.asked == 3


def test_what_is_remembered_takes_what_a_snapshot_takes(library: Library) -> None:
    with library.serving() as serving:
        again = remembered(serving.snapshot)
        document = serving.snapshot.document_ids()[0]
        for blocks in (True, False):
            expected = serving.snapshot.document(document, blocks=blocks)
            assert again.document(document, blocks=blocks) == expected
