"""Opening PDF files that PDFium refuses because their last or first bytes are gone.

Where a file was cut off, its cross-reference table and trailer are missing, while the objects
stand intact. PDFium finds objects by itself once a trailer names the catalog.
"""

from __future__ import annotations

import re

_CATALOG = re.compile(rb"/Type\s*/Catalog\b")
_OBJECT = re.compile(rb"(?<!\d)(\d{1,10})\s+(\d{1,5})\s+obj\b")
_PAGES = re.compile(rb"/Type\s*/Pages\b")
_HEADER = b"%PDF-"
_HEADER_WINDOW = 1024
"""A header that begins later does not count (Adobe's implementation note 13 to PDF 1.7)."""


def repairs(data: bytes) -> list[bytes]:
    """The file with a trailer, and a header if it has none, one version for each catalog that it
    may have, most likely first; empty if it holds nothing like a catalog."""
    header = b"" if _HEADER in data[:_HEADER_WINDOW] else b"%PDF-1.4\n"
    found = []
    for number, generation in _catalogs(data):
        trailer = b"\nendstream\nendobj\ntrailer\n<</Root %d %d R>>\nstartxref\n0\n%%%%EOF\n" % (
            number,
            generation,
        )
        found.append(header + data + trailer)
    if not found:
        found.extend(_with_catalog(data, header))
    return found[:3]


def _catalogs(data: bytes) -> list[tuple[int, int]]:
    """Numbers of the objects that are a catalog, the last one first."""
    return [
        enclosing
        for match in reversed(list(_CATALOG.finditer(data)))
        if (enclosing := _enclosing_object(data, match.start())) is not None
    ]


def _enclosing_object(data: bytes, position: int) -> tuple[int, int] | None:
    window = max(0, position - 4096)
    last = None
    for match in _OBJECT.finditer(data, window, position):
        last = match
    return (int(last[1]), int(last[2])) if last else None


def _with_catalog(data: bytes, header: bytes) -> list[bytes]:
    """For a file whose catalog is lost: one of our own over its first tree of pages."""
    for match in _PAGES.finditer(data):
        root = _enclosing_object(data, match.start())
        if root is None:
            continue
        number = 1 + max(int(found[1]) for found in _OBJECT.finditer(data))
        catalog = b"\nendstream\nendobj\n%d 0 obj\n<</Type/Catalog/Pages %d %d R>>\nendobj\n" % (
            number,
            *root,
        )
        trailer = b"trailer\n<</Root %d 0 R>>\nstartxref\n0\n%%%%EOF\n" % number
        return [header + data + catalog + trailer]
    return []
