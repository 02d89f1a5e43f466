"""Documents on the web, one by one: named in the settings, or in a list."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from merestone.extraction import detect_media_type
from merestone.indexing.regular_files import open_file
from merestone.indexing.sources.faults import gone, missing, problem_of, unreachable
from merestone.indexing.sources.identifiers import page_identifier
from merestone.indexing.sources.page_answer import Answer, Wanted
from merestone.indexing.sources.page_findings import Page, PageFindings
from merestone.indexing.sources.patterns import Selection
from merestone.indexing.sources.robot_files import RobotFiles
from merestone.indexing.sources.transfer import HostGaveUpError, Permit, Transfer, permit_all
from merestone.types import (
    ExtractionError,
    Listed,
    Listing,
    Look,
    MerestoneError,
    Problem,
    RawDocument,
    SourceError,
    SourceSettings,
)

LIST_BYTES = 50_000_000
"""Limit of a list or a sitemap, inflated; the one that sitemaps.org sets."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A body that a scan fetched, until the source is done with."""

    path: Path
    media_type: str | None


class _ClosedError(Exception):
    """The page may not be fetched."""


class PageSource:
    """The pages of ``urls``. A scan asks for each of them, on condition that it has changed since
    the last look, so that reading what is new takes no further request.

    A page that the server says is gone (404, 410) is; one that fails in any other way stays. One
    that was never there is a failure of its own: perhaps its address is mistyped.
    """

    _concurrency = 4
    _heeds_robots = False
    """Who names each page knows what may be fetched."""
    _misses_pages = True
    """Who names each page wants to know of an address where there is none."""

    def __init__(self, settings: SourceSettings) -> None:
        self.settings = settings
        self.transfer = Transfer(settings, self._concurrency)
        heeds = self._heeds_robots and settings.robots
        self._robots = RobotFiles(self.transfer) if heeds else None
        self._selection = Selection(settings)
        folder = tempfile.mkdtemp(prefix="merestone-")
        self._folder = Path(folder)
        weakref.finalize(self, _let_go, self.transfer, folder)
        self._held: dict[str, _Held] = {}
        self._numbers = count()

    def scan(self, look: Look) -> Listing:
        self.transfer.forgive()
        if self._robots:
            self._robots.forget()
        findings = PageFindings(self.settings.prefix)
        wanted = self._wanted(look, findings.problems, findings.unlisted)
        pages = {page.id: page for page in wanted}
        pool = ThreadPoolExecutor(self.transfer.concurrency)
        try:
            answers = pool.map(lambda page: self._look_at(page, look), pages.values())
            for page, found in zip(pages.values(), answers, strict=True):
                if isinstance(found, Listed):
                    findings.documents.append(found)
                elif isinstance(found, Problem):
                    findings.problems.append(found)
                elif isinstance(found, HostGaveUpError):
                    findings.add_silent(page, found.why)
                elif isinstance(found, _ClosedError):
                    findings.add_closed(page)
        finally:
            pool.shutdown(cancel_futures=True)
        return findings.listing(self)

    def read(self, listed: Listed, max_bytes: int) -> RawDocument:
        held = self._held.get(listed.id)
        if held is not None:
            data, media_type = held.path.read_bytes(), held.media_type
        else:
            out = BytesIO()
            answer = self._fetch(listed.location, out, max_bytes, self._permit)
            data, media_type = out.getvalue(), answer.media_type
        path = urlsplit(listed.location).path
        by_content = detect_media_type(path, data)
        # Many servers call every text plain.
        if media_type in (None, "text/plain"):
            media_type = by_content
        return RawDocument(listed.id, data, listed.location, media_type)

    def uri_of(self, listed: Listed) -> str:
        return listed.location

    def pages(self, look: Look, problems: list[Problem], unlisted: list[str]) -> Iterable[Page]:
        """What is to be looked at; parts that could not be listed go to the other two."""
        return pages_of(self.settings, self.settings.urls)

    def _wanted(self, look: Look, problems: list[Problem], unlisted: list[str]) -> Iterator[Page]:
        for page in self.pages(look, problems, unlisted):
            name = page.id.removeprefix(self.settings.prefix)
            if self._selection.admits(name) and look.scope.holds(page.id):
                yield page

    def _look_at(
        self, page: Page, look: Look
    ) -> Listed | Problem | HostGaveUpError | _ClosedError | None:
        """The page as listed, or what is in the way; ``None`` if the page is gone."""
        known = look.stamps.get(page.id, "")
        if page.stamp and page.stamp == known:
            return Listed(page.id, page.url, known)
        path = self._folder / str(next(self._numbers))
        try:
            self._permit(page.url)
            with path.open("wb") as out:
                wanted = Wanted(page.url, look.max_bytes, known)
                answer = self.transfer.fetch(wanted, out, self._permit)
        except (HostGaveUpError, _ClosedError) as error:
            return error
        except ExtractionError as error:
            return Listed(page.id, page.url, page.stamp, fault=problem_of(page.id, error))
        except MerestoneError as error:
            return problem_of(page.id, error)
        if answer.is_gone:
            if page.id in look.held or not self._misses_pages:
                return None
            return Listed(page.id, page.url, fault=missing(page.id, page.url))
        if answer.is_unchanged:
            return Listed(page.id, page.url, page.stamp or known)
        self._held[page.id] = _Held(path, answer.media_type)
        return Listed(page.id, page.url, page.stamp or answer.stamp, size=answer.size)

    def _permit(self, url: str, is_led_to: bool = False) -> None:
        """Raise unless ``url`` may be fetched."""
        if self._robots and not self._robots.allow(url, is_led_to=is_led_to):
            raise _ClosedError(url)

    def _fetch(self, url: str, out: BytesIO, max_bytes: int, permit: Permit) -> Answer:
        try:
            permit(url, False)
            answer = self.transfer.fetch(Wanted(url, max_bytes), out, permit)
        except HostGaveUpError as error:
            raise unreachable(url, error.why) from error
        except _ClosedError as error:
            raise unreachable(url, "robots.txt closes it to programs") from error
        if answer.is_gone:
            raise gone(url)
        return answer


class PageListSource(PageSource):
    """The pages that a list names, one URL a line; ``#`` begins a comment. The list is a file, or
    a page itself."""

    _heeds_robots = True

    def pages(self, look: Look, problems: list[Problem], unlisted: list[str]) -> Iterable[Page]:
        place = self.settings.location
        if page_identifier(place):
            data, _ = self.fetch_list(place)
        else:
            with open_file(place) as file:
                data = file.read()
        lines = [
            line.strip()
            for line in data.decode("utf-8-sig", "replace").splitlines()
            if line.strip() and not line.lstrip().startswith("#")
        ]
        # A page of another kind, such as a form to log in, is no list of nothing.
        for line in lines:
            if page_identifier(line) is None:
                raise SourceError(
                    "list-invalid",
                    f"{place} is no list of pages: it holds {line[:80]!r}.",
                    "Give one URL a line, each with http or https.",
                )
        return pages_of(self.settings, lines)

    def fetch_list(self, url: str) -> tuple[bytes, str]:
        """The bytes of a list or a sitemap, and its server's day. That it is gone says nothing of
        its pages."""
        out = BytesIO()
        try:
            # Who names it knows that it may be fetched.
            answer = self._fetch(url, out, LIST_BYTES, permit_all)
        except ExtractionError as error:
            raise SourceError("list-invalid", error.message, "Split it.") from error
        return out.getvalue(), answer.day


def pages_of(settings: SourceSettings, urls: Iterable[str]) -> Iterator[Page]:
    """Pages by id, from URLs that were checked."""
    for url in urls:
        identifier = page_identifier(url)
        if identifier is not None:
            yield Page(settings.prefix + identifier, url.strip())


def _let_go(transfer: Transfer, folder: str) -> None:
    transfer.close()
    shutil.rmtree(folder, ignore_errors=True)
