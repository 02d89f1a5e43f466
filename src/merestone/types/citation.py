"""Where a passage stands, for people, for programs and for browsers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote as percent_encoded
from uuid import NAMESPACE_URL, uuid5

from merestone.types.document import JSON

ANNOTATION_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
PDF_FRAGMENTS = "http://tools.ietf.org/rfc/rfc8118"
"""What says how ``page=12`` is read."""


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a passage stands, so that a person or a program finds it again.

    ``start``/``end`` and ``quote``/``prefix``/``suffix`` are the text-position and text-quote
    selectors of the W3C Web Annotation Data Model (2017), section 4.2.
    """

    document: str
    version: str
    title: str | None
    heading_path: tuple[str, ...]
    pages: tuple[int, ...]
    lines: tuple[int, int] | None
    start: int
    end: int
    quote: str
    prefix: str
    suffix: str
    uri: str = ""
    """Of the document's source; empty if it has none."""
    edition: str = ""
    """The version as the document calls it itself, such as ``3``; empty if it does not."""
    link: str = ""
    """What opens the source at the place: a URL, or ``path:line``; empty if nothing does."""

    @property
    def label(self) -> str:
        """For people: ``Leave policy v3, § Carry-over, p. 12, lines 120–131``."""
        parts = [self.name]
        headings = list(self.heading_path)
        if headings and headings[0] == self.title:
            del headings[0]
        if headings:
            parts.append("§ " + " > ".join(headings))
        if self.pages:
            first, last = self.pages[0], self.pages[-1]
            parts.append(f"p. {first}" if first == last else f"pp. {first}–{last}")
        if self.lines:
            first, last = self.lines
            parts.append(f"line {first}" if first == last else f"lines {first}–{last}")
        return ", ".join(parts)

    @property
    def name(self) -> str:
        """The document as people call it: its title or else its id, and its edition."""
        name = self.title or self.document
        if not self.edition:
            return name
        edition = f"v{self.edition}" if self.edition[0].isdigit() else self.edition
        is_said = re.search(rf"(?<!\w){re.escape(edition)}(?!\w)", name, re.IGNORECASE)
        return name if is_said else f"{name} {edition}"

    @property
    def reference(self) -> str:
        """As ``show`` and ``resolve`` take it: ``document#start-end@version``."""
        version = f"@{self.version}" if self.version else ""
        return f"{self.document}#{self.start}-{self.end}{version}"

    def to_json(self) -> dict[str, JSON]:
        return {
            "document": self.document,
            "version": self.version,
            "title": self.title,
            "heading_path": list(self.heading_path),
            "pages": list(self.pages),
            "lines": list(self.lines) if self.lines else None,
            "start": self.start,
            "end": self.end,
            "quote": self.quote,
            "prefix": self.prefix,
            "suffix": self.suffix,
            "uri": self.uri,
            "edition": self.edition,
            "label": self.label,
            "link": self.link,
        }

    def to_annotation(self) -> dict[str, JSON]:
        """An annotation of the W3C Web Annotation Data Model (2017) whose target is the passage.

        Positions count code points of the text as Merestone read it; for formats that are text,
        that is the source itself. The id of the document and its version in a library are
        extensions, by which ``resolve`` finds it in a later version.
        """
        quotation: dict[str, JSON] = {
            "type": "TextQuoteSelector",
            "exact": self.quote,
            "prefix": self.prefix,
            "suffix": self.suffix,
        }
        position: dict[str, JSON] = {
            "type": "TextPositionSelector",
            "start": self.start,
            "end": self.end,
        }
        selectors: list[JSON] = [quotation, position]
        if self.pages:
            page: dict[str, JSON] = {
                "type": "FragmentSelector",
                "conformsTo": PDF_FRAGMENTS,
                "value": f"page={self.pages[0]}",
                "refinedBy": quotation,
            }
            selectors.append(page)
        source = self.uri or f"urn:merestone:{percent_encoded(self.document)}"
        return {
            "@context": [ANNOTATION_CONTEXT, {"merestone": "urn:merestone:"}],
            "id": f"urn:uuid:{uuid5(NAMESPACE_URL, self.reference)}",
            "type": "Annotation",
            "motivation": "identifying",
            "target": {
                "type": "SpecificResource",
                "source": source,
                "selector": selectors,
                "merestone:document": self.document,
                "merestone:version": self.version,
            },
        }
