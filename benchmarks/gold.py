"""Evaluation sets: documents, and questions whose answers are spans of them.

A set is a folder with ``documents/`` and ``questions.jsonl``. Gold spans are given in the source;
here they are found in ``Document.text``, so that any cutting of that text can be judged by them.
"""

from __future__ import annotations

import json
import os
import pickle
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from merestone import Document
from merestone.evaluation.gold.page_quotes import dense_part
from merestone.extraction import detect_media_type, extractor_for, read_document
from merestone.text.hashing import digest
from merestone.types import ExtractionError, RawDocument, SourceSpan

Span = tuple[str, int, int]
"""A document's id, and a half-open range of code points of its text."""

_CJK = "぀-ヿ㐀-鿿가-힯"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_LETTERS = re.compile(r"\w+")

_SHORTEST_RUN = 3
"""Shorter runs of matching words on a page are chance, unless the quote is as short."""


@dataclass
class View:
    """A document, and where its words begin.

    A word is what the sets' own scorer counts as one: a CJK character, a punctuation mark, or a
    run of other letters and digits.
    """

    document: Document

    @cached_property
    def starts(self) -> list[int]:
        return [match.start() for match in _WORD.finditer(self.document.text)]

    def words(self, start: int, end: int) -> range:
        """Indexes of the words that begin in ``[start, end)``."""
        return range(bisect_left(self.starts, start), bisect_left(self.starts, end))

    def locate(self, item: Mapping[str, object]) -> tuple[int, int] | None:
        """Where the evidence is in the document's text; ``None`` if it has no text."""
        if item.get("page"):
            return self._on_page(str(item["quote"]), int(str(item["page"])))
        spans = self.document.segments.from_source(
            SourceSpan(int(str(item["start"])), int(str(item["end"])))
        )
        # Furniture and notes within the evidence stand behind the body, and are not cut with it.
        body_end = self.document.body_end
        body = [(start, min(end, body_end)) for start, end in spans if start < body_end]
        start, end = max(body or spans, key=lambda span: span[1] - span[0], default=(0, 0))
        text = self.document.text[start:end]
        if not text.strip():
            return None
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def _on_page(self, quote: str, page: int) -> tuple[int, int] | None:
        """The run of the page's words that matches the words of the quote best."""
        found = self._page_words.get(page, [])
        text = self.document.text
        wanted = [word.lower() for word in _LETTERS.findall(quote)]
        words = [text[start:end].lower() for start, end in found]
        matcher = SequenceMatcher(None, words, wanted, autojunk=False)
        blocks = [
            block
            for block in matcher.get_matching_blocks()
            if block.size >= min(_SHORTEST_RUN, max(1, len(wanted)))
        ]
        if not blocks:
            return None
        first, last = dense_part(blocks)
        return found[blocks[first].a][0], found[blocks[last].a + blocks[last].size - 1][1]

    @cached_property
    def _page_words(self) -> dict[int, list[tuple[int, int]]]:
        """Ranges of letters of each page, of its body if there are any: what stands behind the
        body is near on the page and far in the text."""
        text, body_end = self.document.text, self.document.body_end
        pages = {}
        for page in self.document.pages:
            found = [
                match.span()
                for word in page.words
                for match in _LETTERS.finditer(text, word.start, word.end)
            ]
            pages[page.number] = [span for span in found if span[1] <= body_end] or found
        return pages


@dataclass
class Question:
    """A question with its gold in the coordinates of the documents' texts."""

    id: str
    text: str
    match: str
    """``all``: a full answer needs every span; ``any``: each span alone answers."""
    scope: list[str]
    """Documents that the search is limited to; empty: all."""
    gold: list[Span] = field(default_factory=list)


@dataclass
class GoldSet:
    """A set, read."""

    name: str
    views: dict[str, View]
    """By document id, in the order of ids."""
    questions: list[Question]
    """Those with at least one span that was found."""
    asked: int
    """Questions of the set, found or not."""
    missing: int
    """Gold spans that are in no text of their document."""
    unread: dict[str, str]
    """Documents that could not be read, and the code of the error."""

    @property
    def gold(self) -> list[Span]:
        """Distinct gold spans, in order."""
        return sorted({span for question in self.questions for span in question.gold})

    @property
    def losses(self) -> str:
        """What of the set is not measured, in a line of its own; empty if everything is."""
        parts = []
        if self.missing:
            parts.append(f"{self.missing} gold spans are not in the text")
        for code, count in Counter(self.unread.values()).items():
            parts.append(f"{count} documents are not read ({code})")
        return f"  {self.name}: {', '.join(parts)}\n" if parts else ""


def data_folder() -> Path:
    """The folder ``eval`` of the data; ``SystemExit`` naming the variable if it is not set."""
    shared = os.environ.get("MERESTONE_BENCH_DATA")
    if not shared:
        raise SystemExit("MERESTONE_BENCH_DATA is not set: no data to measure on.")
    return Path(shared) / "eval"


def set_names() -> list[str]:
    """Names of the sets that the data holds."""
    return sorted(path.parent.name for path in data_folder().glob("*/questions.jsonl"))


def load_set(name: str, work: Path, *, small: bool = False, fresh: bool = False) -> GoldSet:
    """The set called ``name``. ``small``: only the documents and questions of ``small.json``.

    Documents are read once and kept below ``work``; ``fresh`` reads them again.
    """
    folder = data_folder() / name
    documents: Collection[str] | None = None
    asked: Collection[str] | None = None
    if small:
        part = json.loads((data_folder() / "small.json").read_text("utf-8"))[name]
        documents, asked = set(part["documents"]), set(part["questions"])
    views, unread = {}, {}
    for path in sorted((folder / "documents").rglob("*")):
        document_id = path.relative_to(folder / "documents").as_posix()
        if not path.is_file() or (documents is not None and document_id not in documents):
            continue
        try:
            views[document_id] = View(_read(path, document_id, work / "documents", fresh))
        except ExtractionError as error:
            unread[document_id] = error.code
    rows = [
        row
        for row in question_rows(folder / "questions.jsonl")
        if asked is None or row["id"] in asked
    ]
    questions = list(located(rows, views.get))
    missing = sum(len(row["evidence"]) for row in rows) - sum(len(q.gold) for q in questions)
    return GoldSet(name, views, questions, len(rows), missing, unread)


def question_rows(path: Path) -> list[dict[str, object]]:
    """The lines of a ``questions.jsonl``."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def located(
    rows: Sequence[Mapping[str, object]], view_of: Callable[[str], View | None]
) -> Iterator[Question]:
    """Questions of which at least one gold span is found in the text."""
    for row in rows:
        question = Question(
            row["id"], row["question"], row.get("match", "all"), list(row.get("scope") or [])
        )
        for item in row["evidence"]:
            view = view_of(item["doc"])
            place = view.locate(item) if view else None
            if place:
                question.gold.append((item["doc"], *place))
        if question.gold:
            yield question


def _read(path: Path, document_id: str, kept: Path, fresh: bool) -> Document:
    """The document at ``path``; pickled by its bytes and the reader's revision, since reading
    PDFs takes minutes."""
    data = path.read_bytes()
    raw = RawDocument(document_id, data)
    extractor = extractor_for(detect_media_type(document_id, data))
    reader = f"{extractor.name} {extractor.revision}" if extractor else "none"
    file = kept / f"{digest(document_id, data, reader)}.pickle"
    if file.is_file() and not fresh:
        document: Document = pickle.loads(file.read_bytes())
        return document
    document = read_document(raw)
    kept.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps(document, pickle.HIGHEST_PROTOCOL))
    unfinished.replace(file)
    return document
