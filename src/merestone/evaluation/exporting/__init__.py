"""Questions in the forms of other tools."""

from merestone.evaluation.exporting.writing import EXPORTS, export_questions, trec_name

__all__ = ["EXPORTS", "export_questions", "trec_name"]
