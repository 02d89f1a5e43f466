"""Examinations in words."""

from __future__ import annotations

from merestone.types import Examination


def told(examination: Examination) -> str:
    """What was looked at, and what was found."""
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in examination.checked.items()]
    for finding in examination.findings:
        where = f"{finding.document}: " if finding.document else ""
        lines.append(f"FOUND {where}{finding.message} {finding.remedy} [{finding.code}]")
    count = len(examination.findings)
    lines.append("Nothing was found wrong." if not count else f"{count} findings.")
    return "\n".join(lines)
