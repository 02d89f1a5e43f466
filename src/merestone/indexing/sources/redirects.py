"""Where a page may lead."""

from __future__ import annotations

from urllib.parse import urlsplit

from merestone.indexing.sources.addresses import host_of, is_no_host, is_private
from merestone.types import SourceError

REDIRECT = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 5


def check_redirect(url: str, place: str, following: str) -> None:
    """Raise ``SourceError`` unless ``place``, to which the page ``url`` has led, may lead on to
    ``following``: neither from a public host into what only this machine sees, nor out of
    encryption. What a name leads to shows when it is looked up, see ``web_client``."""
    fault = _fault(url, place, following)
    if fault:
        raise _refused(f"{url} leads {fault}")


def leads_inside(url: str) -> SourceError:
    """The error that a page of a public host leads to a name of a private address."""
    return _refused(f"{url} leads into a private network")


def _refused(what: str) -> SourceError:
    return SourceError(
        "redirect-refused",
        f"{what}, which is not followed.",
        "Name the page that it should lead to, if you trust it.",
    )


def too_many(url: str) -> SourceError:
    """The error that a page leads on without end."""
    return SourceError(
        "redirect-refused",
        f"{url} leads on from page to page, more than {MOST_REDIRECTS} times.",
        "Name the page that it should lead to.",
    )


def _fault(url: str, place: str, following: str) -> str | None:
    try:
        parts = urlsplit(following)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        return "to what is no address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f"to the scheme {parts.scheme!r}"
    if "@" in parts.netloc:
        return "to an address with a password"
    if urlsplit(place).scheme == "https" and parts.scheme == "http":
        return "out of encryption"
    host = host_of(parts)
    if is_no_host(host):
        return "to what is no address"
    if is_private(host) and not is_private(host_of(urlsplit(url))):
        return "into a private network"
    return None
