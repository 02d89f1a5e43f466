"""Finding in a document's text what is said of the source that it was made from."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import NamedTuple

from merestone.evaluation.gold.values import AnchorOutcome
from merestone.evaluation.gold.word_runs import WordRun, agreement, is_telling, shown_words
from merestone.evaluation.questions.values import Evidence
from merestone.text.white_space import stripped
from merestone.types import Document, SourceSpan

_AGREED = 0.9
"""Share of words of a text and of the markup that it was made from: readers differ in what of a
table or a link they write."""


class SourcePlace(NamedTuple):
    """What became of a span of the source."""

    outcome: AnchorOutcome
    span: tuple[int, int] | None = None
    reason: str = ""


class SourcePlaces:
    """Finds spans of one document's source in its text."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text

    @property
    def offset(self) -> int | None:
        """How much less offsets in the text are than in the source, where the text is the source
        but for a byte order mark; else ``None``."""
        segments = self._document.segments
        if not segments.is_identity or not segments.items:
            return None
        return segments.items[0].source_start - segments.items[0].start

    @cached_property
    def _words(self) -> WordRun:
        return WordRun(self._text)

    def find(self, evidence: Evidence, is_current: bool) -> SourcePlace:
        """The text that stands for the span. ``is_current``: the span is of this very version;
        else what is there has to have the words that the quote shows."""
        assert evidence.span is not None
        mapped = None
        if is_current or not evidence.version:
            mapped = self._mapped(SourceSpan(*evidence.span, evidence.page))
        if mapped is not None and (is_current or self._is_quoted(evidence.quote, *mapped)):
            return SourcePlace("same", mapped)
        words = shown_words(evidence.quote)
        if not words.strip():
            return SourcePlace("gone", None, "the source at the span has no text")
        places = list(islice(self._words.places(words), 2))
        if len(places) == 1 and is_telling(words):
            return SourcePlace("moved", places[0])
        if places:
            return SourcePlace("changed", places[0], "the quote's words may be others")
        if mapped is not None:
            return SourcePlace("changed", mapped, "other words stand at the span")
        return SourcePlace("gone", None, "the quote's words stand nowhere")

    def _mapped(self, source: SourceSpan) -> tuple[int, int] | None:
        """The range of the text that stands for a range of the source: of several the longest of
        the body, since what is behind the body is not read with it."""
        spans = self._document.segments.from_source(source)
        body_end = self._document.body_end
        body = [(start, min(end, body_end)) for start, end in spans if start < body_end]
        start, end = max(body or spans, key=lambda span: span[1] - span[0], default=(0, 0))
        start, end = stripped(self._text, start, end)
        return (start, end) if start < end else None

    def _is_quoted(self, quote: str, start: int, end: int) -> bool:
        """True if the text has nearly the words that the quote shows, and hardly others."""
        if not quote:
            return True
        there, wanted = WordRun(self._text, [(start, end)]), WordRun(shown_words(quote))
        return there.run == wanted.run or agreement(there.words, wanted.words) >= _AGREED
