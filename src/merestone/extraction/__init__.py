"""Bytes to documents: which format they are in, and one reader a format.

Importing this package loads no parser; each is loaded when a document of its format is read.
"""

from merestone.extraction.detection import detect_media_type
from merestone.extraction.reading import read_document
from merestone.extraction.registry import (
    IsolatedReader,
    extraction_fingerprint,
    extractor_for,
    extractors,
)

__all__ = [
    "IsolatedReader",
    "detect_media_type",
    "extraction_fingerprint",
    "extractor_for",
    "extractors",
    "read_document",
]
