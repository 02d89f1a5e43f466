"""What a scan of pages finds, page by page."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from merestone.indexing.sources.faults import problem_of, unreachable
from merestone.types import Listed, Listing, Problem, Source, Status


@dataclass(frozen=True, slots=True)
class Page:
    """A document to be looked at."""

    id: str
    url: str
    stamp: str = ""
    """What a sitemap says of its last change; empty if that proves nothing."""

    @property
    def host(self) -> str:
        """Host and port, as the URL has them."""
        return urlsplit(self.url).netloc


@dataclass(slots=True)
class PageFindings:
    """Documents, and what is in the way of others."""

    prefix: str
    """Of the source's ids."""
    documents: list[Listed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    _silent: dict[tuple[str, str], int] = field(default_factory=dict)
    """Pages that were not looked at, by host and why."""
    _closed: dict[str, list[str]] = field(default_factory=dict)
    """Pages that ``robots.txt`` closes, by host."""

    def add_silent(self, page: Page, why: str) -> None:
        """A page of a host that is not asked any more."""
        self._silent[page.host, why] = self._silent.get((page.host, why), 0) + 1

    def add_closed(self, page: Page) -> None:
        """A page that may not be fetched. What is stored of it stays."""
        self._closed.setdefault(page.host, []).append(page.url)
        self.unlisted.append(page.id)

    def listing(self, source: Source) -> Listing:
        """All of it."""
        for (host, why), number in self._silent.items():
            error = unreachable(host, f"{why}; {number} pages were not looked at")
            self.problems.append(problem_of(self.prefix + host.lower(), error))
            self.unlisted.append(self.prefix + host.lower())
        for host, urls in self._closed.items():
            problem = self._closed_by(host, urls)
            self.documents.append(Listed(problem.document, "", fault=problem))
        return Listing(source, tuple(self.documents), tuple(self.problems), tuple(self.unlisted))

    def _closed_by(self, host: str, urls: list[str]) -> Problem:
        """Told of once, as the problem of a document of a name that no page can have."""
        return Problem(
            f"{self.prefix}{host.lower()}/%ROBOTS",
            Status.UNREADABLE,
            "robots-disallow",
            f"The robots.txt of {host} closes {len(urls)} of the pages to programs, such as "
            f"{min(urls)}.",
            "Leave them out by exclude, or set robots = false if you may fetch them.",
        )
