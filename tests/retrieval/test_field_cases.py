"""Situations reported in public: budgets, tables, pages, identifiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from extraction.pdf_files import PageFile, write_pdf

from merestone import Library
from merestone.retrieval.citation import CitedDocuments
from merestone.retrieval.passages import Passages, Span
from merestone.text.tokenizers import WordTokenizer


@pytest.fixture(scope="session")
def cases(bench_data: Path) -> dict[str, Any]:
    lines = (bench_data / "field_cases" / "cases.jsonl").read_text("utf-8").splitlines()
    return {case["id"][:8]: case for case in map(json.loads, lines)}


def opened(folder: Path, files: dict[str, str], max_tokens: int = 200) -> Library:
    for name, text in files.items():
        (folder / name).write_text(text)
    library = Library.open(
        folder, embedding={"model": "hashing"}, chunking={"max_tokens": max_tokens}
    )
    library.sync()
    return library


def test_the_context_budget_is_a_hard_limit(cases: dict[str, Any], tmp_path: Path) -> None:
    given = cases["field-03"]["input"]
    passages = {each["doc"]: each["text"] for each in given["passages_in_rank_order"]}
    query = " ".join(
        f"{text.split()[0]} " * (4 - place) for place, text in enumerate(passages.values())
    )
    with opened(tmp_path, passages) as library:
        for budget in given["budgets"]:
            result = library.context(query, budget=budget, tokenizer=WordTokenizer())
            assert WordTokenizer().counts([result.text])[0] == result.tokens <= budget
            shown = {passage.document for passage in result.passages}
            left = {each.document for each in result.left_out}
            assert shown | left == set(passages)
            assert not shown & left
            assert all(each.reason for each in result.left_out)
            for passage in result.passages:
                assert passages[passage.document][passage.start : passage.end] == passage.text
            if budget < 75:
                assert not {"p1.md", "p2.md"} <= shown


def test_a_table_row_is_found_whole_with_its_header(cases: dict[str, Any], tmp_path: Path) -> None:
    case = cases["field-09"]
    given, wanted = case["input"], case["expected"]["search"]
    start, end = given["facts"]["row_P07_span"]
    with opened(tmp_path, given["files"], given["max_tokens"]) as library:
        hit = library.search(wanted["q"], k=1).hits[0]
        context = library.context(wanted["q"], budget=400, precise=True)
    read = "".join(span.text for span in hit.chunk.context) + hit.chunk.text
    assert all(part in read for part in wanted["hit_contains"])
    assert hit.citation.start <= start
    assert end <= hit.citation.end
    assert any(focus.start <= start and end <= focus.end for focus in hit.focus)
    first = context.passages[0]
    assert first.start <= start
    assert end <= first.end
    assert context.text.count("| Code | Name | Price | Storage |") == 1


def test_the_page_of_a_quote_is_that_of_the_quote(cases: dict[str, Any], tmp_path: Path) -> None:
    given = cases["field-10"]["input"]
    pages = []
    for text in given["pages_joined_by_form_feed"].split("\f"):
        page = PageFile()
        page.lines(72, 700, *text.split("\n"))
        pages.append(page)
    (tmp_path / "terms.pdf").write_bytes(write_pdf(*pages))
    start, end = given["facts"]["quote_span"]
    quote = given["pages_joined_by_form_feed"][start:end]
    with opened(tmp_path, {}) as library:
        (hit,) = library.search(given["query"], k=1).hits
        found = library.context(given["query"], budget=500, precise=True).passages[0]
        with library.snapshot() as snapshot:
            passages = Passages(snapshot, CitedDocuments(snapshot))
            text = passages.text("terms.pdf")
            begins = text.index("A claim starts")
            over = Span("terms.pdf", begins, text.index("harbour office") + 14, (hit.chunk,))
            assert passages.citation(over).pages == (2, 3)
    assert {2, 3} <= set(hit.chunk.pages)
    assert quote in " ".join(found.text.split())
    assert found.citation.pages == (3,)


def test_identifiers_are_findable_by_words_alone(cases: dict[str, Any], tmp_path: Path) -> None:
    given = cases["field-13"]["input"]
    with opened(tmp_path, given["files"]) as library:
        for query, document in {**given["lexical_queries"], "DEC-0045": "dec.md"}.items():
            assert library.search(query, mode="lexical").hits[0].chunk.document == document, query
            assert library.context(query, budget=60, mode="lexical").passages[0].document == (
                document
            ), query
        plain = library.search("-secrets users", mode="lexical")
        assert plain.hits
