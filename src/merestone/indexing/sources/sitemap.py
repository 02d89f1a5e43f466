"""The pages of a site that publishes a sitemap (sitemaps.org, protocol 0.9)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from merestone.indexing.sources.faults import problem_of
from merestone.indexing.sources.identifiers import page_identifier
from merestone.indexing.sources.page_findings import Page
from merestone.indexing.sources.pages import LIST_BYTES, PageListSource
from merestone.types import Look, Problem, SourceError

_DEPTH = 3
_SITEMAPS = 1000
_SETTLED_DAYS = 2
_ATTEMPTS = "An unfinished answer, or another page in its place, says nothing of the site."


@dataclass(frozen=True, slots=True)
class _Entry:
    url: str
    changed: str
    """``lastmod`` as the sitemap has it."""


class SitemapSource(PageListSource):
    """Pages that a sitemap, or an index of sitemaps, names, on its own host and on ``hosts``.

    A page whose time of change is the one that was stored is not asked for. Two requests are under
    way at a time unless the options say otherwise. Where a part of an index fails, nothing of the
    source counts as gone.
    """

    _concurrency = 2
    _misses_pages = False
    """Many sites leave pages in it that are gone; nobody here could mend that."""

    def pages(self, look: Look, problems: list[Problem], unlisted: list[str]) -> Iterable[Page]:
        first = self.settings.location
        hosts = {urlsplit(first).netloc.lower(), *(host.lower() for host in self.settings.hosts)}
        pending = [(first, 1)]
        seen = {first}
        while pending:
            place, depth = pending.pop(0)
            try:
                nested, entries, day = self._read(place)
            except SourceError as error:
                if place == first:
                    raise
                problems.append(problem_of(self.settings.prefix + _identifier(place), error))
                unlisted.append(self.settings.prefix)
                continue
            for url in nested:
                is_near = urlsplit(url).netloc.lower() in hosts
                if is_near and url not in seen and depth < _DEPTH and len(seen) < _SITEMAPS:
                    seen.add(url)
                    pending.append((url, depth + 1))
            yield from self._pages_on(hosts, entries, day)

    def _pages_on(self, hosts: set[str], entries: Iterable[_Entry], day: str) -> Iterator[Page]:
        for entry in entries:
            identifier = page_identifier(entry.url)
            if identifier is not None and urlsplit(entry.url).netloc.lower() in hosts:
                stamp = _stamp(entry.changed, day)
                yield Page(self.settings.prefix + identifier, entry.url, stamp)

    def _read(self, place: str) -> tuple[list[str], list[_Entry], str]:
        """The further sitemaps and the pages that the sitemap at ``place`` names, and the day on
        which its server says so."""
        data, day = self.fetch_list(place)
        root = _parsed(_inflated(data, place), place)
        kind = _name(root)
        if kind not in ("urlset", "sitemapindex"):
            raise _invalid(place, f"it is a <{kind}>")
        entries = [
            _Entry(url, _child(element, "lastmod"))
            for element in root
            if _name(element) in ("url", "sitemap") and (url := _child(element, "loc"))
        ]
        if kind == "sitemapindex":
            return [entry.url for entry in entries if page_identifier(entry.url)], [], day
        return [], entries, day


def _identifier(url: str) -> str:
    return page_identifier(url) or url


def _stamp(changed: str, day: str) -> str:
    """What a ``lastmod`` proves. One without a time of day proves nothing before that day is over,
    by the server's own date and wherever on earth: a page may change twice on it."""
    if "T" not in changed:
        try:
            age = date.fromisoformat(day) - date.fromisoformat(changed)
        except ValueError:
            return ""
        if age.days < _SETTLED_DAYS:
            return ""
    return f"lastmod={changed}"


def _inflated(data: bytes, place: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    inflater = zlib.decompressobj(wbits=31)
    try:
        found = inflater.decompress(data, LIST_BYTES)
    except zlib.error as error:
        raise _invalid(place, f"it is damaged ({error})") from error
    if not inflater.eof:
        raise _invalid(place, f"it was cut short, or has more than {LIST_BYTES} bytes")
    return found


def _parsed(data: bytes, place: str) -> Element:
    parser = XMLParser(target=_PlainBuilder())
    try:
        parser.feed(data)
        root: Element = parser.close()
        return root
    except (ParseError, LookupError, ValueError) as error:  # an encoding that nobody knows
        raise _invalid(place, str(error)) from error


class _PlainBuilder(TreeBuilder):
    """Refuses a document type: a sitemap needs no definitions of its own, and entities that grow
    without end are made of them."""

    def doctype(self, name: str, *_: str | None) -> None:
        raise ValueError(f"it has the document type {name}")


def _invalid(place: str, why: str) -> SourceError:
    return SourceError("list-invalid", f"{place} is no whole sitemap: {why}.", _ATTEMPTS)


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _child(element: Element, name: str) -> str:
    return next(((each.text or "").strip() for each in element if _name(each) == name), "")
