"""Real and generated PDF files with what must hold of each."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from extraction.checks import texts
from extraction.pdf_checks import check_pdf

from merestone.extraction import read_document
from merestone.types import Document, ExtractionError, RawDocument, Status

FOLDER = os.environ.get("MERESTONE_BENCH_DATA")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="MERESTONE_BENCH_DATA is not set")
CORPUS = Path(FOLDER or "/") / "corpus"
MENDED = ("pdf/gen-trunc-tail.pdf", "pdf/gen-trunc-half.pdf")
WITH_HEADINGS = (
    "pdf/jose-papers__10.21105.jose.00198.pdf",
    "pdf/jose-papers__10.21105.jose.00184.pdf",
    "pdf/twocol_tagged.pdf",
    "pdf/onecol_a5.pdf",
    "pdf/gen-report-furniture.pdf",
)
FURNITURE = {
    "pdf/jose-papers__10.21105.jose.00198.pdf": (5, r"Ernest et al\.|of Open Source Educ|\d$"),
    "pdf/jose-papers__10.21105.jose.00184.pdf": (6, r"Villano et al\.|//doi\.org/10\.21105|\d$"),
    "pdf/twocol_tagged.pdf": (3, r"Hydrology Notes|Tester and Example \(2026\)"),
    "pdf/onecol_a5.pdf": (3, r"Hydrology Notes|Tester and Example \(2026\)"),
    "pdf/gen-report-furniture.pdf": (6, r"Acme Quarterly Report|Page \d of 6$"),
}
"""By file: pages, and how each line at their edges begins."""


def entries() -> dict[str, dict]:
    path = CORPUS / "expected.jsonl"
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (json.loads(line) for line in lines)
    return {entry["file"]: entry for entry in found if entry["file"].startswith("pdf/")}


EXPECTED = entries()
FILES = sorted(f"pdf/{path.name}" for path in CORPUS.glob("pdf/*.pdf"))
READABLE = [name for name in EXPECTED if "error" not in EXPECTED[name]]


@cache
def document_of(name: str) -> Document:
    return read_document(RawDocument(name, (CORPUS / name).read_bytes()))


def body(document: Document) -> str:
    return document.text[: document.body_end]


def key(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = re.sub(r"^\d+(?:\.\d+)*\.?\s+", "", folded)
    return re.sub(r"\W+", " ", bare).strip()


@pytest.mark.parametrize("name", FILES)
def test_the_invariants_hold(name: str) -> None:
    if EXPECTED.get(name, {}).get("error") == "encrypted":
        with pytest.raises(ExtractionError) as caught:
            document_of(name)
        assert caught.value.status == Status.ENCRYPTED
        return
    data = None if name in MENDED else (CORPUS / name).read_bytes()
    check_pdf(document_of(name), data)


@pytest.mark.parametrize("name", READABLE)
def test_a_pdf_holds_what_it_must(name: str) -> None:
    entry, document = EXPECTED[name], document_of(name)
    found = body(document)
    for text in [*entry.get("must", ()), *entry.get("must_words", ())]:
        assert text in found
    for text in entry.get("must_not", ()):
        assert text not in found
    if "title" in entry:
        assert document.title == entry["title"]
    if "pages" in entry:
        assert len(document.pages) == entry["pages"]
    if name in MENDED:
        assert document.status == Status.PARTIAL
        assert [warning.code for warning in document.warnings] == ["pdf-repaired"]


@pytest.mark.parametrize(
    "name", [name for name in READABLE if "paragraphs_in_order" in EXPECTED[name]]
)
def test_paragraphs_stand_whole_and_in_order(name: str) -> None:
    document = document_of(name)
    starts = EXPECTED[name]["paragraphs_in_order"]
    found = texts(document, "paragraph")
    known = [text for text in found if any(text.startswith(start) for start in starts)]
    assert [text[: len(start)] for text, start in zip(known, starts, strict=True)] == starts


@pytest.mark.parametrize("name", WITH_HEADINGS)
def test_headings_are_found(name: str) -> None:
    document, entry = document_of(name), EXPECTED[name]
    wanted = [key(text) for _, text in entry["headings"]]
    extra = {key(entry.get("title", "")), key(document.title or ""), "references"}
    headings = [block for block in document.blocks if block.kind == "heading"]
    found = [key(document.text[block.start : block.end]) for block in headings]
    right = sum(text in found for text in wanted)
    precision = sum(text in wanted or text in extra for text in found) / len(found)
    recall = right / len(wanted)
    assert 2 * precision * recall / (precision + recall) >= 0.95
    levels = {text: block.level for text, block in zip(found, headings, strict=True)}
    shift = {levels[key(text)] - level for level, text in entry["headings"] if key(text) in levels}
    assert len(shift) == 1, "levels stand in another relation"


@pytest.mark.parametrize("name", WITH_HEADINGS)
def test_furniture_is_found_and_nothing_else(name: str) -> None:
    document = document_of(name)
    pages, pattern = FURNITURE[name]
    found = texts(document, "paragraph", "furniture")
    assert all(re.match(pattern, text) for text in found)
    lines = sum(len(re.findall(r"\|", pattern)) + 1 for _ in range(pages))
    assert len(found) >= 0.92 * lines


def test_rows_of_tables() -> None:
    name = "pdf/twocol_tagged.pdf"
    document = document_of(name)
    rows = [
        [document.text[start:end] for start, end in block.attributes["cells"]]
        for block in document.blocks
        if block.kind == "table_row"
    ]
    for row in EXPECTED[name]["table_rows"]:
        assert row in rows


def test_a_dense_register_keeps_one_record_a_row() -> None:
    document = document_of("pdf/pdfplumber__nics-background-checks-2015-11.pdf")
    rows = [
        row for row in texts(document, "table_row") if row.startswith(("Alabama |", "Alaska |"))
    ]
    assert [row.split(" | ")[1] for row in rows] == ["18,870", "209"]


def test_tags_say_what_is_a_heading() -> None:
    document = document_of("pdf/pdf.js__structure_simple.pdf")
    assert document.metadata["heading_source"] == "tags"
    assert texts(document, "heading") == ["Heading 1", "Heading 2"]


def test_labels_of_pages() -> None:
    document = document_of("pdf/pdf.js__labelled_pages.pdf")
    labels = [page.label for page in document.pages]
    assert labels == ["i", "ii", "iii", "iv", "1", "2", "3", "a", "b", "4", "5"]
    assert document.status == Status.EMPTY


def test_ligatures_are_letters() -> None:
    text = document_of("pdf/pdf.js__copy_paste_ligatures.pdf").text
    assert unicodedata.normalize("NFKC", text) == "abcdeffffiflffifflststghijklmno"
