"""Questions in the product's own forms, perhaps of another library."""

from __future__ import annotations

from pathlib import Path

from merestone.evaluation.questions.files import read_questions
from merestone.evaluation.questions.importing.values import Reading


def read_own(path: Path, judgements: Path | None = None) -> Reading:
    """One JSON object a line, or CSV with ``id,question,document,quote``."""
    return Reading(read_questions(path))
