"""What ``robots.txt`` lets a program fetch (RFC 9309)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, urlsplit

NAME = "merestone"
"""The name by which a group of rules addresses us."""

_MOST_RULES = 10_000
"""That are kept for one name: each page is held against all of them."""

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_AGENT = re.compile(r"[A-Za-z_-]+")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


@dataclass(frozen=True, slots=True)
class RobotRules:
    """The rules of one server. Of those that match a page the longest decides."""

    rules: Sequence[tuple[str, bool]] = ()
    """Patterns of paths, and whether what they match may be fetched."""

    @classmethod
    def of(cls, text: str) -> Self:
        """The rules in the text of a ``robots.txt`` that are ours, else those that are
        everyone's."""
        groups = _groups(text)
        return cls(tuple(groups.get(NAME, groups.get("*", {})).items()))

    def allow(self, url: str) -> bool:
        """True if the page at ``url`` may be fetched."""
        parts = urlsplit(url)
        path = _normal((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        matching = [(len(rule), allowed) for rule, allowed in self.rules if _matches(rule, path)]
        # Of two as long as each other the one that allows.
        return max(matching)[1] if matching else True


def _groups(text: str) -> dict[str, dict[str, bool]]:
    """Rules by whom they are for, of us and of everyone: what a pattern matches may be fetched, or
    not. Of the same pattern twice the one that allows counts."""
    found: dict[str, dict[str, bool]] = {}
    ours: set[str] = set()
    is_begun = False
    for name, value in _lines(text):
        if name == "user-agent":
            if is_begun:
                ours, is_begun = set(), False
            agent = _AGENT.match(value)
            known = agent[0].lower() if agent else value
            if known in (NAME, "*"):
                ours.add(known)
                found.setdefault(known, {})
        elif name in ("allow", "disallow"):
            is_begun = True
            for each in ours if value else ():
                rules, pattern = found[each], _normal(value)
                if pattern in rules or len(rules) < _MOST_RULES:
                    rules[pattern] = rules.get(pattern, False) or name == "allow"
    return found


def _lines(text: str) -> Iterable[tuple[str, str]]:
    for line in re.split(r"[\r\n]+", text.removeprefix("\ufeff")):
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _matches(rule: str, path: str) -> bool:
    """``*`` stands for any characters, ``$`` at the end for the end of the path. Each part is
    looked for where it comes first, so the time is that of one pass."""
    body = rule.removesuffix("$")
    is_whole = body != rule
    first, *others = body.split("*")
    if not others:
        return path == body if is_whole else path.startswith(body)
    end = len(path)
    if is_whole:
        last = others.pop()
        if not path.endswith(last):
            return False
        end -= len(last)
    if not path.startswith(first):
        return False
    at = len(first)
    for part in others:
        found = path.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


def _normal(path: str) -> str:
    """``path`` with each character escaped that needs it, and no other."""
    return _ESCAPE.sub(_unescaped, quote(path, safe="%/?#[]@!$&'()*+,;=:~", errors="replace"))


def _unescaped(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if _UNRESERVED.fullmatch(char) else match[0].upper()
