"""Examinations in words."""

from __future__ import annotations

from merestone.types import Examination

_WORDS = {
    "rebuilt": "documents read again from their files",
    "not_rebuilt": "documents not read again, since their source is no file or has other bytes now",
}
"""Of what was checked, where the name alone does not say it."""


def told(examination: Examination) -> str:
    """What was looked at, and what was found."""
    lines = [
        f"{_WORDS.get(name, name.replace('_', ' '))}: {value}"
        for name, value in examination.checked.items()
    ]
    for finding in examination.findings:
        where = f"{finding.document}: " if finding.document else ""
        lines.append(f"FOUND {where}{finding.message} {finding.remedy} [{finding.code}]")
    count = len(examination.findings)
    lines.append("Nothing was found wrong." if not count else f"{count} findings.")
    return "\n".join(lines)
