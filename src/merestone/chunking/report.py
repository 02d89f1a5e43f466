"""How good a cutting is, judged by the document alone: no questions, no retrieval.

Whoever cut, only ranges are looked at, so that two cuttings of one document can be compared. A
structure is whole if one passage holds all of it, white space at its ends apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import get_args

from merestone.chunking.coverage import Coverage
from merestone.chunking.measures import Measure, SizeLimits
from merestone.chunking.passages import AnySpan, Passage, Places, passages_of
from merestone.text.graphemes import grapheme_boundary_before
from merestone.text.sentences import sentence_spans
from merestone.text.white_space import stripped
from merestone.text.words import is_inside_word
from merestone.types import (
    Block,
    BlockKind,
    ContextRole,
    Cutting,
    CuttingFinding,
    CuttingFindingKind,
    CuttingReport,
    Document,
    Dropped,
    Span,
    Tally,
    Tokenizer,
)

MAX_FINDINGS = 200

_WORD = re.compile(r"[^\W_]")

_WHOLE: dict[BlockKind, CuttingFindingKind] = {
    "paragraph": "paragraph_cut",
    "list_item": "list_item_cut",
    "list": "list_cut",
    "table_row": "table_row_cut",
    "table": "table_cut",
    "code": "code_cut",
    "quote": "quote_cut",
    "formula": "formula_cut",
    "caption": "caption_cut",
    "footnote": "footnote_cut",
    "definition": "definition_cut",
    "record": "record_cut",
    "symbol": "symbol_cut",
}
_PROSE = frozenset({"paragraph", "list_item", "quote", "caption", "footnote", "definition"})
"""Blocks whose own text is sentences."""


def examine_cutting(
    document: Document,
    spans: Cutting | Iterable[AnySpan],
    *,
    limits: SizeLimits | None = None,
    tokenizer: Tokenizer | None = None,
    dropped: Sequence[Dropped] = (),
    max_findings: int = MAX_FINDINGS,
) -> CuttingReport:
    """Judge a cutting of ``document``: a :class:`Cutting`, or any chunks or ranges.

    With a ``tokenizer`` every size in tokens is counted by it; without one the counts that the
    chunks bring are taken, if all bring one. Takes time linear in the text and the chunks, apart
    from sorting. Raises ``SettingsError`` for a range outside the text.
    """
    if isinstance(spans, Cutting):
        dropped = [*spans.dropped, *dropped]
    passages = passages_of(spans, len(document.text))
    findings = _Findings()
    measure = Measure(document.text, passages, limits or SizeLimits(), tokenizer)
    inspection = _Inspection(document, passages, measure, findings)
    inspection.structures()
    inspection.sentences()
    inspection.headings()
    inspection.lead_ins()
    inspection.table_headers()
    inspection.terms()
    inspection.sizes()
    inspection.cuts()
    coverage = Coverage(document.text, inspection.end, passages, dropped)
    findings.tally("uncovered", len(coverage.gaps))
    for gap in coverage.uncovered:
        findings.add("uncovered", gap.start, gap.end, None)
    return CuttingReport(
        document=document.id,
        chunks=len(passages),
        dropped=len(dropped),
        tokens=measure.token_sizes(),
        characters=measure.character_sizes(),
        tallies=findings.tallies(),
        body_characters=coverage.body,
        covered_characters=coverage.covered,
        dropped_characters=coverage.dropped,
        repeated_characters=coverage.repeated,
        repeated_tokens=measure.repeated(),
        context_tokens=measure.context_tokens(),
        findings=findings.first(max_findings),
        findings_total=findings.total,
    )


class _Findings:
    """Counts by kind, and the places."""

    def __init__(self) -> None:
        self._of: dict[CuttingFindingKind, int] = {}
        self._reconnected: dict[CuttingFindingKind, int] = {}
        self._places: dict[CuttingFindingKind, list[CuttingFinding]] = {}

    @property
    def total(self) -> int:
        return sum(map(len, self._places.values()))

    def tally(self, kind: CuttingFindingKind, of: int = 1, *, reconnected: bool = False) -> None:
        """Note ``of`` more places where ``kind`` could be found."""
        self._of[kind] = self._of.get(kind, 0) + of
        self._reconnected[kind] = self._reconnected.get(kind, 0) + reconnected

    def add(self, kind: CuttingFindingKind, start: int, end: int, chunk: int | None) -> None:
        self._places.setdefault(kind, []).append(CuttingFinding(kind, start, end, chunk))

    def tallies(self) -> dict[CuttingFindingKind, Tally]:
        return {
            kind: Tally(len(self._places.get(kind, ())), self._of[kind], self._reconnected[kind])
            for kind in get_args(CuttingFindingKind)
            if kind in self._of
        }

    def first(self, most: int) -> tuple[CuttingFinding, ...]:
        """At most ``most``, as evenly over the kinds as can be, in order of places."""
        lists = [sorted(found, key=_place) for found in self._places.values()]
        chosen: list[CuttingFinding] = []
        while lists and len(chosen) < most:
            share = max(1, (most - len(chosen)) // len(lists))
            for found in lists:
                chosen += found[:share]
            lists = [found[share:] for found in lists if len(found) > share]
        return tuple(sorted(chosen[:most], key=_place))


def _place(finding: CuttingFinding) -> tuple[int, int, str]:
    return finding.start, finding.end, finding.kind


class _Inspection:
    """Goes over the document once for each kind of finding."""

    def __init__(
        self,
        document: Document,
        passages: Sequence[Passage],
        measure: Measure,
        findings: _Findings,
    ) -> None:
        self.end = document.body_end
        self._document = document
        self._text = document.text
        self._passages = passages
        self._places = Places(passages)
        self._measure = measure
        self._findings = findings
        self._blocks = [
            block for block in document.blocks if block.layer == "body" and block.end <= self.end
        ]

    def structures(self) -> None:
        """Blocks that were cut though they would fit."""
        for block in self._blocks:
            kind = _WHOLE.get(block.kind)
            if kind is not None:
                self._judge_whole(kind, block.start, block.end)

    def sentences(self) -> None:
        """Sentences that were cut though they would fit."""
        for low, high in self._prose():
            for start, end in sentence_spans(self._text, low, high):
                if _WORD.search(self._text, start, end):
                    self._judge_whole("sentence_cut", start, end)

    def _judge_whole(self, kind: CuttingFindingKind, start: int, end: int) -> None:
        start, end = stripped(self._text, start, end)
        if self._places.touches(start, end) and self._measure.fits(start, end):
            self._judge(kind, start, end, holding=end)

    def _judge(self, kind: CuttingFindingKind, start: int, end: int, *, holding: int) -> None:
        """Find ``text[start:end]`` unless one passage holds it and the text up to ``holding``."""
        self._findings.tally(kind)
        if not self._places.holds(start, holding):
            self._findings.add(kind, start, end, self._places.first_reaching(start))

    def _prose(self) -> Iterator[tuple[int, int]]:
        """Ranges of sentences: the own text of each block of prose, between its children."""
        blocks = self._document.blocks
        if not blocks:
            yield 0, self.end
            return
        cursors: dict[int, int] = {}
        for index, block in enumerate(blocks):
            parent = block.parent
            if parent in cursors:
                yield cursors[parent], block.start
                cursors[parent] = block.end
            if block.kind in _PROSE and block.layer == "body" and block.end <= self.end:
                cursors[index] = block.start
        for index, start in cursors.items():
            yield start, blocks[index].end

    def headings(self) -> None:
        """Headings that a passage does not hold together with what they head."""
        headings = [block for block in self._blocks if block.kind == "heading"]
        document_end = Block("heading", self.end, self.end, level=-1)
        for block, following in pairwise([*headings, document_end]):
            match = _WORD.search(self._text, block.end, following.start)
            is_empty = match is None and (following.level or 1) <= (block.level or 1)
            if is_empty or not self._places.touches(block.start, block.end):
                continue
            holding = match.end() if match else following.start + 1
            self._judge("heading_left", block.start, block.end, holding=holding)

    def lead_ins(self) -> None:
        """Introducing sentences away from the beginning of what they introduce."""
        for block in self._blocks:
            span = _span(block, "lead_in")
            if span is None or not self._places.touches(*span):
                continue
            start = stripped(self._text, block.start, block.end)[0]
            chunk = self._places.first_reaching(start)
            parted = not self._places.holds(span.start, start + 1)
            helped = chunk is not None and self._has_context(chunk, "lead_in", span)
            self._findings.tally("lead_in_parted", reconnected=parted and helped)
            if parted:
                self._findings.add("lead_in_parted", *span, chunk)

    def _has_context(self, chunk: int, role: ContextRole, span: Span) -> bool:
        return any(
            context.role == role
            and context.start is not None
            and context.end is not None
            and context.start < span.end
            and span.start < context.end
            for context in self._passages[chunk].context
        )

    def table_headers(self) -> None:
        """Parts of tables behind the first, with and without the header."""
        tables = [
            (block, header)
            for block in self._blocks
            if block.kind == "table" and (header := _span(block, "header")) is not None
        ]
        parts = self._places.overlapping([(block.start, block.end) for block, _ in tables])
        for (block, header), chunks in zip(tables, parts, strict=True):
            for chunk in chunks:
                self._judge_table_part(block, header, chunk)

    def _judge_table_part(self, table: Block, header: Span, chunk: int) -> None:
        passage = self._passages[chunk]
        start, end = max(passage.start, header.end), min(passage.end, table.end)
        whole = passage.start <= header.start and header.end <= passage.end
        if whole or not self._text[start:end].strip():
            return
        helped = self._has_context(chunk, "table_header", header)
        self._findings.tally("header_missing", reconnected=helped)
        if not helped:
            self._findings.add("header_missing", start, end, chunk)

    def terms(self) -> None:
        """Terms away from the beginning of their definition."""
        for block in self._blocks:
            term = _span(block, "term") if block.kind == "definition" else None
            if term is None or not self._places.touches(*term):
                continue
            match = _WORD.search(self._text, term.end, block.end)
            if match is not None:
                self._judge("term_parted", *term, holding=match.end())

    def sizes(self) -> None:
        """Passages outside the limits."""
        limits, measure = self._measure.limits, self._measure
        own = measure.own or measure.embedded
        if limits.min_tokens is not None and own is not None:
            # Of a document that is one passage nothing could be larger.
            small = [size < limits.min_tokens and len(own) > 1 for size in own]
            self._judge_sizes("too_small", small)
        if limits.max_tokens is not None and measure.embedded is not None:
            large = [size > limits.max_tokens for size in measure.embedded]
            self._judge_sizes("too_many_tokens", large)
        if limits.max_chars is not None:
            long = [passage.end - passage.start > limits.max_chars for passage in self._passages]
            self._judge_sizes("too_many_characters", long)

    def _judge_sizes(self, kind: CuttingFindingKind, wrong: Sequence[bool]) -> None:
        self._findings.tally(kind, len(wrong))
        for index, passage in enumerate(self._passages):
            if wrong[index]:
                self._findings.add(kind, passage.start, passage.end, index)

    def cuts(self) -> None:
        """Edges of passages that are inside a grapheme, or else inside a word."""
        edges = {passage.start: index for index, passage in enumerate(self._passages)}
        edges |= {passage.end: index for index, passage in enumerate(self._passages)}
        inner = sorted(edge for edge in edges if 0 < edge < self.end)
        self._findings.tally("cut_in_word", len(inner))
        self._findings.tally("cut_in_grapheme", len(inner))
        for edge in inner:
            if self._text[edge].isspace():
                continue
            if grapheme_boundary_before(self._text, edge) != edge:
                self._findings.add("cut_in_grapheme", edge, edge, edges[edge])
            elif is_inside_word(self._text, edge):
                self._findings.add("cut_in_word", edge, edge, edges[edge])


def _span(block: Block, key: str) -> Span | None:
    """A span that a block's attributes hold, if it does and the span is not empty."""
    value = block.attributes.get(key)
    if not isinstance(value, list | tuple) or value[0] >= value[1]:
        return None
    return Span(value[0], value[1])
