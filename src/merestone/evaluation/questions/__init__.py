"""Questions, their files, other tools' forms of them, and drafts."""

from merestone.evaluation.questions.values import Evidence, Question, Questions

__all__ = ["Evidence", "Question", "Questions"]
