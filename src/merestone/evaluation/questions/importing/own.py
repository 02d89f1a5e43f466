"""Questions in the product's own forms, perhaps of another library."""

from __future__ import annotations

from pathlib import Path

from merestone.evaluation.questions.files import read_questions
from merestone.evaluation.questions.values import Question


def read_own(path: Path, judgements: Path | None = None) -> list[Question]:
    """One JSON object a line, or CSV with ``id,question,document,quote``."""
    return read_questions(path)
