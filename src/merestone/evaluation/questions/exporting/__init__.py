"""Questions in the forms of other tools."""

from merestone.evaluation.questions.exporting.writing import (
    EXPORTS,
    export_questions,
    exported_files,
    trec_name,
    without_judgement,
)

__all__ = ["EXPORTS", "export_questions", "exported_files", "trec_name", "without_judgement"]
