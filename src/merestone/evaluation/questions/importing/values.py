"""What a file of another tool gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from merestone.evaluation.questions.values import Question

LeftOut = Mapping[str, Sequence[str]]
"""Ids of questions that are not taken, by the reason: words that go on after ``left out, ``."""


@dataclass(frozen=True)
class Reading:
    questions: list[Question]
    """Documents have the names that they have there."""
    left_out: LeftOut = field(default_factory=dict)
