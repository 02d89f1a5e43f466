"""Hosts and addresses that only this machine or its own network sees."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import SplitResult, unquote

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)", re.DOTALL)
"""A host whose last label is a number: an address or nothing, no top level domain is one (WHATWG
URL Standard, section 3.5)."""
_LAST_FOUR = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
"""Networks that end with an IPv4 address, which is the one that is reached: NAT64 (RFC 6052), and
those of older ways to write one (RFC 4291, section 2.5.5.1, and RFC 2765)."""
_OWN = tuple(map(ipaddress.IPv6Network, ("64:ff9b:1::/48", "fec0::/10")))
"""NAT64 of a network's own (RFC 8215), and addresses of a site (RFC 3879), which some versions of
Python take for public."""


def host_of(parts: SplitResult) -> str:
    """The host as who looks it up may read it: other digits and dots are those of ASCII to them
    (RFC 3490, section 3.1), and a dot at the end changes nothing."""
    plain = unicodedata.normalize("NFKC", unquote(parts.hostname or ""))
    return plain.replace("。", ".").lower().removesuffix(".")


def is_no_host(host: str) -> bool:
    """True for what looks like an address and is none."""
    return _address(host) is None and _NUMBER.fullmatch(host) is not None


def is_private(host: str) -> bool:
    """True for an address, or a name, that is not for everyone. What a name leads to shows only
    when it is looked up."""
    address = _address(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    inner = _embedded(address) or address
    return not inner.is_global or inner.is_multicast or _is_in(inner, _OWN)


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return _short_address(host)


def _short_address(host: str) -> ipaddress.IPv4Address | None:
    """What systems take for an address as well: ``127.1``, ``2130706433``, ``0x7f000001``."""
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that packets to an IPv6 address go to, if they do."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if _is_in(address, _LAST_FOUR):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _is_in(address: Address, networks: tuple[ipaddress.IPv6Network, ...]) -> bool:
    return any(address in network for network in networks)
