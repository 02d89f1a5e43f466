"""Plans and syncs in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from merestone.cli.session import amount, told_problem
from merestone.types import DocumentChange, SyncReport

_SHOWN = 20
_SHOWN_IN_A_ROUND = 5
_NAMES = {
    "added": "added",
    "changed": "changed",
    "moved": "moved",
    "access": "access only",
    "removed": "removed",
    "unchanged": "unchanged",
    "failed": "failed",
}
"""In the order in which they are told."""
_REASONS = {
    "text": "edited",
    "reading": "read otherwise",
    "cutting": "cut otherwise",
    "embedder": "for another embedder",
}


def told(report: SyncReport, *, planned: bool, every: bool = False) -> str:
    """What was done, or would be. Of a plan, each change; of many of one kind the first ones,
    unless ``every`` one is wanted."""
    lines = [f"Documents: {_counts(report)}."]
    chunks = report.chunks
    if chunks.added or chunks.removed or chunks.changed:
        lines.append(
            f"Chunks: {chunks.added:,} added, {chunks.removed:,} removed, "
            f"{chunks.changed:,} changed, {chunks.kept:,} kept."
        )
    lines.append(_embedding(report, planned))
    if planned:
        for kind in _NAMES:
            lines += _changes(kind, [c for c in report.changes if c.change == kind], every)
    lines += _first(map(told_problem, report.problems), every)
    lines += report.notes
    if report.refusal:
        found = report.refusal
        lines.append(f"A sync would refuse this: {found.message} {found.remedy} [{found.code}]")
    return "\n".join(lines)


def told_round(report: SyncReport) -> str:
    """What one sync of a watch did: a line for each of the first documents, and if that is not
    all, how many there are of each kind."""
    named = report.changes[:_SHOWN_IN_A_ROUND]
    lines = [f"{_NAMES[change.change]} {_change(change)}" for change in named]
    if len(report.changes) > len(named):
        # What did not change is no part of a round, which may have looked at a part alone.
        kinds = [kind for kind in _NAMES if kind != "unchanged" and report.documents[kind]]
        lines.insert(0, f"Documents: {', '.join(_count(report, kind) for kind in kinds)}.")
        lines.append(f"  and {len(report.changes) - len(named):,} more")
    if report.embedded:
        lines.append(_embedding(report, planned=False))
    lines += _first(map(told_problem, report.problems), every=False)
    return "\n".join([*lines, *report.notes])


def told_duration(seconds: float) -> str:
    """``40 s``, ``3 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _counts(report: SyncReport) -> str:
    parts = [
        _count(report, kind) for kind in _NAMES if report.documents[kind] or kind == "unchanged"
    ]
    if report.failed_before:
        parts.append(f"{report.failed_before:,} failed before and did not change")
    return ", ".join(parts)


def _count(report: SyncReport, kind: str) -> str:
    """How many documents of one kind; of those that changed, why, unless all were edited."""
    count = f"{report.documents[kind]:,} {_NAMES[kind]}"
    if kind != "changed":
        return count
    reasons: Counter[str | None] = Counter(
        change.reason for change in report.changes if change.change == kind
    )
    told = [f"{reasons[reason]:,} {words}" for reason, words in _REASONS.items() if reasons[reason]]
    return f"{count} ({', '.join(told)})" if reasons.keys() - {"text", None} else count


def _embedding(report: SyncReport, planned: bool) -> str:
    if not report.embedded:
        return f"Nothing {'to embed' if planned else 'was embedded'}."
    verb = "would be embedded" if planned else "embedded"
    line = (
        f"{amount(report.embedded, 'text')} {verb} ({report.tokens:,} tokens), "
        f"{report.cached:,} known already."
    )
    if report.estimate and report.estimate.seconds is not None:
        line += f" About {told_duration(report.estimate.seconds)}, by what past syncs took."
    if report.estimate and report.estimate.price is not None:
        line += f" Price: {report.estimate.price:,.4f}."
    return line


def _changes(kind: str, changes: list[DocumentChange], every: bool) -> list[str]:
    if not changes:
        return []
    head = f"{_NAMES[kind].capitalize()}, {amount(len(changes), 'document')}:"
    return [head, *_first((f"  {_change(change)}" for change in changes), every)]


def _change(change: DocumentChange) -> str:
    """A document, where it came from, and how much of it is new, in a plan to the embedder."""
    counts = change.counts
    new = counts.added + counts.changed
    total = new + counts.kept
    parts = [f" from {change.moved_from}"] if change.moved_from else []
    if change.change == "removed":
        parts += [f" ({amount(counts.removed, 'passage')})"] if counts.removed else []
    elif total and change.to_embed is not None:
        parts.append(f" ({amount(total, 'passage')}, {change.to_embed or 'none'} to embed)")
    elif total and change.change == "moved":
        # Their ids are new, since they name the document; their texts are not.
        parts.append(f" ({amount(total, 'passage')})")
    elif total:
        parts.append(f" ({new:,} of {amount(total, 'passage')} new)")
    return change.document + "".join(parts)


def _first(lines: Iterable[str], every: bool) -> list[str]:
    """The first lines, and how many are left out."""
    found = list(lines)
    if every or len(found) <= _SHOWN:
        return found
    return [*found[:_SHOWN], f"  and {len(found) - _SHOWN:,} more"]
