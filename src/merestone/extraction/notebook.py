"""Jupyter notebooks of versions 2 to 4. The text is written cell by cell.

Files that break the format's schema, as many do, are read as far as they go; what is no JSON at
all is read as JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from merestone.extraction.blocks import paragraphs, trimmed, with_lead_ins
from merestone.extraction.encoding import Decoded, decode
from merestone.extraction.html import EXTRACTOR as HTML
from merestone.extraction.markdown import EXTRACTOR as MARKDOWN
from merestone.extraction.notebook_outputs import MAX_OUTPUT, bounded, joined, output_texts
from merestone.extraction.plain import code_blocks
from merestone.extraction.source_text import text_document
from merestone.text.block_tree import SPAN_ATTRIBUTES
from merestone.text.builder import TextBuilder
from merestone.types import (
    JSON,
    Block,
    BlockKind,
    Document,
    DocumentWarning,
    ExtractionSettings,
    RawDocument,
)

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAGIC = re.compile(r"\s*%%(\w+)")
_MAGIC_LANGUAGES = {
    "bash": "shell",
    "sh": "shell",
    "script": "shell",
    "html": "html",
    "svg": "xml",
    "javascript": "javascript",
    "js": "javascript",
    "latex": "tex",
    "markdown": "markdown",
    "perl": "perl",
    "ruby": "ruby",
    "sql": "sql",
    "bigquery": "sql",
    "cython": "cython",
    "R": "r",
    "julia": "julia",
    "writefile": "",
    "file": "",
}
"""Language of a cell by the magic command in its first line; empty: unknown."""


class NotebookExtractor:
    """Reads notebooks.

    Markdown cells are read as Markdown, code cells are ``code``, outputs ``cell_output``, other
    cells paragraphs. Every block has the attribute ``cell``, the number of its cell from 0 as it
    stands in the file. The text has no way back to the source, whose strings are escaped and
    often one a line: all of it counts as inserted, and there are no line numbers.
    """

    name = "notebook"
    revision = 1
    media_types = frozenset({"application/x-ipynb+json"})
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        try:
            notebook = json.loads(decoded.text)
        except (ValueError, RecursionError):
            notebook = None
        if not isinstance(notebook, dict) or not _has_cells(notebook):
            return _as_text(raw, decoded)
        return _read(raw, decoded, notebook, settings)


def _has_cells(notebook: Mapping[str, JSON]) -> bool:
    return isinstance(notebook.get("cells", notebook.get("worksheets")), list)


def _as_text(raw: RawDocument, decoded: Decoded) -> Document:
    document = text_document(raw, decoded, code_blocks(decoded.text, "json"))
    if not decoded.text.strip():
        return document
    warning = DocumentWarning(
        "notebook-invalid", "The file is no JSON with cells in it. It was read as JSON text."
    )
    return replace(document, warnings=(*document.warnings, warning))


def _read(
    raw: RawDocument, decoded: Decoded, notebook: dict[str, JSON], settings: ExtractionSettings
) -> Document:
    cells = list(_cells(notebook))
    metadata = _metadata(notebook, cells)
    writer = _CellWriter(raw, settings, str(metadata.get("language", "")))
    for index, cell in enumerate(cells):
        writer.write(index, cell)
    text = writer.builder.text()
    return Document(
        id=raw.id,
        text=text,
        blocks=with_lead_ins(text, writer.blocks),
        segments=writer.builder.segments(),
        uri=raw.uri,
        title=_title(text, writer.blocks),
        media_type=raw.media_type or "application/x-ipynb+json",
        encoding=decoded.encoding,
        metadata=metadata,
        status=decoded.status,
        warnings=(*decoded.warnings, *writer.warnings()),
    )


def _cells(notebook: Mapping[str, JSON]) -> Iterator[dict[str, JSON]]:
    """All cells; before version 4 they lie in worksheets. What is no cell has no content."""
    found = notebook.get("cells")
    if not isinstance(found, list):
        sheets = [sheet for sheet in notebook.get("worksheets", ()) if isinstance(sheet, dict)]
        lists = [sheet.get("cells") for sheet in sheets]
        found = [cell for cells in lists if isinstance(cells, list) for cell in cells]
    for cell in found:
        yield cell if isinstance(cell, dict) else {}


def _metadata(notebook: Mapping[str, JSON], cells: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    """Names of kernel and language. Before version 3 kernels were Python's."""
    given = _mapping(notebook.get("metadata"))
    kernel = _mapping(given.get("kernelspec"))
    old = next((cell["language"] for cell in cells if cell.get("language")), None)
    if old is None and "worksheets" in notebook:
        old = "python"
    candidates = (_mapping(given.get("language_info")).get("name"), kernel.get("language"), old)
    found: dict[str, JSON] = {}
    for name in (kernel.get("display_name"), kernel.get("name")):
        if isinstance(name, str) and name.strip():
            found["kernel"] = _sound(name.strip())
            break
    for name in candidates:
        if isinstance(name, str) and name.strip():
            found["language"] = _sound(name.strip().lower())
            break
    return found


def _mapping(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}


def _sound(text: str) -> str:
    """Without lone surrogates, which JSON can hold and an encoded text can't."""
    return _SURROGATE.sub("\ufffd", text)


def _title(text: str, blocks: Sequence[Block]) -> str | None:
    for block in blocks:
        if block.kind == "heading":
            start, end = block.attributes["content"]
            title = " ".join(text[start:end].split())
            if title:
                return title
    return None


@dataclass(slots=True)
class _CellWriter:
    """Writes cells one behind the other, a blank line between their parts."""

    raw: RawDocument
    settings: ExtractionSettings
    language: str
    builder: TextBuilder = field(default_factory=TextBuilder)
    blocks: list[Block] = field(default_factory=list)
    _cut: int = 0
    """Outputs that were too long."""

    def write(self, index: int, cell: Mapping[str, JSON]) -> None:
        source = _sound(joined(cell.get("source", cell.get("input"))))
        match cell.get("cell_type"):
            case "markdown":
                self._write_markdown(index, source)
            case "heading":
                level = cell.get("level")
                depth = level if isinstance(level, int) and 1 <= level <= 6 else 1
                words = " ".join(source.split())
                self._write_markdown(index, f"{'#' * depth} {words}" if words else "")
            case "code":
                self._write_code(index, source)
                for output in output_texts(cell.get("outputs"), self._text_of_html):
                    self._write_output(index, _sound(output))
            case _:
                self._write_raw(index, source)

    def warnings(self) -> tuple[DocumentWarning, ...]:
        if not self._cut:
            return ()
        return (
            DocumentWarning(
                "notebook-output-cut",
                f"Of {self._cut:,} outputs of more than {MAX_OUTPUT:,} characters the middle was "
                "left out.",
            ),
        )

    def _append(self, text: str) -> int:
        """Add a part; returns where it begins."""
        if len(self.builder):
            self.builder.insert("\n\n")
        return self.builder.insert(text).start

    def _write_markdown(self, index: int, source: str) -> None:
        raw = replace(self.raw, data=source.encode("utf-8"), media_type="text/markdown")
        cell = MARKDOWN.extract(raw, self.settings)
        if not cell.text.strip():
            return
        offset = self._append(cell.text)
        first = len(self.blocks)
        self.blocks.extend(_moved(block, offset, first, index) for block in cell.blocks)

    def _write_code(self, index: int, source: str) -> None:
        magic = _MAGIC.match(source)
        language = _MAGIC_LANGUAGES.get(magic[1], self.language) if magic else self.language
        self._write_block("code", index, source, {"language": language} if language else {})

    def _write_output(self, index: int, output: str) -> None:
        head, left_out, tail = bounded(output.strip("\n"))
        if left_out:
            self._cut += 1
            head = f"{head}\n[{left_out:,} characters left out]\n{tail}"
        self._write_block("cell_output", index, head, {})

    def _write_raw(self, index: int, source: str) -> None:
        if source.strip():
            offset = self._append(source)
            for start, end in paragraphs(source, 0, len(source)):
                self._add(Block("paragraph", offset + start, offset + end), index)

    def _write_block(
        self, kind: BlockKind, index: int, text: str, attributes: Mapping[str, JSON]
    ) -> None:
        if text.strip():
            offset = self._append(text)
            start, end = trimmed(text, 0, len(text), keep_indent=True)
            self._add(Block(kind, offset + start, offset + end, attributes=attributes), index)

    def _add(self, block: Block, index: int) -> None:
        self.blocks.append(replace(block, attributes={**block.attributes, "cell": index}))

    def _text_of_html(self, html: str) -> str:
        raw = replace(self.raw, data=_sound(html).encode("utf-8"), media_type="text/html")
        document = HTML.extract(raw, replace(self.settings, default_encoding="utf-8"))
        return document.text[: document.body_end]


def _moved(block: Block, offset: int, first: int, cell: int) -> Block:
    """A block of a cell's own document at its place among those of the notebook."""
    attributes = {**block.attributes, "cell": cell}
    for name in SPAN_ATTRIBUTES:
        if isinstance(span := attributes.get(name), list):
            attributes[name] = [offset + place for place in span]
    if "cells" in attributes:
        attributes["cells"] = [[offset + start, offset + end] for start, end in attributes["cells"]]
    parent = None if block.parent is None else first + block.parent
    return replace(
        block,
        start=block.start + offset,
        end=block.end + offset,
        parent=parent,
        attributes=attributes,
    )


EXTRACTOR = NotebookExtractor()
