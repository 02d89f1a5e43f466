"""Where a page may lead."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import SplitResult, unquote, urlsplit

from merestone.types import SourceError

REDIRECT = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 5

_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)", re.DOTALL)
"""A host whose last label is a number: an address or nothing, no top level domain is one (WHATWG
URL Standard, section 3.5)."""


def check_redirect(url: str, place: str, following: str) -> None:
    """Raise ``SourceError`` unless ``place``, to which the page ``url`` has led, may lead on to
    ``following``: neither from a public host into what only this machine sees, nor out of
    encryption."""
    fault = _fault(url, place, following)
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
    host = _host(parts)
    if _address(host) is None and _NUMBER.fullmatch(host):
        return "to what is no address"
    if _is_private(host) and not _is_private(_host(urlsplit(url))):
        return "into a private network"
    return None


def _host(parts: SplitResult) -> str:
    """The host as who looks it up may read it: other digits and dots are those of ASCII to them
    (RFC 3490, section 3.1), and a dot at the end changes nothing."""
    plain = unicodedata.normalize("NFKC", unquote(parts.hostname or ""))
    return plain.replace("。", ".").lower().removesuffix(".")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return _short_address(host)
    return getattr(found, "ipv4_mapped", None) or found


def _short_address(host: str) -> ipaddress.IPv4Address | None:
    """What systems take for an address as well: ``127.1``, ``2130706433``, ``0x7f000001``."""
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _is_private(host: str) -> bool:
    address = _address(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return not address.is_global
