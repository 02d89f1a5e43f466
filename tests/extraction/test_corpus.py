"""Real and generated documents with what must hold of each, and evaluation sets whose gold spans
are places in the source files."""

from __future__ import annotations

import html
import json
import os
import re
from functools import cache
from pathlib import Path

import pytest
from extraction.checks import attribute, check, read

from merestone.extraction.encoding import decode
from merestone.types import Document

FOLDER = os.environ.get("MERESTONE_BENCH_DATA")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="MERESTONE_BENCH_DATA is not set")
SHARED = Path(FOLDER or "/")
CORPUS = SHARED / "corpus"
KINDS = ("md", "txt", "html", "csv", "jsonl", "py", "rst", "ts", "ipynb")


def lines_of(path: Path) -> list[dict]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


EXPECTED = [
    entry
    for entry in lines_of(CORPUS / "expected.jsonl")
    if entry["file"].split("/")[0] in ("md", "txt", "html")
]


@cache
def document_of(path: Path) -> Document:
    return read(path.read_bytes(), path.name)


def grid(document: Document) -> list[list[str]]:
    rows = [block for block in document.blocks if block.kind == "table_row"]
    return [[document.text[s:e] for s, e in row.attributes["cells"]] for row in rows]


@pytest.mark.parametrize("entry", EXPECTED, ids=lambda entry: entry["file"])
def test_a_document_holds_what_it_must(entry: dict) -> None:
    document = document_of(CORPUS / entry["file"])
    body = document.text[: document.body_end]
    headings = [block for block in document.blocks if block.kind == "heading"]
    found = [(block.level, attribute(document, block, "content")) for block in headings]
    assert "\ufffd" not in document.text
    for text in entry.get("must", ()):
        assert text in body
    for text in entry.get("must_not", ()):
        assert text not in document.text
    for text in entry.get("boilerplate", ()):
        assert text not in body
        assert text in document.text
    for text in entry.get("must_not_headings", ()):
        assert not any(text in content for _, content in found)
    if "title" in entry:
        assert document.title == entry["title"]
    if "headings" in entry:
        assert [list(heading) for heading in found] == entry["headings"]
    if "heading_lines" in entry:
        lines = [document.lines_of(block.start, block.end) for block in headings]
        assert [line[0] for line in lines if line] == entry["heading_lines"]
    if "table_rows" in entry:
        assert grid(document) == entry["table_rows"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_keeps_the_invariants(kind: str) -> None:
    paths = sorted((CORPUS / kind).iterdir())
    assert paths
    for path in paths:
        document = document_of(path)
        decoded = decode(path.read_bytes())
        check(document, "\ufeff" * decoded.mark + decoded.text)
        if kind not in ("html", "ipynb"):
            assert document.text == decoded.text


def test_a_novel_is_paragraphs_and_nothing_made_up() -> None:
    document = document_of(SHARED / "samples" / "novel" / "2701-0.txt")
    kinds = {block.kind for block in document.blocks}
    assert kinds <= {"paragraph", "list", "list_item"}
    assert sum(block.kind == "list_item" for block in document.blocks) < 10
    assert sum(block.kind == "paragraph" for block in document.blocks) > 2500


def questions(name: str) -> list[dict]:
    """Every seventh question of a set."""
    return lines_of(SHARED / "eval" / name / "questions.jsonl")[::7]


def test_entries_of_manual_pages_are_whole_definitions() -> None:
    evidence = [span for question in questions("tech_man") for span in question["evidence"]]
    assert len(evidence) >= 40
    whole = 0
    for span in evidence:
        document = document_of(SHARED / "eval" / "tech_man" / "documents" / span["doc"])
        assert document.text[span["start"] : span["end"]] == span["quote"]
        whole += any(
            (block.kind, block.start, block.end) == ("definition", span["start"], span["end"])
            for block in document.blocks
        )
    assert whole >= 0.98 * len(evidence)


def test_evidence_in_html_source_is_one_span_of_the_text_and_one_block() -> None:
    evidence = [span for question in questions("id_postgres") for span in question["evidence"]]
    assert len(evidence) >= 40
    whole = 0
    for span in evidence:
        document = document_of(SHARED / "eval" / "id_postgres" / "documents" / span["doc"])
        (found,) = document.segments.from_source((span["start"], span["end"]))
        quoted = html.unescape(re.sub(r"<[^>]*>", "", span["quote"]))
        text = document.text[found.start : found.end]
        assert re.findall(r"\w", text) == re.findall(r"\w", quoted)
        whole += any(
            block.kind in ("definition", "table_row") and (block.start, block.end) == found
            for block in document.blocks
        )
    assert whole >= 0.95 * len(evidence)
