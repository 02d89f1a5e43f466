"""HTML: what a reader of the page sees, the content first and the boilerplate behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from merestone.extraction.blocks import with_lead_ins
from merestone.extraction.encoding import decode
from merestone.extraction.html_elements import WITHOUT_TEXT
from merestone.extraction.html_text import TextWriter
from merestone.extraction.html_tree import Characters, Event, Open, read_events
from merestone.extraction.source_text import source_line_starts
from merestone.types import Block, Document, ExtractionSettings, RawDocument

_DECLARATION = re.compile(
    rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml\s[^>]*?encoding\s*=\s*[\"']([\w.:-]+)",
    re.IGNORECASE,
)
_DECLARATION_BYTES = 4096

_Range = tuple[int, int]


class HtmlExtractor:
    """Reads HTML and XHTML."""

    name = "html"
    revision = 2
    media_types = frozenset({"text/html", "application/xhtml+xml"})
    isolated = False

    def extract(self, raw: RawDocument, settings: ExtractionSettings) -> Document:
        decoded = decode(raw.data, declared=_declared(raw.data), default=settings.default_encoding)
        source = decoded.text
        events = read_events(source, xhtml=raw.media_type == "application/xhtml+xml")
        writer = _write(source, events, decoded.mark)
        text = writer.builder.text()
        blocks = with_lead_ins(text, writer.tree.blocks(text))
        return Document(
            id=raw.id,
            text=text,
            blocks=blocks,
            segments=writer.builder.segments(),
            line_starts=source_line_starts(decoded),
            uri=raw.uri,
            title=_title(source, events) or _first_heading(text, blocks),
            media_type=raw.media_type or "text/html",
            encoding=decoded.encoding,
            language=_language(events),
            status=decoded.status,
            warnings=decoded.warnings,
        )


def _declared(data: bytes) -> str | None:
    """The encoding that the page says it is in."""
    match = _DECLARATION.search(data, 0, _DECLARATION_BYTES)
    return (match[1] or match[2]).decode("ascii", "replace") if match else None


def _write(source: str, events: Sequence[Event], offset: int) -> TextWriter:
    body, boilerplate = _layers(events)
    writer = TextWriter(source, events, offset)
    for start, end in body:
        writer.write(start, end, "body")
    if not writer.builder.text().strip():
        # A page that is nothing but navigation, or hidden until its script runs.
        writer = TextWriter(source, events, offset)
        writer.write(0, len(events), "body")
        return writer
    for start, end in boilerplate:
        writer.write(start, end, "boilerplate")
    return writer


def _layers(events: Sequence[Event]) -> tuple[list[_Range], list[_Range]]:
    """Ranges of the events that are the page's body, and those that are its boilerplate.

    A page whose only headings of level 1 stand in its header has them in its body.
    """
    outside = _boilerplate_ranges(events)
    titles: list[_Range] = []
    if not any(_main_headings(events, *span) for span in _rest((0, len(events)), outside)):
        for start, end in outside:
            opened = events[start]
            if isinstance(opened, Open) and _is_page_header(opened):
                titles.extend(_main_headings(events, start, end))
    body = _rest((0, len(events)), [part for span in outside for part in _rest(span, titles)])
    boilerplate = [part for span in outside for part in _rest(span, titles)]
    return body, boilerplate


def _boilerplate_ranges(events: Sequence[Event]) -> list[_Range]:
    found = []
    index = 0
    while index < len(events):
        event = events[index]
        if isinstance(event, Open):
            element = event.element
            if element.boilerplate:
                found.append((index, element.close + 1))
            if element.boilerplate or element.name in WITHOUT_TEXT:
                index = element.close
        index += 1
    return found


def _is_page_header(opened: Open) -> bool:
    element = opened.element
    return element.name == "header" or element.attributes.get("role", "").lower() == "banner"


def _main_headings(events: Sequence[Event], start: int, end: int) -> list[_Range]:
    """Ranges of the ``h1`` elements that hold text."""
    found = []
    for index in range(start, end):
        event = events[index]
        if isinstance(event, Open) and event.element.name == "h1":
            inside = range(index, event.element.close)
            if any(isinstance(events[place], Characters) for place in inside):
                found.append((index, event.element.close + 1))
    return found


def _rest(whole: _Range, parts: Sequence[_Range]) -> list[_Range]:
    """``whole`` without those of the ``parts``, in order, that lie in it."""
    found = []
    place = whole[0]
    for start, end in parts:
        if start < whole[0] or end > whole[1]:
            continue
        if place < start:
            found.append((place, start))
        place = end
    if place < whole[1]:
        found.append((place, whole[1]))
    return found


def _title(source: str, events: Sequence[Event]) -> str | None:
    """Text of the first ``title`` element, those of drawings aside."""
    for index, event in enumerate(events):
        if isinstance(event, Open):
            if event.element.name in ("body", "svg"):
                return None
            if event.element.name == "title":
                return _joined(source, events[index : event.element.close])
    return None


def _joined(source: str, events: Sequence[Event]) -> str | None:
    parts = [
        source[event.start : event.end] if event.decoded is None else event.decoded
        for event in events
        if isinstance(event, Characters)
    ]
    return " ".join("".join(parts).split()) or None


def _first_heading(text: str, blocks: Sequence[Block]) -> str | None:
    for block in blocks:
        if block.kind == "heading" and block.level == 1:
            start, end = block.attributes["content"]
            return " ".join(text[start:end].split()) or None
    return None


def _language(events: Sequence[Event]) -> str | None:
    for event in events:
        if isinstance(event, Open):
            found = event.element.attributes.get("lang") or event.element.attributes.get("xml:lang")
            return found.strip() or None if found else None
    return None


EXTRACTOR = HtmlExtractor()
