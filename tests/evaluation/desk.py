"""A folder of documents with a library over it, and questions about them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from merestone import Library
from merestone.evaluation.gold.anchoring import anchor_questions
from merestone.evaluation.gold.checking import QuestionsCheck, check_questions, written
from merestone.evaluation.gold.values import AnchoredEvidence
from merestone.evaluation.questions import Evidence, Question


class Desk:
    """Documents that change, and where the evidence of questions is then."""

    def __init__(self, folder: Path, **tables: dict[str, object]) -> None:
        self.folder = folder
        self.library = Library.open(folder, **{"embedding": {"model": "hashing"}, **tables})

    def write(self, files: dict[str, str | bytes]) -> None:
        """Write files and take notice of all changes."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.library.sync(full_hash=True, allow_deletions=True)

    def text(self, document: str) -> str:
        with self.library.snapshot() as snapshot:
            text = snapshot.text(document)
        assert text is not None
        return text

    def evidence(self, document: str, quote: str, occurrence: int = 0) -> Evidence:
        """Evidence as the product writes it: with version and surroundings."""
        text, start = self.text(document), -1
        for _ in range(occurrence + 1):
            start = text.index(quote, start + 1)
        with self.library.snapshot() as snapshot:
            record = snapshot.record(document)
        assert record is not None
        span = (start, start + len(quote))
        return written(Evidence(document), document, span, text, record.version)

    @staticmethod
    def place_of(document: str, start: int, end: int, text: str, version: str) -> Evidence:
        """Evidence as the product writes it, of a text that is known."""
        return written(Evidence(document), document, (start, end), text, version)

    def place(self, evidence: Evidence) -> AnchoredEvidence:
        """What became of one piece of evidence."""
        with self.library.snapshot() as snapshot:
            (gold,) = anchor_questions(snapshot, [Question("q", "Where?", (evidence,))])
        (found,) = gold.anchored
        if found.span:
            text = self.text(found.span.document)
            assert 0 <= found.span.start < found.span.end <= len(text)
        return found

    def quoted(self, evidence: Evidence) -> tuple[str, str]:
        """Outcome and the text at the place."""
        found = self.place(evidence)
        span = found.span
        return found.outcome, self.text(span.document)[span.start : span.end] if span else ""

    def check(self, questions: Iterable[Question]) -> QuestionsCheck:
        with self.library.snapshot() as snapshot:
            return check_questions(snapshot, questions)
