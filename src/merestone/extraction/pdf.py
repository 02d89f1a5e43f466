"""PDF."""

from __future__ import annotations

from merestone.types import Document, ExtractionSettings, RawDocument


class PDFExtractor:
    """The built-in reader of PDF. PDFium is loaded with the first document."""

    name = "pdf"
    revision = 2
    media_types = frozenset({"application/pdf"})
    isolated = True

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        """Read a PDF. Raises ``ExtractionError`` with status ``encrypted`` or ``unreadable``."""
        # Here, so that whoever only lists the readers does not load PDFium.
        from merestone.extraction.pdf_reading import read_pdf

        return read_pdf(raw)


EXTRACTOR = PDFExtractor()
