"""Questions in the forms of other tools."""

from merestone.evaluation.questions.exporting.writing import EXPORTS, export_questions, trec_name

__all__ = ["EXPORTS", "export_questions", "trec_name"]
