"""Names of who may read: how they are written, and which groups they are in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from merestone.types import JSON, METADATA_KEY, PUBLIC, Problem, Status

GROUP = "group:"
"""Goes before the name of a group where it stands as a principal."""

_PRINCIPAL = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*:(?P<name>.+)", re.DOTALL)


def is_principal(value: object) -> bool:
    """True for ``public`` and ``kind:name``. Names are exact: case and Unicode form count."""
    if value == PUBLIC:
        return True
    match = _PRINCIPAL.fullmatch(value) if isinstance(value, str) else None
    return match is not None and is_name(match["name"])


def is_name(value: str) -> bool:
    """True for a printable text without white space around it."""
    return bool(value) and value == value.strip() and value.isprintable()


def stated_principals(value: JSON) -> tuple[str, ...] | None:
    """The principals that a document's metadata name; ``None`` for what can't be read as such.

    A text is a list of one, or a list as JSON, which is how a database without lists holds it.
    """
    if isinstance(value, str):
        value = _listed(value)
    if not isinstance(value, list | tuple) or not all(is_principal(name) for name in value):
        return None
    return tuple(value)


def _listed(text: str) -> JSON:
    if not text.startswith("["):
        return [text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def unreadable_access(document: str, metadata: Mapping[str, JSON]) -> Problem | None:
    """The problem of a document whose own word on who may read it can't be read, which closes
    it."""
    if METADATA_KEY not in metadata or stated_principals(metadata[METADATA_KEY]) is not None:
        return None
    return Problem(
        document,
        Status.OK,
        "access-unreadable",
        f"{document} says who may read it, but not as a list of principals, so nobody may.",
        f'Write it as `{METADATA_KEY}: ["user:NAME", "group:NAME"]`, or `["public"]`.',
    )


def memberships(groups: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Principal → the groups, as principals, that name it as a member."""
    found: dict[str, list[str]] = {}
    for name, members in groups.items():
        for member in members:
            found.setdefault(member, []).append(GROUP + name)
    return found


def closure(
    given: Iterable[str], memberships: Sequence[Mapping[str, Sequence[str]]]
) -> frozenset[str]:
    """``given`` and ``public`` with every group that they are in, directly or through groups."""
    pending = [PUBLIC, *given]
    found = set(pending)
    while pending:
        name = pending.pop()
        for table in memberships:
            new = [group for group in table.get(name, ()) if group not in found]
            found.update(new)
            pending.extend(new)
    return frozenset(found)
