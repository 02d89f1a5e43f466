"""Plans and syncs in words."""

from __future__ import annotations

from merestone.cli.session import amount, told_problem
from merestone.types import Problem, SyncReport

_SHOWN = 20


def told(report: SyncReport, *, planned: bool) -> str:
    """What was done, or would be."""
    documents = report.documents
    counts = ", ".join(
        f"{documents[kind]:,} {kind}"
        for kind in ("added", "changed", "moved", "access", "removed", "unchanged", "failed")
        if documents[kind] or kind == "unchanged"
    )
    lines = [f"Documents: {counts}."]
    chunks = report.chunks
    if chunks.added or chunks.removed or chunks.changed:
        lines.append(
            f"Chunks: {chunks.added:,} added, {chunks.removed:,} removed, "
            f"{chunks.changed:,} changed, {chunks.kept:,} kept."
        )
    verb = "would be embedded" if planned else "embedded"
    if report.embedded:
        lines.append(
            f"{amount(report.embedded, 'text')} {verb} ({report.tokens:,} tokens), "
            f"{report.cached:,} known already."
        )
    else:
        lines.append(f"Nothing {'to embed' if planned else 'was embedded'}.")
    if planned:
        lines.extend(_changes(report))
    lines.extend(_problems(report.problems))
    return "\n".join(lines)


def _changes(report: SyncReport) -> list[str]:
    lines = []
    for change in report.changes[:_SHOWN]:
        origin = f" from {change.moved_from}" if change.moved_from else ""
        new = change.counts.added + change.counts.changed
        total = new + change.counts.kept
        share = f" ({new} of {amount(total, 'passage')} new)" if total else ""
        lines.append(f"  {change.change} {change.document}{origin}{share}")
    if len(report.changes) > _SHOWN:
        lines.append(f"  and {len(report.changes) - _SHOWN:,} more (all of them with --json)")
    return lines


def _problems(problems: tuple[Problem, ...]) -> list[str]:
    lines = [told_problem(problem) for problem in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        lines.append(f"  and {len(problems) - _SHOWN:,} more (all of them with --json)")
    return lines
