"""Today's rules: who may read a document, and which groups an asker is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from merestone.indexing.access_file import FileState, read_access_file
from merestone.indexing.access_patterns import Pattern, Place, compiled, place_of
from merestone.indexing.principals import (
    GROUP,
    closure,
    is_name,
    is_principal,
    memberships,
    stated_principals,
)
from merestone.text.hashing import canonical_json, digest
from merestone.types import (
    JSON,
    METADATA_KEY,
    NOBODY,
    AccessRule,
    AccessSettings,
    Allow,
    Finding,
    SettingsError,
    SourceSettings,
)

_REVISION = "1"
"""Raised when the same rules come to mean something else."""

_Rules = tuple[tuple[Pattern, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """An :class:`~merestone.types.access.AccessPolicy` of rules, external file and metadata."""

    fingerprint: str
    has_rules: bool
    finding: Finding | None
    """What is wrong with the external file, if anything is."""
    _sources: tuple[str, ...]
    _rules: _Rules
    """Last first."""
    _file: FileState | None
    _memberships: tuple[Mapping[str, Sequence[str]], ...]

    def allow(self, document: str, metadata: Mapping[str, JSON]) -> Allow:
        """Who may read ``document``: one list for each kind of rule that names it."""
        found: list[tuple[str, ...]] = []
        if self.has_rules:
            if self._file is not None and self._file.taken is None:
                return NOBODY
            place = place_of(document, self._sources)
            found = list(self._stated(place)) if place else []
            if not found:
                return NOBODY
        if METADATA_KEY in metadata:
            found.append(stated_principals(metadata[METADATA_KEY]) or ())
        return tuple(found)

    def _stated(self, place: Place) -> Iterable[tuple[str, ...]]:
        for pattern, names in self._rules:
            if pattern.matches(place):
                yield names
                break
        if self._file is not None and self._file.taken is not None:
            listed = self._file.taken.allow(place)
            if listed is not None:
                yield listed

    def principals(self, given: Iterable[str]) -> frozenset[str]:
        """``given``, the groups that they are in by today's membership, and ``public``.

        Raises ``SettingsError`` for what is no principal; one that is unknown is as good as none.
        """
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            _check_principal(name, "The asker")
        return closure(names, self._memberships)


def open_policy(
    settings: AccessSettings, sources: Iterable[SourceSettings], state: str | Path
) -> Policy:
    """The policy of this moment. ``state`` is the folder that keeps the last complete file.

    Raises ``SettingsError`` for principals, groups, sources or patterns that can't be.
    """
    names = tuple(source.name for source in sources)
    rules = _compiled_rules(settings.rules, names)
    _check_groups(settings.groups)
    file = read_access_file(settings.file, Path(state), names) if settings.file else None
    tables: list[Mapping[str, Sequence[str]]] = [memberships(settings.groups)]
    if file is not None and file.taken is not None:
        tables.append(file.taken.memberships)
    return Policy(
        fingerprint=_fingerprint(settings.rules, names, file),
        has_rules=bool(rules) or file is not None,
        finding=file.finding if file else None,
        _sources=names,
        _rules=rules,
        _file=file,
        _memberships=tuple(tables),
    )


def _fingerprint(
    rules: tuple[AccessRule, ...], sources: tuple[str, ...], file: FileState | None
) -> str:
    listed = "" if file is None else file.taken.fingerprint if file.taken else "none"
    if not rules and not listed:
        # Without rules the sources' names mean nothing.
        return digest(_REVISION)
    stated = [[list(rule.paths), rule.source, list(rule.allow)] for rule in rules]
    return digest(_REVISION, canonical_json([stated, list(sources)]), listed)


@lru_cache(maxsize=16)
def _compiled_rules(rules: tuple[AccessRule, ...], sources: tuple[str, ...]) -> _Rules:
    """Patterns and principals of the rules, last first."""
    return tuple(
        _compiled_rule(number, rules[number], sources) for number in reversed(range(len(rules)))
    )


def _compiled_rule(
    number: int, rule: AccessRule, sources: tuple[str, ...]
) -> tuple[Pattern, tuple[str, ...]]:
    where = f"access.rules[{number}]"
    for name in rule.allow:
        _check_principal(name, f"{where}.allow")
    if rule.source is not None and rule.source not in sources:
        raise SettingsError(
            "unknown-source",
            f"{where} is for the source {rule.source!r}, which there is not.",
            f"Name one of {', '.join(map(repr, sources))}, or leave `source` out.",
        )
    try:
        spec = compiled(rule.paths) if rule.paths else None
    except ValueError as error:
        raise SettingsError(
            "invalid-pattern",
            f"{where}.paths holds a pattern that cannot be: {error}.",
            "Mend it; a rule that never matches would protect nothing.",
        ) from error
    return Pattern(spec, rule.source), tuple(rule.allow)


def _check_groups(groups: Mapping[str, Sequence[str]]) -> None:
    for name, members in groups.items():
        if not is_name(name) or name.startswith(GROUP):
            raise SettingsError(
                "invalid-principal",
                f"access.groups has {name!r}, which is no name of a group.",
                f"Give the name alone, such as hr; as a principal it is {GROUP}hr.",
            )
        for member in members:
            _check_principal(member, f"access.groups.{name}")


def _check_principal(value: object, where: str) -> None:
    if not is_principal(value):
        raise SettingsError(
            "invalid-principal",
            f"{where} has {value!r}, which is no principal.",
            'Write "public" or kind:name, such as user:bob or group:hr.',
        )
