"""The trace of a question, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from merestone.types import JSON, Decision

_SHOWN = 20
"""Candidates and misses that are listed; all of them are in the JSON."""
_LISTED = ("stage", "milliseconds", "ranked", "near_misses", "pieces", "where")


def told_trace(trace: Sequence[Mapping[str, JSON]], decisions: Sequence[Decision] = ()) -> str:
    """Each stage with what it took and found, and what became of every candidate."""
    fates = {each.chunk: each for each in decisions}
    lines: list[str] = []
    for entry in trace:
        lines.append(_stage(entry))
        lines += _candidates(entry.get("ranked"), fates)
        lines += _near_misses(entry.get("near_misses"))
    total = sum(float(entry.get("milliseconds") or 0) for entry in trace)
    lines.append(f"{'in all':<12}{total:>9.1f} ms")
    return "\n".join(lines)


def _stage(entry: Mapping[str, Any]) -> str:
    if entry["stage"] == "filter":
        facts = _filter(entry)
    else:
        facts = "; ".join(
            f"{key.replace('_', ' ')} {_value(value)}"
            for key, value in entry.items()
            if key not in _LISTED and value not in (None, [], {})
        )
    return f"{entry['stage']:<12}{entry['milliseconds']:>9.1f} ms  {facts}".rstrip()


def _filter(entry: Mapping[str, Any]) -> str:
    if entry.get("where") is None:
        return "none"
    return f"{entry['documents']:,} of {entry['total']:,} documents: {entry['text']}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value[:_SHOWN]))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _candidates(ranked: Any, fates: Mapping[str, Decision]) -> Iterator[str]:
    if not isinstance(ranked, list) or not ranked:
        return
    yield "     #   score    meaning      words  rerank  candidate"
    for row in ranked[:_SHOWN]:
        place, rerank = row["rank"] or "–", row["rerank"]["rank"] if row["rerank"] else ""
        sides = f"{_side(row['dense']):>9}  {_side(row['lexical']):>9}  {rerank:>6}"
        name = f"{row['document']} {row['chunk'][:12]}"
        yield f"  {place:>4}  {row['score']:>6.3f}  {sides}  {name}: {_fate(row, fates)}"
    if len(ranked) > _SHOWN:
        yield f"        and {len(ranked) - _SHOWN} more (all of them with --json)"


def _side(side: Mapping[str, Any]) -> str:
    """The rank on one side; without one, that the side did not find it."""
    if side["rank"] is not None:
        return f"{side['rank']}."
    return "not found" if side["score"] is not None else "–"


def _fate(row: Mapping[str, Any], fates: Mapping[str, Decision]) -> str:
    fate = fates.get(row["chunk"])
    if fate is not None:
        return f"{fate.outcome}, {fate.reason}" if fate.reason else fate.outcome
    return "in" if row["returned"] else f"out, {row['removed_by']}"


def _near_misses(missed: Any) -> Iterator[str]:
    if isinstance(missed, list) and missed:
        yield "        without the filter there would also have been"
        yield from (f"          {row['document']} {row['chunk'][:12]}" for row in missed[:_SHOWN])
