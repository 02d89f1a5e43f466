"""What holds for every document read from a PDF, checked against PDFium itself."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pypdfium2
import pypdfium2.raw as pdfium
from extraction.checks import check

from merestone.types import Document


def check_pdf(document: Document, data: bytes | None) -> None:
    """Assert the invariants. ``data`` is a file that PDFium opens as it is; ``None``: no look-up of
    characters."""
    check(document)
    assert not set("\0\x02\ufffe\uffff") & set(document.text)
    for block in document.blocks:
        assert not document.text[block.start].isspace()
    if data is not None:
        _check_source(document, data)
    _check_words(document)


def _check_source(document: Document, data: bytes) -> None:
    """Each character that is copied is the very one that PDFium has at its index."""
    file = pypdfium2.PdfDocument(data)
    texts = {}
    used: dict[int, set[int]] = {}
    for segment in document.segments.items:
        written = document.text[segment.start : segment.end]
        if segment.kind == "insert":
            assert not written.strip(" \n|"), "only separators are made up"
            continue
        assert segment.page is not None
        if segment.page not in texts:
            texts[segment.page] = file[segment.page - 1].get_textpage()
        text_page = texts[segment.page].raw
        indexes = range(segment.source_start, segment.source_end)
        assert indexes[-1] < pdfium.FPDFText_CountChars(text_page)
        assert not used.setdefault(segment.page, set()) & set(indexes), "a character twice"
        used[segment.page].update(indexes)
        codes = [pdfium.FPDFText_GetUnicode(text_page, index) for index in indexes]
        if segment.kind == "copy":
            assert [ord(char) for char in written] == codes
    for number, indexes_used in used.items():
        text_page = texts[number].raw
        for index in range(pdfium.FPDFText_CountChars(text_page)):
            code = pdfium.FPDFText_GetUnicode(text_page, index)
            if unicodedata.category(chr(code))[0] in "LN":
                assert index in indexes_used, f"{chr(code)!r} of page {number} is lost"


def _check_words(document: Document) -> None:
    """Words lie on their page, in order, and hold every visible character of it."""
    for page in document.pages:
        for word in page.words:
            assert 0 <= word.x0 <= word.x1 <= page.width
            assert 0 <= word.y0 <= word.y1 <= page.height
            text = document.text[word.start : word.end]
            assert text
            assert not any(char.isspace() for char in text)
            assert document.pages_of(word.start, word.end) == (page.number,)
        for word, following in pairwise(page.words):
            assert word.end <= following.start
    for block in document.blocks:
        if block.layer != "hidden":
            boxes = document.boxes_of(block.start, block.end)
            assert {box.page for box in boxes} == set(document.pages_of(block.start, block.end))
