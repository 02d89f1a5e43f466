"""Reading PDF: the text of each page by PDFium, put into reading order and blocks.

The text is written in this order: the body, then running headers and footers (layer
``furniture``), then text that a reader of the page does not see (layer ``hidden``). Positions in
the source are page numbers from 1 and PDFium's character indexes.

Fields of forms and annotations are not read, nor is text in pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from merestone.extraction.blocks import with_lead_ins
from merestone.extraction.pdf_characters import read_page
from merestone.extraction.pdf_columns import order_columns
from merestone.extraction.pdf_furniture import find_furniture
from merestone.extraction.pdf_headings import (
    MIN_OUTLINE,
    accept_marked,
    find_headings,
    find_title,
    mark_outline,
    mark_tagged,
    mark_title,
    put_below_title,
    sensible_title,
    take_first_as_title,
)
from merestone.extraction.pdf_hyphens import Vocabulary
from merestone.extraction.pdf_kinds import name_kinds
from merestone.extraction.pdf_lines import Line, gather_lines
from merestone.extraction.pdf_lists import join_marks
from merestone.extraction.pdf_metadata import (
    page_label,
    property_of,
    read_language,
    read_metadata,
    read_outline,
)
from merestone.extraction.pdf_page import PageContent
from merestone.extraction.pdf_paragraphs import Block, divide, join, measure_body
from merestone.extraction.pdf_repair import repairs
from merestone.extraction.pdf_tables import (
    Item,
    take_gapped_tables,
    take_ruled_tables,
    take_tagged_tables,
)
from merestone.extraction.pdf_writing import PDFWriter
from merestone.types import (
    Document,
    DocumentWarning,
    ExtractionError,
    Page,
    RawDocument,
    Status,
)

_PAGES_NAMED = 10
"""Pages that a warning lists by number."""


def read_pdf(raw: RawDocument) -> Document:
    """Read a PDF. Raises ``ExtractionError`` with status ``encrypted`` or ``unreadable``."""
    file, warnings = _open(raw)
    try:
        return _read(file, raw, warnings)
    finally:
        file.close()


# Opening


def _open(raw: RawDocument) -> tuple[Any, list[DocumentWarning]]:
    """The open file, and a warning if it had to be repaired."""
    try:
        file = pypdfium2.PdfDocument(raw.data)
        if len(file) > 0:
            return file, []
        file.close()
    except pypdfium2.PdfiumError as error:
        if _is_locked(error):
            raise ExtractionError(
                "pdf-encrypted",
                f"{raw.id} opens only with a password.",
                "Save it without a password, or exclude it.",
                status=Status.ENCRYPTED,
            ) from error
    for repaired in repairs(raw.data):
        try:
            file = pypdfium2.PdfDocument(repaired)
        except pypdfium2.PdfiumError:
            continue
        if len(file) > 0:
            return file, [
                DocumentWarning(
                    "pdf-repaired",
                    "The file is damaged; its end or its index was rebuilt, and text may be "
                    "missing.",
                )
            ]
        file.close()
    raise _damaged(raw)


def _damaged(raw: RawDocument) -> ExtractionError:
    return ExtractionError(
        "pdf-damaged",
        f"{raw.id} is no PDF that can be opened: its structure is broken or missing.",
        "Get the file again, or open it with another program and save it anew.",
        status=Status.UNREADABLE,
    )


def _is_locked(error: Any) -> bool:
    """True if the file wants a password, or is protected by a scheme that PDFium doesn't know."""
    return getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)


# Reading


@dataclass(slots=True)
class _Layers:
    """Lines by layer, in page order."""

    body: dict[int, list[Line]]
    furniture: list[Line]
    hidden: list[Line]


def _read(file: Any, raw: RawDocument, warnings: list[DocumentWarning]) -> Document:
    tagged = bool(pdfium.FPDFCatalog_IsTagged(file.raw))
    pages = [
        read_page(file, index, page_label(file, index), tagged=tagged) for index in range(len(file))
    ]
    if all(page.failed for page in pages):
        raise _damaged(raw)
    layers = _part_layers(pages)
    title, source, blocks = _structure(file, raw, pages, layers)
    writer = PDFWriter(pages, Vocabulary(_all_lines(layers)))
    writer.write_body(blocks)
    writer.write_lines(layers.furniture, "furniture")
    writer.write_lines(layers.hidden, "hidden")
    text = writer.builder.text()
    status, notes = _status(pages, bool(warnings))
    return Document(
        id=raw.id,
        uri=raw.uri,
        text=text,
        blocks=with_lead_ins(text, writer.tree.blocks(text)),
        segments=writer.builder.segments(),
        pages=tuple(_page(page, writer) for page in pages),
        title=title,
        media_type="application/pdf",
        language=read_language(file),
        metadata={**read_metadata(file), "heading_source": source},
        status=status,
        warnings=(*warnings, *notes),
    )


def _part_layers(pages: Sequence[PageContent]) -> _Layers:
    lines: dict[int, list[Line]] = {}
    hidden: list[Line] = []
    for page in pages:
        angle = page.turn * 90
        seen = gather_lines([run for run in page.runs if not run.hidden], page.number, angle)
        unseen = gather_lines([run for run in page.runs if run.hidden], page.number, angle)
        for line in unseen:
            line.number += len(seen)
        lines[page.number] = seen
        hidden.extend(unseen)
    found = find_furniture(pages, lines)
    furniture: list[Line] = []
    for number, own in lines.items():
        repeated = found.get(number, set())
        furniture.extend(line for line in own if line.number in repeated)
        lines[number] = [line for line in own if line.number not in repeated]
    return _Layers(lines, furniture, hidden)


def _all_lines(layers: _Layers) -> list[Line]:
    return [line for lines in layers.body.values() for line in lines]


def _structure(
    file: Any, raw: RawDocument, pages: Sequence[PageContent], layers: _Layers
) -> tuple[str | None, str, list[Block]]:
    """Title, where the headings are known from, and the blocks of the body."""
    everything = _all_lines(layers)
    typography = measure_body(everything)
    tagged = mark_tagged(everything, {page.number: page.tags for page in pages})
    items: list[Item] = []
    for page in pages:
        own = layers.body[page.number]
        join_marks(own, typography.size)
        flow = take_tagged_tables(own, page.tags)
        flow = take_ruled_tables(flow, page.rules)
        items.extend(order_columns(flow))
    lines = [item for item in items if isinstance(item, Line)]
    entries = [] if tagged else read_outline(file)
    outlined = len(entries) >= MIN_OUTLINE and mark_outline(lines, entries)
    named = sensible_title(property_of(file, "Title"), raw.id)
    found = mark_title(lines, named) if named else []
    if not found:
        found = find_title(lines, typography)
    if tagged or outlined:
        put_below_title(lines)
    items = _take_remaining_tables(items, pages)
    blocks = divide(items, typography)
    accept_marked(blocks)
    source = "tags" if tagged else "outline" if outlined else "none"
    if source == "none" and find_headings(blocks, typography):
        source = "fonts"
    name_kinds(blocks, typography)
    title = named or " ".join(line.text for line in found)
    if not title and source in ("fonts", "tags"):
        title = take_first_as_title(blocks) or ""
    return title or None, source, join(blocks, typography)


def _take_remaining_tables(items: Sequence[Item], pages: Sequence[PageContent]) -> list[Item]:
    flow: list[Item] = []
    for page in pages:
        own = [item for item in items if item.page == page.number]
        flow.extend(take_gapped_tables(own, page.rules))
    return flow


# What is known about the file


def _page(page: PageContent, writer: PDFWriter) -> Page:
    return Page(
        number=page.number,
        label=page.label,
        width=round(page.width, 2),
        height=round(page.height, 2),
        rotation=page.rotation,
        chars=page.chars,
        needs_ocr=_needs_ocr(page),
        words=writer.words(page.number),
    )


def _needs_ocr(page: PageContent) -> bool:
    return not page.failed and page.images > 0 and page.chars == 0


def _status(pages: Sequence[PageContent], repaired: bool) -> tuple[Status, list[DocumentWarning]]:
    failed = [page.number for page in pages if page.failed]
    scanned = [page.number for page in pages if _needs_ocr(page)]
    warnings = []
    if failed:
        warnings.append(
            DocumentWarning("pdf-pages-damaged", f"{_name_pages(failed)} could not be read.")
        )
    if scanned:
        warnings.append(
            DocumentWarning(
                "pdf-pages-need-ocr",
                f"{_name_pages(scanned)} holds images and no text: what is written there is not "
                "in the text. Run OCR on the file first.",
            )
        )
    if any(page.chars for page in pages):
        status = Status.PARTIAL if failed or scanned or repaired else Status.OK
    elif scanned:
        status = Status.NEEDS_OCR
    else:
        status = Status.EMPTY
    return status, warnings


def _name_pages(numbers: Sequence[int]) -> str:
    named = ", ".join(str(number) for number in numbers[:_PAGES_NAMED])
    more = len(numbers) - _PAGES_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"Page {named}{rest}"
