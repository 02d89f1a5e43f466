"""The budget is a hard limit, whatever is asked of whatever with whichever tokenizer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import pytest

from merestone import Budget, Library
from merestone.embedding import open_embedder
from merestone.retrieval.candidates import find_candidates
from merestone.retrieval.citation import CitedDocuments
from merestone.retrieval.evidence import context, find_evidence
from merestone.retrieval.expansion import expand
from merestone.retrieval.packing import Packing
from merestone.retrieval.passages import Passages
from merestone.retrieval.ranking import Ranking, arrange
from merestone.retrieval.trace import Trace
from merestone.text.tokenizer_names import tokenizer_named
from merestone.text.tokenizers import WordTokenizer
from merestone.types import ContextResult, EmbeddingSettings, RetrievalSettings, Tokenizer

_RULES = ("structure", "none", "section", "parent", "window:1", "window:3", "neighbours:1")
_QUERIES = (
    "pump valve",
    "what does plan P-07 cost",
    "Part 3",
    "days until the claim",
    "def run",
    "ポンプ",
    "nothing of this",
)


def write_documents(root: Path) -> None:
    parts = [
        f"## Part {n}\n\n" + " ".join(f"Pump {n} has valve {k}." for k in range(n % 5 + 2))
        for n in range(14)
    ]
    (root / "pumps.md").write_text("# Pumps\n\n" + "\n\n".join(parts))
    rows = "\n".join(f"| P-{n:02} | Plan {chr(65 + n)} | {n}0 EUR |" for n in range(1, 13))
    table = f"| Code | Name | Price |\n|---|---|---|\n{rows}"
    (root / "plans.md").write_text(
        f"# Plans\n\nAll prices are monthly.\n\n{table}\n\nTaxes extra.\n"
    )
    (root / "run.py").write_text(
        "class Pump:\n"
        + "\n".join(f"    def run_{n}(self):\n        return {n}\n" for n in range(9))
    )
    (root / "claims.txt").write_text(
        "\n\n".join(
            f"A claim {n} ends after {n} days.  \n e\u0301 \U0001f469\u200d\U0001f467"
            for n in range(9)
        )
    )
    (root / "ja.txt").write_text("ポンプは四十バールで動く。弁は青い。門は日曜に閉まる。\n" * 3)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("packing")
    write_documents(folder)
    tables = {"embedding": {"model": "hashing"}, "chunking": {"max_tokens": 48}}
    with Library.open(folder, **tables) as opened:  # type: ignore[arg-type]
        opened.sync()
        yield opened


def tokenizers() -> list[Tokenizer]:
    """Words, WordPiece, and byte pairs, whose counts do not add up."""
    bundled = open_embedder(EmbeddingSettings()).tokenizer
    return [WordTokenizer(), bundled, tokenizer_named("cl100k_base")]


def check(library: Library, cases: int) -> None:
    draw = random.Random(20261130)
    counted = tokenizers()
    with library.snapshot() as snapshot:
        texts = {record.id: snapshot.text(record.id) or "" for record in snapshot.records()}

        @cache
        def ranking(query: str, settings: RetrievalSettings) -> Ranking:
            found = find_candidates(snapshot, library.embedder, query, 50, "hybrid", None, settings)
            return arrange(snapshot, found, settings, 0, Trace(False))

        documents = CitedDocuments(snapshot)

        @cache
        def packing(
            query: str, settings: RetrievalSettings, tokenizer: int, cited: bool
        ) -> Packing:
            found = ranking(query, settings)
            own = library.embedder.tokenizer
            expanded = expand(snapshot, found, documents, own, settings)
            passages = Passages(snapshot, documents)
            return Packing(expanded, passages, counted[tokenizer], settings, cited=cited)

        for _ in range(cases):
            settings = replace(
                RetrievalSettings(),
                expand=draw.choice(_RULES),
                focus=draw.random() < 0.8,
                collapse=draw.random() < 0.8,
                gap_units=draw.randrange(3),
            )
            which = draw.randrange(3)
            budget = draw.choice([draw.randrange(60), draw.randrange(400), draw.randrange(4000)])
            prompt = " ".join(_QUERIES[: draw.randrange(len(_QUERIES))])
            planned = Budget(
                budget + 2000,
                system_prompt=prompt,
                history=[prompt, "a word"][: draw.randrange(3)],
                answer_reserve=draw.randrange(200),
                safety=draw.randrange(20) / 100,
                tokenizer=counted[which],
            )
            if draw.random() < 0.5:
                budget = planned.available
                assert planned.plan.available == budget <= planned.model_limit
            packed = packing(draw.choice(_QUERIES), settings, which, draw.random() < 0.7)
            made, text, tokens, _ = packed.pack(budget, precise=draw.random() < 0.3)
            assert tokens == (counted[which].counts([text])[0] if text else 0)
            assert tokens <= budget
            spans = sorted((each.document, each.start, each.end) for each in made)
            for (one, _, end), (other, start, _) in pairwise(spans):
                assert one != other or end <= start
            for each in made:
                assert texts[each.document][each.start : each.end] == each.text
                assert each.text in text
                assert each.citation.quote == each.text


def test_the_budget_is_never_exceeded(library: Library) -> None:
    check(library, 100)


@pytest.mark.ci
def test_the_budget_is_never_exceeded_in_ten_thousand_cases(library: Library) -> None:
    check(library, 10_000)


@pytest.mark.parametrize("rule", _RULES)
def test_a_budget_gives_the_same_after_others(library: Library, rule: str) -> None:
    """What budgets share is found while one is filled, as far as that one asks for it."""
    draw = random.Random(rule)
    tokenizer = draw.choice(tokenizers())
    settings = replace(library.settings.retrieval, expand=rule, gap_units=draw.randrange(3))
    with library.snapshot() as snapshot:
        asked = (snapshot, library.embedder, tokenizer, settings)
        for query in draw.sample(_QUERIES, 3):
            options: _Options = {"mode": "hybrid", "where": None, "explain": draw.random() < 0.5}
            evidence = find_evidence(*asked, query, **options)
            for budget in draw.sample(range(0, 1200, 40), 4):
                precise = draw.random() < 0.3
                alone = context(*asked, query, budget=budget, precise=precise, **options)
                assert _untimed(evidence.fill(budget, precise)) == _untimed(alone)


class _Options(TypedDict):
    mode: str
    where: None
    explain: bool


def _untimed(result: ContextResult) -> ContextResult:
    entries = ({**entry, "milliseconds": 0} for entry in result.trace)
    return replace(result, trace=tuple(entries))


def test_what_was_counted_at_one_budget_is_not_counted_at_the_next(library: Library) -> None:
    counting = _CountingTokenizer()
    with library.snapshot() as snapshot:
        asked = (snapshot, library.embedder, counting, library.settings.retrieval)
        evidence = find_evidence(*asked, "valve of pump 3", mode="hybrid", where=None)
        first = evidence.fill(300)
        counted = len(counting.texts)
        assert evidence.fill(300) == first
        assert len(counting.texts) == counted > 10
        evidence.fill(200)
    assert len(counting.texts) == len(set(counting.texts))


class _CountingTokenizer(WordTokenizer):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def counts(self, texts: Sequence[str]) -> list[int]:
        self.texts += texts
        return super().counts(texts)


def test_a_larger_budget_gives_no_less_of_the_best(library: Library) -> None:
    small = library.context("valve of pump 3", budget=60, tokenizer=WordTokenizer())
    large = library.context("valve of pump 3", budget=600, tokenizer=WordTokenizer())
    first = small.passages[0]
    assert any(
        each.document == first.document and each.start <= first.start and first.end <= each.end
        for each in large.passages
    )


def test_every_candidate_is_in_shortened_or_out_with_a_reason(library: Library) -> None:
    result = library.context("valve of pump 3", budget=65, tokenizer=WordTokenizer(), explain=True)
    outcomes = {each.outcome for each in result.decisions}
    assert outcomes == {"in", "shortened", "out"}
    assert all(each.reason for each in result.decisions)
    left = {each.chunk for each in result.left_out}
    assert {each.chunk for each in result.decisions if each.outcome == "out"} <= left
    stages = [entry["stage"] for entry in result.trace]
    assert stages == ["filter", "candidates", "read", "focus", "collapse", "relevance", "pack"]
    assert all("milliseconds" in entry for entry in result.trace)


def test_precise_stops_below_a_share_of_the_best_score(library: Library) -> None:
    result = library.context("what does plan P-07 cost", budget=4000, precise=True)
    full = library.context("what does plan P-07 cost", budget=4000)
    assert "P-07" in result.text
    assert result.tokens < full.tokens
    assert any("of the best score" in left.reason for left in result.left_out)


def test_copies_of_a_sentence_in_other_documents_are_named(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    same = (
        "Whoever finds a mistake in this paper is kindly asked to write to the office at the gate "
        "so that it can be mended before the next printing of the whole collection."
    )
    for name, more in (("a", "Pumps run in winter."), ("b", "Gates close on Sunday.")):
        (folder / f"{name}.txt").write_text(f"{more} {same}\n")
    with Library.open(folder, embedding={"model": "hashing"}) as library:
        library.sync()
        result = library.context("who finds a mistake in the paper", budget=1000)
    assert result.text.count("kindly asked") == 1
    assert [also.split("#")[0] in ("a.txt", "b.txt") for also in result.passages[0].also] == [True]
