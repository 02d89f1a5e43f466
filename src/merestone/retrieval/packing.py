"""The answer to ``context``: passages that fill a token budget and never exceed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merestone.chunking.render import shown
from merestone.retrieval.candidates import find_candidates
from merestone.retrieval.citation import CitedDocuments, cite, place
from merestone.retrieval.searching import check_question
from merestone.types import (
    Chunk,
    ContextResult,
    Embedder,
    Filter,
    LeftOut,
    Passage,
    RetrievalSettings,
    SettingsError,
    Snapshot,
    Tokenizer,
)

_CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class _Range:
    """A span of one document, made of chunks that overlap or touch."""

    document: str
    start: int
    end: int
    chunks: tuple[Chunk, ...]


def context(
    snapshot: Snapshot,
    embedder: Embedder,
    tokenizer: Tokenizer,
    settings: RetrievalSettings,
    query: str,
    *,
    budget: int,
    mode: str,
    where: Filter | None,
) -> ContextResult:
    """Fill ``budget`` tokens of ``tokenizer`` with the best passages, in rank order.

    Separators and citations are counted. A chunk that overlaps or touches a passage of the same
    document becomes part of it. What does not fit is left out, with the reason, and the next is
    tried.
    """
    asked = check_question(query, _CANDIDATES, mode)
    if not isinstance(budget, int) or budget < 1:
        raise SettingsError(
            "invalid-budget",
            f"The budget of {budget!r} tokens is not a whole number from 1 on.",
            "Change it.",
        )
    found = find_candidates(snapshot, embedder, query, _CANDIDATES, asked, where, settings)
    by_number = snapshot.by_number([item.number for item in found.ranked])
    packer = _Packer(CitedDocuments(snapshot), tokenizer, budget)
    for item in found.ranked:
        if item.number in by_number:
            packer.offer(by_number[item.number])
    return packer.result(query, snapshot.library_version)


class _Packer:
    def __init__(self, documents: CitedDocuments, tokenizer: Tokenizer, budget: int) -> None:
        self._documents = documents
        self._tokenizer = tokenizer
        self._budget = budget
        self._ranges: list[_Range] = []
        self._used = 0
        self._left_out: list[LeftOut] = []

    def offer(self, chunk: Chunk) -> None:
        """Take ``chunk`` in if the whole text stays within the budget."""
        ranges = merged(self._ranges, chunk, self._documents.of(chunk.document).text)
        used = self._count(self._text(ranges))
        if used <= self._budget:
            self._ranges, self._used = ranges, used
            return
        free = self._budget - self._used
        self._left_out.append(
            LeftOut(
                chunk.id,
                f"needs {used - self._used} tokens, {free} of the budget are left",
                chunk.document,
                chunk.lines,
            )
        )

    def result(self, query: str, library_version: int) -> ContextResult:
        passages = []
        for number, part in enumerate(self._ranges, 1):
            passage = self._passage(part)
            tokens = self._count(_rendered(number, passage))
            passages.append(replace(passage, tokens=tokens))
        return ContextResult(
            query=query,
            budget=self._budget,
            tokens=self._used,
            text=self._text(self._ranges),
            passages=tuple(passages),
            left_out=tuple(self._left_out),
            library_version=library_version,
        )

    def _text(self, ranges: Sequence[_Range]) -> str:
        return "\n\n".join(
            _rendered(number, self._passage(part)) for number, part in enumerate(ranges, 1)
        )

    def _count(self, text: str) -> int:
        return self._tokenizer.counts([text])[0]

    def _passage(self, part: _Range) -> Passage:
        citation = cite(self._documents.of(part.document), part.chunks)
        return Passage(
            document=part.document,
            version=citation.version,
            start=part.start,
            end=part.end,
            text=citation.quote,
            tokens=0,
            heading_path=citation.heading_path,
            citation=citation,
            chunks=tuple(chunk.id for chunk in part.chunks),
            context=tuple(
                span for span in part.chunks[0].context if span.role not in ("title", "heading")
            ),
        )


def merged(ranges: Sequence[_Range], chunk: Chunk, text: str) -> list[_Range]:
    """``ranges`` with ``chunk``: joined to those that it overlaps or touches (only white space
    between), in the place of the first of them; else as a new range at the end."""
    added = _Range(chunk.document, chunk.start, chunk.end, (chunk,))
    result: list[_Range] = []
    at: int | None = None
    for part in ranges:
        if part.document == added.document and _touch(part, added, text):
            chunks = {one.id: one for one in (*part.chunks, *added.chunks)}
            added = _Range(
                part.document,
                min(part.start, added.start),
                max(part.end, added.end),
                tuple(sorted(chunks.values(), key=lambda one: one.ordinal)),
            )
            at = len(result) if at is None else at
        else:
            result.append(part)
    result.insert(len(result) if at is None else at, added)
    return result


def _touch(one: _Range, other: _Range, text: str) -> bool:
    first, second = sorted((one, other), key=lambda part: part.start)
    return second.start <= first.end or not text[first.end : second.start].strip()


def _rendered(number: int, passage: Passage) -> str:
    added = "".join(f"({shown(span)})\n" for span in passage.context)
    return f"[{number}] {place(passage.citation)}\n{added}{passage.text}"
