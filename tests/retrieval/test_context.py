"""Filling a token budget."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone import Library, SettingsError
from merestone.text.tokenizers import WordTokenizer


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("context")
    sections = [
        f"## Part {n}\n\n" + " ".join(f"Pump number {n} has valve {k}." for k in range(9))
        for n in range(12)
    ]
    (folder / "pumps.md").write_text("# Pumps\n\n" + "\n\n".join(sections))
    (folder / "hours.txt").write_text("Office hours are nine to five.\n")
    tables = {"embedding": {"model": "hashing"}, "chunking": {"max_tokens": 64}}
    with Library.open(folder, **tables) as opened:  # type: ignore[arg-type]
        opened.sync()
        yield opened


@given(st.integers(1, 600), st.sampled_from(["pump valve", "office hours", "valve 3", "nothing"]))
def test_the_budget_is_never_exceeded_and_passages_are_slices(
    library: Library, budget: int, query: str
) -> None:
    tokenizer = WordTokenizer()
    result = library.context(query, budget=budget, tokenizer=tokenizer)
    assert result.tokens == tokenizer.counts([result.text])[0] <= budget
    spans = []
    with library.snapshot() as snapshot:
        for passage in result.passages:
            text = snapshot.text(passage.document)
            assert text is not None
            assert text[passage.start : passage.end] == passage.text == passage.citation.quote
            assert passage.text in result.text
            spans.append((passage.document, passage.start, passage.end))
    for document, start, end in spans:
        others = [span for span in spans if span != (document, start, end)]
        assert not any(d == document and s < end and start < e for d, s, e in others)
    taken = {chunk for passage in result.passages for chunk in passage.chunks}
    assert not taken & {left.chunk for left in result.left_out}
    assert all(left.reason for left in result.left_out)


def test_chunks_that_touch_become_one_passage(library: Library) -> None:
    result = library.context("pump valve", budget=5000, tokenizer=WordTokenizer())
    (pumps,) = [passage for passage in result.passages if passage.document == "pumps.md"]
    assert len(pumps.chunks) > 3
    assert pumps.heading_path[:1] == ("Pumps",)
    assert pumps.citation.lines is not None
    assert not result.left_out


def test_what_is_left_out_says_what_it_needs(library: Library) -> None:
    result = library.context("pump valve", budget=80, tokenizer=WordTokenizer())
    assert result.passages
    assert result.left_out
    words = r"its next part needs \d+ tokens( with what is around it)?, (\d+ of the|more than)"
    assert re.match(words, result.left_out[0].reason)


def test_a_budget_that_holds_nothing_gives_nothing(library: Library) -> None:
    result = library.context("pump valve", budget=1, tokenizer=WordTokenizer())
    assert (result.text, result.tokens, result.passages) == ("", 0, ())
    nothing = library.context("pump valve", budget=0)
    assert (nothing.text, nothing.passages) == ("", ())
    assert nothing.left_out
    with pytest.raises(SettingsError):
        library.context("pump valve", budget=-1)
