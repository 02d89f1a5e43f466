"""Where a page may lead."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from merestone.types import SourceError

REDIRECT = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 5


def check_redirect(url: str, place: str, following: str) -> None:
    """Raise ``SourceError`` unless ``place``, to which the page ``url`` has led, may lead on to
    ``following``: neither from a public host into what only this machine sees, nor out of
    encryption."""
    parts = urlsplit(following)
    fault = None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        fault = f"to the scheme {parts.scheme!r}"
    elif "@" in parts.netloc:
        fault = "to an address with a password"
    elif urlsplit(place).scheme == "https" and parts.scheme == "http":
        fault = "out of encryption"
    elif _is_private(parts.hostname) and not _is_private(urlsplit(url).hostname or ""):
        fault = "into a private network"
    if fault:
        raise SourceError(
            "redirect-refused",
            f"{url} leads {fault}, which is not followed.",
            "Name the page that it should lead to, if you trust it.",
        )


def too_many(url: str) -> SourceError:
    """The error that a page leads on without end."""
    return SourceError(
        "redirect-refused",
        f"{url} leads on from page to page, more than {MOST_REDIRECTS} times.",
        "Name the page that it should lead to.",
    )


def _is_private(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
