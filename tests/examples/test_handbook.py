"""The handbook that ships, and whether its questions are answered."""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from merestone import Chunk, Document, Library

QUESTIONS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "examples" / "questions.jsonl")
    .read_text("utf-8")
    .splitlines()
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, handbook: Path) -> Iterator[Library]:
    """A library over a copy, with the bundled embedder."""
    folder = tmp_path_factory.mktemp("handbook") / "handbook"
    shutil.copytree(handbook, folder, ignore=shutil.ignore_patterns(".merestone"))
    with Library.open(folder) as opened:
        opened.sync()
        yield opened


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_the_gold_of_each_question_stands_where_it_says(
    question: dict[str, list[dict[str, object]]], handbook: Path
) -> None:
    for item in question["evidence"]:
        if item["start"] is not None:
            text = (handbook / str(item["doc"])).read_bytes().decode()
            assert text[item["start"] : item["end"]] == item["quote"]  # type: ignore[misc]


def test_the_pdf_is_what_its_script_makes(handbook: Path) -> None:
    if version("fpdf2") != "2.8.9":
        pytest.skip("the PDF was made with fpdf2 2.8.9")
    made = runpy.run_path(str(handbook.parent / "make_handbook_pdf.py"))["build"]()
    assert made == (handbook / "device" / "service-manual.pdf").read_bytes()


def words(text: str) -> str:
    return " ".join(text.split())


def holds(document: Document, chunk: Chunk, item: dict[str, object]) -> bool:
    """True if the evidence lies whole in the chunk."""
    if chunk.document != item["doc"]:
        return False
    if item["start"] is None:
        return words(str(item["quote"])) in words(chunk.text)
    spans = document.segments.from_source((int(str(item["start"])), int(str(item["end"]))))
    found = max(spans, key=lambda span: span.end - span.start)
    text = document.text[found.start : found.end]
    start = found.start + len(text) - len(text.lstrip())
    return chunk.start <= start and start + len(text.strip()) <= chunk.end


def test_most_questions_find_their_evidence_whole(library: Library) -> None:
    answered = []
    with library.snapshot() as snapshot:
        for question in QUESTIONS:
            hits = library.search(question["question"], k=5).hits
            whole = [
                any(
                    holds(document, hit.chunk, item)
                    for hit in hits
                    if (document := snapshot.document(hit.chunk.document)) is not None
                )
                for item in question["evidence"]
            ]
            if all(whole) if question["match"] == "all" else any(whole):
                answered.append(question["id"])
    assert len(answered) >= 0.75 * len(QUESTIONS), sorted(
        {question["id"] for question in QUESTIONS} - set(answered)
    )


def test_a_paragraph_over_two_pages_is_one_span_with_both_pages(library: Library) -> None:
    with library.snapshot() as snapshot:
        chunks = snapshot.chunks_of("device/service-manual.pdf")
    assert any(chunk.pages == (2, 3) for chunk in chunks)
    assert not any("recommis-" in chunk.text for chunk in chunks)


def test_the_library_proves_itself(library: Library) -> None:
    assert not library.verify(every_vector=True).findings
