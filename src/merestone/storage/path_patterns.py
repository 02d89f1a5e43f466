"""Patterns of paths, with what ``*``, ``?`` and ``**`` mean to git.

``*`` is any run within one folder or name, ``?`` one character of it, ``**`` any number of folders.
A pattern without a slash in front of its end is for a name at any depth, every other begins at
the top. One that names a folder is for everything in it; with a slash at its end, for that only.
All other characters stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate
from itertools import takewhile
from unicodedata import normalize

_FOLDERS = "**"


def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a path is one that ``pattern`` is for."""
    parts = _parts(normalize("NFC", pattern))
    only_folders = pattern.endswith("/")
    beginning = _beginning(normalize("NFC", pattern))

    def matches(path: str) -> bool:
        whole = path if path.isascii() else normalize("NFC", path)
        if not whole.startswith(beginning):
            return False
        names = whole.split("/")
        states = _opened(parts, {0})
        for place, name in enumerate(names, 1):
            states = _opened(
                parts, {each for state in states for each in _next(parts, state, name)}
            )
            if len(parts) in states and not (only_folders and place == len(names)):
                return True
            if not states:
                return False
        return False

    return matches


def _beginning(pattern: str) -> str:
    """What every path begins with that the pattern is for; most are refused by it quickly."""
    if "/" not in pattern.rstrip("/"):
        return ""
    names = [name for name in pattern.split("/") if name]
    plain = list(takewhile(lambda name: not set("*?") & set(name), names))
    return "/".join(plain)


def wildcard(pattern: str) -> re.Pattern[str]:
    """A text that ``pattern`` is for: ``*`` is any run, ``?`` one character."""
    return re.compile(translate(re.sub(r"\*+", "*", pattern).replace("[", "[[]")))


def _parts(pattern: str) -> list[re.Pattern[str] | None]:
    """What each folder or name has to be; ``None``: any number of folders."""
    names = [name for name in pattern.split("/") if name]
    if not names:
        return []
    if "/" not in pattern.rstrip("/"):
        names = [_FOLDERS, *names]
    if names[-1] == _FOLDERS:
        # Everything inside, but not the folder's name itself.
        names[-1] = "*"
    return [None if name == _FOLDERS else wildcard(name) for name in names]


def _next(parts: list[re.Pattern[str] | None], state: int, name: str) -> tuple[int, ...]:
    if state == len(parts):
        return ()
    part = parts[state]
    if part is None:
        return (state,)
    return (state + 1,) if part.match(name) else ()


def _opened(parts: list[re.Pattern[str] | None], states: set[int]) -> set[int]:
    """``states`` and those behind any number of folders, which may be none."""
    found = set(states)
    for state in states:
        while state < len(parts) and parts[state] is None:
            state += 1
            found.add(state)
    return found
