"""CSV, tab-separated values, JSON lines and JSON: files that consist of records. The text is the
source itself."""

from __future__ import annotations

from dataclasses import replace

from merestone.extraction.blocks import with_leftovers
from merestone.extraction.csv_table import table_blocks
from merestone.extraction.encoding import decode
from merestone.extraction.json_records import Records, are_lines, array_records, line_records
from merestone.extraction.media_types import LANGUAGES, RECORD_TYPES
from merestone.extraction.plain import code_blocks
from merestone.extraction.source_text import text_document
from merestone.types import Document, ExtractionSettings, RawDocument

_JSON = "application/json"


class RecordsExtractor:
    """Reads files of records.

    CSV gives one ``table``; a ``table_row`` has the attribute ``key``, its first cell, where that
    tells the rows apart. JSON gives ``record`` blocks, with ``key``, and with ``speaker`` and
    ``time`` where they are turns of a chat.
    """

    name = "records"
    revision = 1
    media_types = frozenset({*RECORD_TYPES, _JSON})
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, default=settings.default_encoding)
        blocks, warnings = _records(decoded.text, raw.media_type or "text/csv")
        document = text_document(raw, decoded, with_leftovers(decoded.text, blocks))
        return replace(document, warnings=(*document.warnings, *warnings))


def _records(text: str, media_type: str) -> Records:
    if media_type == "application/jsonl":
        return line_records(text)
    if media_type != _JSON:
        return table_blocks(text, media_type)
    found = array_records(text)
    if found[0]:
        return found
    if are_lines(text):
        return line_records(text)
    return code_blocks(text, LANGUAGES[_JSON]), ()


EXTRACTOR = RecordsExtractor()
