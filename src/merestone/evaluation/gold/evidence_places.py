"""What became of pieces of evidence of one document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from merestone.evaluation.gold.page_quotes import PagedText, PageMatch
from merestone.evaluation.gold.source_places import SourcePlaces
from merestone.evaluation.gold.values import AnchoredEvidence, AnchorOutcome, GoldSpan
from merestone.evaluation.gold.word_runs import WordRun, is_telling
from merestone.evaluation.questions.values import Evidence
from merestone.retrieval.reference import SpanReference
from merestone.retrieval.resolving import SpanResolver
from merestone.text.anchoring import Anchoring, anchor
from merestone.types import (
    Document,
    DocumentRecord,
    MerestoneError,
    Snapshot,
    content_type,
)

_FITS = 8
"""Code points of what stood on one side that have to agree."""
_MOST_TWINS = 1000
_SOURCE_TYPES = frozenset({"markdown", "rst", "code", "records"})


@dataclass(frozen=True, slots=True)
class PlacedEvidence:
    """What became of a piece of evidence, and the document that it is in now."""

    anchored: AnchoredEvidence
    text: str = ""
    version: str = ""


class EvidencePlaces:
    """Finds evidence of one document in the state that a snapshot shows."""

    def __init__(self, snapshot: Snapshot, document: str) -> None:
        self._snapshot, self._id = snapshot, document
        self._record = snapshot.record(document)
        self._resolver = SpanResolver(snapshot)

    def place(self, evidence: Evidence) -> PlacedEvidence:
        """Where ``evidence`` stands now."""
        record = self._record
        if record is None or not record.version:
            return self._elsewhere(evidence)
        text = self._text
        if not record.status.has_text or not text.strip():
            return _not_there("no-text", f"the status of {record.id} is {record.status}")
        return PlacedEvidence(self._find(evidence, record, text), text, record.version)

    @cached_property
    def _text(self) -> str:
        return self._snapshot.text(self._id) or ""

    @cached_property
    def _document(self) -> Document:
        document = self._snapshot.document(self._id)
        assert document is not None
        return document

    @cached_property
    def _paged(self) -> PagedText:
        return PagedText(self._document)

    @cached_property
    def _prints(self) -> WordRun:
        return WordRun(self._text, with_marks=True)

    @cached_property
    def _sources(self) -> SourcePlaces:
        return SourcePlaces(self._document)

    @cached_property
    def _versions(self) -> Sequence[str]:
        """Earlier versions, newest first."""
        found = [entry.version for entry in self._snapshot.history(self._id) if entry.version]
        return list(dict.fromkeys(reversed(found)))

    def _elsewhere(self, evidence: Evidence) -> PlacedEvidence:
        """The evidence of a document that is not there: perhaps it was renamed."""
        start, end = evidence.span or (0, 1)
        quote = evidence.quote if evidence.span else None
        reference = SpanReference(
            evidence.doc,
            start,
            end,
            evidence.version or None,
            quote,
            evidence.prefix,
            evidence.suffix,
        )
        try:
            now = self._resolver.resolve(reference)
        except MerestoneError:
            return _not_there("no-document", f"the library has no document {evidence.doc!r}")
        if now.document == evidence.doc or self._snapshot.record(now.document) is None:
            return _not_there("no-document", f"{evidence.doc} was removed")
        moved = replace(evidence, doc=now.document)
        if evidence.span is None or evidence.coordinates == "source":
            found = EvidencePlaces(self._snapshot, now.document).place(moved)
            if found.anchored.outcome == "same":
                anchored = replace(found.anchored, outcome="moved")
                return replace(found, anchored=anchored)
            return found
        record = self._snapshot.record(now.document)
        text = self._snapshot.text(now.document) or ""
        anchored = _anchored(evidence, now.document, Anchoring(now.outcome, now.start, now.end))
        return PlacedEvidence(anchored, text, record.version if record else "")

    def _find(self, evidence: Evidence, record: DocumentRecord, text: str) -> AnchoredEvidence:
        is_current = bool(evidence.version) and record.version.startswith(evidence.version)
        if evidence.span is None:
            if evidence.page is not None:
                return self._by_page(evidence)
            if not evidence.quote:
                return self._at(evidence, "same", 0, len(text))
            return self._by_quote(evidence)
        if evidence.coordinates == "source":
            return self._by_source(evidence, is_current)
        return self._by_span(evidence, is_current)

    def _by_span(self, evidence: Evidence, is_current: bool) -> AnchoredEvidence:
        assert evidence.span is not None
        start, end = evidence.span
        there = self._text[start:end]
        stands = len(there) == end - start and evidence.quote in ("", there)
        if stands and (is_current or (not evidence.version and self._fits(evidence))):
            return self._at(evidence, "same", start, end)
        if evidence.version and not is_current:
            return self._by_history(evidence, evidence.version)
        if not evidence.quote:
            reason = f"the text has {len(self._text)} characters and no span {start}-{end}"
            return AnchoredEvidence("gone", None, reason)
        if not evidence.version:
            if not self._is_source and self._sources.find(evidence, False).outcome == "same":
                # The quote says that the span is of the source.
                found = self._by_source(evidence, False)
                return replace(found, outcome="moved")
            # The quote says which of the earlier versions is meant.
            for version in self._versions:
                found = self._by_history(evidence, version)
                if found.outcome in ("same", "moved"):
                    return found
        return self._by_text(evidence)

    def _fits(self, evidence: Evidence) -> bool:
        """True if nothing speaks against the evidence standing at its span, where its quote is."""
        assert evidence.span is not None
        start, end = evidence.span
        if not evidence.prefix and not evidence.suffix:
            return True
        before, behind = evidence.prefix[-_FITS:], evidence.suffix[:_FITS]
        return (bool(before) and self._text.endswith(before, 0, start)) or (
            bool(behind) and self._text.startswith(behind, end)
        )

    def _by_history(self, evidence: Evidence, version: str) -> AnchoredEvidence:
        """By what the library knows of the edits since ``version``, or without such by the
        quote and what stood around it."""
        assert evidence.span is not None
        reference = SpanReference(
            self._id,
            *evidence.span,
            version,
            evidence.quote or None,
            evidence.prefix,
            evidence.suffix,
        )
        try:
            now = self._resolver.resolve(reference)
        except MerestoneError as error:
            if evidence.quote:
                return self._by_text(evidence)
            start, end = evidence.span
            if end <= len(self._text):
                return self._at(evidence, "changed", start, end, error.message)
            return AnchoredEvidence("gone", None, error.message)
        if now.outcome == "changed" and version not in self._versions:
            return self._by_text(evidence)
        return _anchored(evidence, now.document, Anchoring(now.outcome, now.start, now.end))

    def _by_text(self, evidence: Evidence) -> AnchoredEvidence:
        """By the quote and what stood around it, in a text that is not known to have come from
        the one that the span is of."""
        found = anchor(evidence.quote, evidence.prefix, evidence.suffix, evidence.span, self._text)
        if found.start is not None and self._is_meant(evidence, found):
            is_same = evidence.start == found.start
            found = found._replace(outcome="same" if is_same else "moved")
        return _anchored(evidence, self._id, found)

    def _is_meant(self, evidence: Evidence, found: Anchoring) -> bool:
        """True if all that is known is a quote, and it stands at one place alone and is too long
        to do so by chance."""
        is_bare = not evidence.prefix and not evidence.suffix
        is_there = found.score == 1.0 and self._text.count(evidence.quote) == 1
        return is_bare and is_there and is_telling(evidence.quote)

    def _by_quote(self, evidence: Evidence) -> AnchoredEvidence:
        """A quote without a span: where it stands is where it is meant."""
        places = _places(self._text, evidence.quote)
        if len(places) == 1:
            return self._at(evidence, "same", *places[0])
        if places:
            if evidence.prefix or evidence.suffix:
                found = anchor(evidence.quote, evidence.prefix, evidence.suffix, None, self._text)
                if found.outcome == "moved":
                    return _anchored(evidence, self._id, found._replace(outcome="same"))
            reason = f"the quote stands {len(places)} times"
            return self._at(evidence, "changed", *places[0], reason)
        loose = list(islice(self._prints.places(evidence.quote), 2))
        if len(loose) == 1:
            return self._at(evidence, "moved", *loose[0])
        if loose:
            return self._at(evidence, "changed", *loose[0], "the quote stands several times")
        return _anchored(
            evidence,
            self._id,
            anchor(evidence.quote, evidence.prefix, evidence.suffix, None, self._text),
        )

    def _by_page(self, evidence: Evidence) -> AnchoredEvidence:
        assert evidence.page is not None
        found: PageMatch | None
        if not evidence.quote:
            page = self._paged.page_range(evidence.page)
            found = PageMatch(*page, True) if page else None
        else:
            found = self._paged.find(evidence.quote, evidence.page)
        if found is None:
            return AnchoredEvidence("gone", None, f"page {evidence.page} has no such text")
        is_exact = evidence.quote in ("", self._text[found.start : found.end])
        outcome: AnchorOutcome = "same" if is_exact else "moved"
        if not found.is_certain:
            outcome = "changed"
        return self._at(evidence, outcome, found.start, found.end, found.reason)

    def _by_source(self, evidence: Evidence, is_current: bool) -> AnchoredEvidence:
        """A span of the source that the text was made from."""
        assert evidence.span is not None
        start, end = evidence.span
        if self._is_source and evidence.quote and self._text[start:end] == evidence.quote:
            # Saves reading the whole document.
            return self._by_span(replace(evidence, coordinates="text"), is_current)
        offset = self._sources.offset
        if offset is not None and evidence.page is None:
            shifted = replace(evidence, start=max(0, start - offset), end=end - offset)
            return self._by_span(replace(shifted, coordinates="text"), is_current)
        found = self._sources.find(evidence, is_current)
        if found.span is None:
            return AnchoredEvidence(found.outcome, None, found.reason)
        return self._at(evidence, found.outcome, *found.span, found.reason)

    @property
    def _is_source(self) -> bool:
        """True if such a document's text is its source, but for a byte order mark."""
        media_type = self._record.media_type if self._record else ""
        return media_type == "text/plain" or content_type(media_type) in _SOURCE_TYPES

    def _at(
        self, evidence: Evidence, outcome: AnchorOutcome, start: int, end: int, reason: str = ""
    ) -> AnchoredEvidence:
        return AnchoredEvidence(outcome, GoldSpan(self._id, start, end, evidence.grade), reason)


def _anchored(evidence: Evidence, document: str, found: Anchoring) -> AnchoredEvidence:
    if found.start is None or found.end is None:
        return AnchoredEvidence(found.outcome, None, "the quote stands nowhere")
    span = GoldSpan(document, found.start, found.end, evidence.grade)
    reason = "the text is another, or could be meant elsewhere"
    return AnchoredEvidence(found.outcome, span, reason if found.outcome == "changed" else "")


def _not_there(outcome: AnchorOutcome, reason: str) -> PlacedEvidence:
    return PlacedEvidence(AnchoredEvidence(outcome, None, reason))


def _places(text: str, quote: str) -> list[tuple[int, int]]:
    """Where the quote stands, not more than a thousand times."""
    found: list[tuple[int, int]] = []
    at = text.find(quote)
    while at >= 0 and len(found) < _MOST_TWINS:
        found.append((at, at + len(quote)))
        at = text.find(quote, at + 1)
    return found
