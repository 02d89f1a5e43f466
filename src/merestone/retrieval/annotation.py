"""Reading annotations of the W3C Web Annotation Data Model (2017), ours and those of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag

from merestone.types import JSON, NotFoundError, SettingsError, Snapshot

_OWN_SOURCE = "urn:merestone:"
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class SpanReference:
    """A range of a document, perhaps of one version of it."""

    document: str
    start: int
    end: int
    version: str | None
    quote: str | None = None
    """The text of the range, where a citation says it, with what stood around."""
    prefix: str = ""
    suffix: str = ""


def is_annotation(value: Mapping[str, JSON]) -> bool:
    """True for an annotation, and for the target of one alone."""
    return "target" in value or "selector" in value


def annotation_name(value: Mapping[str, JSON]) -> str:
    """What an annotation is called in an answer."""
    target = _target(value)
    return str(value.get("id") or target.get("merestone:document") or _source(target))


def annotated_span(snapshot: Snapshot, value: Mapping[str, JSON]) -> SpanReference:
    """The span that the target of an annotation selects.

    The document is the one of its extension, or that of the source's address. A quote without a
    position is looked for. Raises ``SettingsError`` for what selects no text, and ``NotFoundError``
    for a source that the asker's library does not have.
    """
    target = _target(value)
    try:
        quotes, positions = _selectors(target)
        position = positions[0] if positions else None
        start, end = (int(position["start"]), int(position["end"])) if position else (-1, -1)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        missing = isinstance(error, KeyError)
        raise _invalid(f"it has no {error}" if missing else str(error)) from error
    if not quotes and position is None:
        raise _invalid("its target has no selector of text")
    document = _document(snapshot, target)
    quote = str(quotes[0]["exact"]) if quotes else None
    prefix, suffix = (str(quotes[0].get(key) or "") if quotes else "" for key in _AROUND)
    if position is None:
        assert quote is not None
        start = _place(snapshot.text(document) or "", quote, prefix, suffix)
        end = start + len(quote)
    version = target.get("merestone:version")
    return SpanReference(
        document, start, end, str(version) if version else None, quote, prefix, suffix
    )


_AROUND = ("prefix", "suffix")


def _target(value: Mapping[str, JSON]) -> Mapping[str, Any]:
    target = value.get("target", value)
    if isinstance(target, list) and target:
        target = target[0]
    if not isinstance(target, Mapping):
        raise _invalid("its target is no resource with a selector")
    return target


def _selectors(target: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Those that quote, and those that give a position; what refines another comes after it."""
    found = list(_unfolded(target.get("selector"), 0))
    quotes = [each for each in found if each.get("type") == "TextQuoteSelector"]
    positions = [each for each in found if each.get("type") == "TextPositionSelector"]
    for each in quotes:
        if not isinstance(each["exact"], str):
            raise TypeError("exact")
    return quotes, positions


def _unfolded(selector: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    for each in selector if isinstance(selector, list) else [selector]:
        if isinstance(each, Mapping) and depth < _DEPTH:
            yield each
            yield from _unfolded(each.get("refinedBy"), depth + 1)


def _source(target: Mapping[str, Any]) -> str:
    source = target.get("source")
    return str(source.get("id", "")) if isinstance(source, Mapping) else str(source or "")


def _document(snapshot: Snapshot, target: Mapping[str, Any]) -> str:
    own = target.get("merestone:document")
    if isinstance(own, str):
        return own
    source = _source(target)
    if source.startswith(_OWN_SOURCE):
        return unquote(source.removeprefix(_OWN_SOURCE))
    for record in snapshot.records():
        if record.uri and source in (record.uri, record.id):
            return record.id
    plain = urldefrag(source).url
    for record in snapshot.records():
        if record.uri and plain == urldefrag(record.uri).url:
            return record.id
    raise NotFoundError(
        "reference-not-found",
        f"No document comes from {source!r}.",
        "Name the document in `merestone:document`, or its address in `source`.",
    )


def _place(text: str, quote: str, prefix: str, suffix: str) -> int:
    """Where the quote stands, where what is around it stands too if possible; 0: nowhere."""
    for before, after in ((prefix, suffix), (prefix, ""), ("", suffix), ("", "")):
        found = text.find(before + quote + after)
        if found >= 0:
            return found + len(before)
    return 0


def _invalid(reason: str) -> SettingsError:
    return SettingsError(
        "invalid-citation",
        f"This is no annotation of a passage: {reason}.",
        "Give one with a TextQuoteSelector or a TextPositionSelector, or the JSON of a citation.",
    )
