"""Cuttings, what is good or bad about them, and how they changed, in words."""

from __future__ import annotations

from collections.abc import Iterator

from merestone.cli.session import amount, indented
from merestone.types import (
    Chunk,
    ChunkChange,
    Cutting,
    CuttingChanges,
    CuttingFindingKind,
    CuttingReport,
    Document,
    SizeSummary,
    Tally,
)

_BAR = 40
"""Width of the longest bar of a histogram."""
_SHOWN = 20
"""Findings that are listed; all that are known are in the JSON."""
_QUOTE = 60
"""Code points of a chunk or a finding that are shown of it on one line."""

_NAMES: dict[CuttingFindingKind, str] = {
    "sentence_cut": "sentences cut",
    "paragraph_cut": "paragraphs cut",
    "list_item_cut": "list items cut",
    "list_cut": "lists cut",
    "table_row_cut": "table rows cut",
    "table_cut": "tables cut",
    "code_cut": "code blocks cut",
    "quote_cut": "quotes cut",
    "formula_cut": "formulas cut",
    "caption_cut": "captions cut",
    "footnote_cut": "footnotes cut",
    "definition_cut": "definitions cut",
    "record_cut": "records cut",
    "symbol_cut": "functions, classes and their like cut",
    "heading_left": "headings left at a chunk's end",
    "lead_in_parted": "lead-ins parted from what they introduce",
    "header_missing": "table parts without their header",
    "term_parted": "terms parted from their definitions",
    "too_small": "chunks too small",
    "too_many_tokens": "chunks with too many tokens",
    "too_many_characters": "chunks with too many characters",
    "cut_in_word": "cuts inside a word",
    "cut_in_grapheme": "cuts inside a grapheme",
    "uncovered": "gaps with text in no chunk",
}


def told_chunks(document: Document, cutting: Cutting) -> str:
    """Each chunk with its boundaries, and what was dropped."""
    parts = [_chunk(chunk) for chunk in cutting.chunks]
    parts += [
        f"dropped {dropped.start}-{dropped.end}: {dropped.reason}" for dropped in cutting.dropped
    ]
    parts.append(
        f"{len(cutting.chunks)} chunks of {document.id} ({document.status}), "
        f"{sum(chunk.tokens for chunk in cutting.chunks)} tokens."
    )
    return "\n\n".join(parts)


def _chunk(chunk: Chunk) -> str:
    where = f"{chunk.start}-{chunk.end}"
    if chunk.lines:
        where += f", lines {chunk.lines[0]}-{chunk.lines[1]}"
    if chunk.pages:
        where += f", pages {', '.join(map(str, chunk.pages))}"
    begin, end = chunk.boundary_start, chunk.boundary_end
    head = [
        f"--- {chunk.ordinal + 1}/{chunk.total}  {where}  {chunk.tokens} tokens  {chunk.kind}  "
        f"{chunk.id[:12]}",
        f"    begins at: {begin.reason} ({begin.strength:.2f})   "
        f"ends at: {end.reason} ({end.strength:.2f})",
    ]
    if chunk.heading_path:
        head.append(f"    path: {' > '.join(chunk.heading_path)}")
    head += [
        f"    {role}: {' '.join(span.text.split())}"
        for role, spans in (("context", chunk.context), ("shed", chunk.shed))
        for span in spans
    ]
    return "\n".join(head) + "\n" + indented(chunk.text, "  | ")


def told_report(report: CuttingReport, document: Document) -> str:
    """Sizes as histograms, the counts, and the first findings with their places."""
    lines = [f"{amount(report.chunks, 'chunk')} of {report.document}, {report.dropped} dropped."]
    if report.tokens is not None:
        lines += ["", *_histogram("Tokens with context", report.tokens)]
    lines += ["", *_histogram("Characters", report.characters)]
    lines += ["", *_shares(report)]
    lines += ["", "Found, of how many that would fit or could be:"]
    lines += [_counted(_NAMES[kind], tally) for kind, tally in report.tallies.items() if tally.of]
    if report.findings:
        lines += ["", "Where:", *_places(report, document)]
    return "\n".join(lines)


def _histogram(title: str, sizes: SizeSummary) -> Iterator[str]:
    limit = f", limit {sizes.limit:,}" if sizes.limit is not None else ""
    yield (
        f"{title}: {sizes.total:,}; smallest {sizes.minimum:,}, median {sizes.median:,}, "
        f"90 % up to {sizes.p90:,}, largest {sizes.maximum:,}{limit}"
    )
    most = max((size.count for size in sizes.bins), default=0) or 1
    for size in sizes.bins:
        if size.up_to is None and not size.count:
            continue
        label = f"{size.above + 1:,}-{size.up_to:,}" if size.up_to else f"over {size.above:,}"
        bar = "#" * -(-size.count * _BAR // most)
        yield f"  {label:>13}  {size.count:>6,}  {bar}".rstrip()


def _shares(report: CuttingReport) -> Iterator[str]:
    yield (
        f"Covered {report.coverage:.2%} of the text"
        + (f", dropped {report.dropped_characters:,} characters" if report.dropped else "")
        + f"; {report.repetition:.1%} of what the chunks hold is repeated."
    )
    if report.context_share is not None:
        yield f"{report.context_share:.1%} of the tokens are context."


def _counted(name: str, tally: Tally) -> str:
    line = f"  {tally.count:>6,} of {tally.of:>7,}  {name}"
    if tally.reconnected:
        line += f" ({tally.reconnected:,} reconnected as context)"
    return line


def _places(report: CuttingReport, document: Document) -> Iterator[str]:
    for finding in report.findings[:_SHOWN]:
        where = f"{finding.start}-{finding.end}"
        if lines := document.lines_of(finding.start, finding.end):
            where += f", line {lines[0]}"
        shown = _quote(document.text, finding.start, finding.end)
        yield f"  {_NAMES[finding.kind]}, at {where}: {shown}"
    if report.findings_total > _SHOWN:
        yield f"  and {report.findings_total - _SHOWN:,} more (more of them with --json)"


def _quote(text: str, start: int, end: int) -> str:
    """The beginning of a range on one line; of a cut what is on both sides."""
    if start == end:
        before, after = text[max(0, start - _QUOTE // 2) : start], text[start : start + _QUOTE // 2]
        return f"{_flat(before)}|{_flat(after)}"
    shown = _flat(text[start : min(end, start + _QUOTE)])
    return f"{shown} …" if end - start > _QUOTE else shown


def _flat(text: str) -> str:
    return " ".join(text.split())


def told_changes(changes: CuttingChanges, old: Document, new: Document) -> str:
    """The counts, and each chunk that is not the same on one line."""
    counts = changes.counts
    lines = [
        f"Chunks of {old.id} in {new.id}: {counts['same']:,} same, {counts['moved']:,} moved, "
        f"{counts['changed']:,} changed, {counts['gone']:,} gone; {counts['new']:,} new."
    ]
    lines += [_change(change, old) for change in changes.changes if change.outcome != "same"]
    lines += [
        f"  new      {chunk.id[:12]} at {chunk.start}-{chunk.end}: "
        f"{_quote(new.text, chunk.start, chunk.end)}"
        for chunk in changes.new
    ]
    return "\n".join(lines)


def _change(change: ChunkChange, old: Document) -> str:
    line = f"  {change.outcome:<8} {change.id[:12]}"
    if change.to and change.to != (change.id,):
        line += f" -> {', '.join(there[:12] for there in change.to)}"
    if change.outcome == "changed" and change.to == (change.id,):
        line += " (its context)"
    line += f" at {change.start}-{change.end}"
    if change.new_start is not None:
        line += f" -> {change.new_start}-{change.new_end}"
    return f"{line}: {_quote(old.text, change.start, change.end)}"
