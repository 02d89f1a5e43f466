"""Questions from other tools' files. Nothing here reads the network."""

from merestone.evaluation.questions.importing.reading import FORMATS, Import, import_questions

__all__ = ["FORMATS", "Import", "import_questions"]
